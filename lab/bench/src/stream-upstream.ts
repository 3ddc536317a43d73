import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PLAIN_ANSWER } from './nginx.js';

/** A reader's order to the upstream, as the text of its message. */
export interface StreamOrder {
  stream: number;
  frames: number;
  /** Pause between two frames; 0 = as fast as the reader takes them. */
  gapMs: number;
  /** Bytes of filling in each frame. */
  filling?: number;
  /** It answers nothing, not even headers: it waits for the reader to leave. */
  isSilent?: boolean;
}

export interface StampedUpstream {
  url: string;
  /** Streams under way. */
  running(): number;
  /** Records the time of each end of an answer or of its connection; a former call's list ends. */
  watchEnds(): number[];
  close(): Promise<void>;
}

const BODY_BYTES_MAX = 40 * 1_024 * 1_024;

/**
 * The upstream of streams: each frame carries its stream's number, its own and when it was written. It runs in the
 * bench's own process, so that readers compare times of one clock. Plain requests get one answer.
 */
export async function startStampedUpstream(): Promise<StampedUpstream> {
  let running = 0;
  let ends: number[] = [];
  const server = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
    running += 1;
    response.once('close', () => {
      running -= 1;
      ends.push(performance.now());
    });
    void answer(request, response).catch(() => response.destroy());
  });
  server.requestTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', 4_096, () => resolve()));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    running: () => running,
    watchEnds: () => (ends = []),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) return void response.writeHead(413).end();
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString();
  if (text.includes('\\"isSilent\\":true')) return;
  if (!/"stream":\s*true/.test(text)) {
    const length = String(Buffer.byteLength(PLAIN_ANSWER));
    return void response
      .writeHead(200, { 'content-type': 'application/json', 'content-length': length })
      .end(PLAIN_ANSWER);
  }
  const body = JSON.parse(text) as {
    messages: { content: string }[];
    stream_options?: { include_usage?: boolean };
  };
  const order = JSON.parse(body.messages[0].content) as StreamOrder;
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  response.socket?.setNoDelay(true);
  sendFrames(order, body.stream_options?.include_usage === true, response);
}

function chunk(choices: unknown[], usage?: unknown): string {
  const frame = {
    id: 'chatcmpl-bench',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'gpt-4o-mini',
    choices,
    ...(usage === undefined ? {} : { usage }),
  };
  return `data: ${JSON.stringify(frame)}\n\n`;
}

function sendFrames(order: StreamOrder, isUsageAsked: boolean, response: ServerResponse): void {
  const { stream, frames, gapMs, filling = 0 } = order;
  const tail = 'x'.repeat(filling);
  let at = 0;
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  response.once('close', () => {
    isOver = true;
    clearTimeout(timer);
  });
  const frame = (): boolean => {
    const content = `${stream}:${at}:${performance.now().toFixed(3)}:${tail}`;
    at += 1;
    return response.write(chunk([{ index: 0, delta: { content }, finish_reason: null }]));
  };
  const next = (): void => {
    while (!isOver && at < frames) {
      const isTaken = frame();
      if (gapMs > 0) return void (timer = setTimeout(next, gapMs));
      if (!isTaken) return void response.once('drain', next);
    }
    if (!isOver) response.end(ending(frames, isUsageAsked));
  };
  next();
}

function ending(frames: number, isUsageAsked: boolean): string {
  const usage = { prompt_tokens: 20, completion_tokens: frames, total_tokens: 20 + frames };
  const last = chunk([{ index: 0, delta: {}, finish_reason: 'stop' }]);
  return `${last}${isUsageAsked ? chunk([], usage) : ''}data: [DONE]\n\n`;
}
