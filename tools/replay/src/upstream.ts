import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** How a body is put on the wire. */
export type SplitMode = 'whole' | 'per event' | 'random bytes';
export const SPLIT_MODES: readonly SplitMode[] = ['whole', 'per event', 'random bytes'];

export interface Answer {
  status: number;
  contentType: string;
  headers: Record<string, string>;
  body: Buffer;
}

/** Small and repeatable: the same seed cuts the same bytes. */
function* randomSizes(seed: number): Generator<number> {
  let state = seed >>> 0;
  for (;;) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield 1 + (state % 7);
  }
}

function* pieces({ body }: Answer, mode: SplitMode, seed: number): Generator<Buffer> {
  if (mode === 'whole') {
    yield body;
    return;
  }
  if (mode === 'per event') {
    let from = 0;
    for (const { index } of body.toString('latin1').matchAll(/\r?\n\r?\n/g)) {
      const end = body.indexOf('\n', body.indexOf('\n', index) + 1) + 1;
      if (end <= from) continue;
      yield body.subarray(from, end);
      from = end;
    }
    if (from < body.length) yield body.subarray(from);
    return;
  }
  const sizes = randomSizes(seed);
  for (let from = 0; from < body.length;) {
    const size = sizes.next().value as number;
    yield body.subarray(from, from + size);
    from += size;
  }
}

/** A provider on loopback that answers what it is told to, one exchange at a time. */
export class ReplayUpstream {
  private readonly server: Server;
  private answer: Answer | null = null;
  private mode: SplitMode = 'whole';
  /** Paths and bodies that reached the upstream since `serve`. */
  readonly received: { path: string; body: string }[] = [];

  private constructor() {
    this.server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        this.received.push({ path: request.url ?? '', body: Buffer.concat(parts).toString() });
        void this.respond(response);
      });
    });
  }

  static async start(): Promise<ReplayUpstream> {
    const upstream = new ReplayUpstream();
    await new Promise<void>((resolve) => upstream.server.listen(0, '127.0.0.1', resolve));
    return upstream;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  serve(answer: Answer, mode: SplitMode): void {
    this.answer = answer;
    this.mode = mode;
    this.received.length = 0;
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private async respond(response: ServerResponse): Promise<void> {
    const { answer } = this;
    if (!answer) {
      response.writeHead(500).end();
      return;
    }
    response.writeHead(answer.status, { ...answer.headers, 'content-type': answer.contentType });
    response.flushHeaders();
    let written = 0;
    for (const piece of pieces(answer, this.mode, answer.body.length)) {
      response.write(piece);
      written += 1;
      // Without a turn of the loop the kernel would join the pieces again.
      if (this.mode !== 'whole' && written % 4 === 0) await nextTurn();
    }
    response.end();
  }
}
