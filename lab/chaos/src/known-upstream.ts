import { setTimeout as pause } from 'node:timers/promises';
import {
  startUpstreamDouble,
  type ScriptedAnswer,
  type SeenRequest,
  type UpstreamDouble,
} from '@gateway/testing';
import { markOf, workOf, type Work } from './work.js';

/** A provider of both dialects that reports exactly the usage that a request's own text orders, at the pace it orders. */
export function startKnownUpstream(): Promise<UpstreamDouble> {
  return startUpstreamDouble(answer);
}

async function answer({ body }: SeenRequest): Promise<ScriptedAnswer> {
  const { messages } = JSON.parse(body.toString()) as { messages: unknown };
  const work = workOf(JSON.stringify(messages).replaceAll('\\"', '"'));
  if (work === null) return { status: 400 };
  if (work.stream) return stream(work);
  await pause(work.frames * work.gapMs);
  const text = markOf(work).padEnd(work.frames * 4, ' ok');
  return { json: work.dialect === 'chat' ? plainChat(work, text) : plainMessage(work, text) };
}

function stream(work: Work): ScriptedAnswer {
  const frames = work.dialect === 'chat' ? chatFrames(work) : messageFrames(work);
  const isCut = work.ending === 'upstream_dies';
  return {
    headers: { 'content-type': 'text/event-stream' },
    pieces: isCut ? frames.slice(0, Math.floor(frames.length / 2)) : frames,
    gapMs: work.gapMs,
    ending: isCut ? 'reset' : 'end',
  };
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
