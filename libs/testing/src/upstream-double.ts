import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

export interface SeenRequest {
  method: string;
  /** Path and query as they came. */
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

type Piece = string | Uint8Array;

const SEEN_MAX = 1_000;

/** The answer to one request: an HTTP answer, a fault instead of one, or bytes that are no HTTP. */
export type ScriptedAnswer =
  | {
      /** Default 200. */
      status?: number;
      headers?: Readonly<Record<string, string>>;
      /** Body sent whole, with its length. */
      body?: Piece;
      /** The same as JSON, with its type. */
      json?: unknown;
      /** Pieces sent one write each, as fast as the reader takes them. */
      pieces?: Iterable<Piece> | AsyncIterable<Piece>;
      /** Pause after each piece. */
      gapMs?: number;
      /** Ending after the last piece. Default `end`; `stall` sends nothing more and keeps the connection. */
      ending?: 'end' | 'reset' | 'stall';
    }
  | { fault: 'reset' | 'silence' }
  | { raw: Piece };

/** A scripted HTTP server on loopback: a provider, or a service, as a test wants it on the wire. */
export interface UpstreamDouble {
  /** Address without a slash at the end. */
  readonly url: string;
  /** The last 1,000 requests read to their end, oldest first; a test may empty it. */
  readonly seen: SeenRequest[];
  answer: (request: SeenRequest) => ScriptedAnswer | Promise<ScriptedAnswer>;
  /** Returns the number of answers under way. */
  open(): number;
  close(): Promise<void>;
}

export async function startUpstreamDouble(
  answer: UpstreamDouble['answer'] = () => ({ json: {} }),
): Promise<UpstreamDouble> {
  const seen: SeenRequest[] = [];
  let open = 0;
  const server = createServer((incoming, response) => {
    open += 1;
    response.once('close', () => (open -= 1)).on('error', () => undefined);
    const serve = async (): Promise<void> => {
      const { method = '', url: path = '', headers } = incoming;
      const request = { method, path, headers, body: await bodyOf(incoming) };
      seen.push(request);
      if (seen.length > SEEN_MAX) seen.shift();
      await send(await double.answer(request), response);
    };
    serve().catch(() => response.destroy());
  });
  server.keepAliveTimeout = 120_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const double: UpstreamDouble = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    answer,
    open: () => open,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return double;
}

async function bodyOf(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

async function send(answer: ScriptedAnswer, response: ServerResponse): Promise<void> {
  if ('fault' in answer) {
    if (answer.fault === 'reset') response.socket?.resetAndDestroy();
    return;
  }
  if ('raw' in answer) {
    response.socket?.end(answer.raw);
    return;
  }
  const { status = 200, headers, body, json, pieces = [], gapMs = 0, ending = 'end' } = answer;
  if (json !== undefined) {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(json));
    return;
  }
  if (body !== undefined) {
    response.writeHead(status, headers).end(body);
    return;
  }
  response.writeHead(status, headers).flushHeaders();
  const left = once(response, 'close');
  for await (const piece of pieces) {
    if (response.destroyed) return;
    if (!response.write(piece)) await Promise.race([once(response, 'drain'), left]);
    if (gapMs > 0) await pause(gapMs);
  }
  if (ending === 'end') response.end();
  if (ending === 'reset') response.socket?.resetAndDestroy();
}
