import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { markOf, workOf, type Work } from './work.js';

export interface KnownUpstream {
  /** Without a slash at the end and without /v1. */
  url: string;
  close(): Promise<void>;
}

/** A provider of both dialects that reports exactly the usage that a request's own text orders, at the pace it orders. */
export async function startKnownUpstream(): Promise<KnownUpstream> {
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  server.keepAliveTimeout = 120_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = JSON.parse(Buffer.concat(chunks).toString()) as { messages: unknown };
  const work = workOf(JSON.stringify(body.messages).replaceAll('\\"', '"'));
  if (work === null) {
    response.writeHead(400).end();
    return;
  }
  if (work.stream) await stream(work, response);
  else await plain(work, response);
}

async function plain(work: Work, response: ServerResponse): Promise<void> {
  await pause(work.frames * work.gapMs);
  const text = markOf(work).padEnd(work.frames * 4, ' ok');
  const body = work.dialect === 'chat' ? plainChat(work, text) : plainMessage(work, text);
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function stream(work: Work, response: ServerResponse): Promise<void> {
  const frames = work.dialect === 'chat' ? chatFrames(work) : messageFrames(work);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const [at, frame] of frames.entries()) {
    if (work.ending === 'upstream_dies' && at === Math.floor(frames.length / 2)) {
      response.socket?.resetAndDestroy();
      return;
    }
    response.write(frame);
    await pause(work.gapMs);
  }
  response.end();
}

function chatUsage({ promptTokens, completionTokens, cachedTokens }: Work): object {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens },
  };
}

function plainChat(work: Work, content: string): object {
  const message = { role: 'assistant', content };
  return {
    ...{ id: `chatcmpl-${work.n}`, object: 'chat.completion', created: 1_700_000_000, model: 'sim-chat' },
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage: chatUsage(work),
  };
}

function chatFrames(work: Work): string[] {
  const frame = (choices: object[], usage?: object): string =>
    `data: ${JSON.stringify({ id: `chatcmpl-${work.n}`, object: 'chat.completion.chunk', created: 1_700_000_000, model: 'sim-chat', choices, ...(usage && { usage }) })}\n\n`;
  const delta = (content: object, finish: string | null = null): string =>
    frame([{ index: 0, delta: content, finish_reason: finish }]);
  const pieces = Array.from({ length: work.frames }, () => delta({ content: ' ok' }));
  return [
    delta({ role: 'assistant', content: markOf(work) }),
    ...pieces,
    delta({}, 'stop'),
    frame([], chatUsage(work)),
    'data: [DONE]\n\n',
  ];
}

function messageUsage({ promptTokens, cachedTokens }: Work, output: number): object {
  return {
    input_tokens: promptTokens,
    cache_read_input_tokens: cachedTokens,
    cache_creation_input_tokens: 0,
    output_tokens: output,
  };
}

function messageOf(work: Work, content: object[], end: string | null, output: number): object {
  return {
    ...{ id: `msg_${work.n}`, type: 'message', role: 'assistant', model: 'sim-claude', content },
    stop_reason: end,
    stop_sequence: null,
    usage: messageUsage(work, output),
  };
}

function plainMessage(work: Work, text: string): object {
  return messageOf(work, [{ type: 'text', text }], 'end_turn', work.completionTokens);
}

function messageFrames(work: Work): string[] {
  const frame = (type: string, more: object): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
  const delta = (text: string): string =>
    frame('content_block_delta', { index: 0, delta: { type: 'text_delta', text } });
  return [
    frame('message_start', { message: messageOf(work, [], null, 1) }),
    frame('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    delta(markOf(work)),
    ...Array.from({ length: work.frames }, () => delta(' ok')),
    frame('content_block_stop', { index: 0 }),
    frame('message_delta', {
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: work.completionTokens },
    }),
    frame('message_stop', {}),
  ];
}
