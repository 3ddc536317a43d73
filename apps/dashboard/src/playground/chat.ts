import { figureOf } from '../api/figure-of.js';
import { Problem, problemOf, unreachable } from '../api/problem.js';
import { eventsOf } from './sse.js';

/** Settings of a person for the next answer. */
export interface Settings {
  system: string;
  temperature: string;
  maxTokens: string;
  /** JSON of a list of tools; empty = none. */
  tools: string;
}

interface ToolCall {
  name: string;
  arguments: string;
}

export interface Turn {
  role: 'user' | 'assistant';
  text: string;
  /** A data URL. */
  image?: string;
  toolCalls?: readonly ToolCall[];
}

/** An answer as far as it has come. */
export interface Answer {
  text: string;
  toolCalls: ToolCall[];
  requestId: string | null;
  firstTokenMs: number | null;
  totalMs: number | null;
  promptTokens: number | null;
  completionTokens: number | null;
}

type Body = Record<string, unknown>;

/** The body of POST /v1/chat/completions. Throws Problem where the tools are no JSON. */
export function bodyOf(model: string, turns: readonly Turn[], settings: Settings): Body {
  const { system, temperature, maxTokens, tools } = settings;
  return {
    model,
    messages: [
      ...(system.trim() === '' ? [] : [{ role: 'system', content: system }]),
      ...turns.filter(({ text, image }) => text !== '' || image !== undefined).map(messageOf),
    ],
    stream: true,
    stream_options: { include_usage: true },
    ...(temperature.trim() === '' ? {} : { temperature: figureOf(temperature) }),
    ...(maxTokens.trim() === '' ? {} : { max_tokens: figureOf(maxTokens) }),
    ...(tools.trim() === '' ? {} : { tools: toolsOf(tools) }),
  };
}

function messageOf({ role, text, image }: Turn): Body {
  if (image === undefined) return { role, content: text };
  const parts: Body[] = [{ type: 'image_url', image_url: { url: image } }];
  return { role, content: text === '' ? parts : [{ type: 'text', text }, ...parts] };
}

function toolsOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Problem({ status: 422, code: 'tools_no_json', message: 'The tools are not JSON.' });
  }
}

interface Delta {
  choices?: {
    delta?: {
      content?: string | null;
      tool_calls?: { index?: number; function?: { name?: string; arguments?: string } }[];
    };
  }[];
  usage?: { prompt_tokens?: number; completion_tokens?: number } | null;
  error?: { code?: string; message?: string };
}

interface Sending {
  key: string;
  signal: AbortSignal;
  now: () => number;
  onProgress: (answer: Answer) => void;
}

/** Sends one request and reports the answer as it grows. Throws Problem. */
export async function chat(body: Body, { key, signal, now, onProgress }: Sending): Promise<void> {
  const began = now();
  const response = await fetch('/v1/chat/completions', {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal,
  }).catch((failure: unknown) => {
    throw signal.aborted ? failure : unreachable();
  });
  if (!response.ok || response.body === null) {
    throw await problemOf(response);
  }
  let answer: Answer = { ...EMPTY, requestId: response.headers.get('x-request-id') };
  for await (const data of eventsOf(response.body)) {
    if (data === '[DONE]') break;
    answer = grown(answer, JSON.parse(data) as Delta, now() - began);
    onProgress(answer);
  }
  onProgress({ ...answer, totalMs: now() - began });
}

const EMPTY: Answer = {
  text: '',
  toolCalls: [],
  requestId: null,
  firstTokenMs: null,
  totalMs: null,
  promptTokens: null,
  completionTokens: null,
};

/** The answer with one more event of the stream. */
export function grown(answer: Answer, event: Delta, elapsedMs: number): Answer {
  if (event.error) {
    const { code = 'stream_failed', message = 'The stream ended with an error.' } = event.error;
    throw new Problem({ status: 502, code, message, requestId: answer.requestId });
  }
  const delta = event.choices?.[0]?.delta;
  const toolCalls = answer.toolCalls.map((call) => ({ ...call }));
  for (const { index = 0, function: called } of delta?.tool_calls ?? []) {
    const call = (toolCalls[index] ??= { name: '', arguments: '' });
    call.name += called?.name ?? '';
    call.arguments += called?.arguments ?? '';
  }
  const isFirst = answer.firstTokenMs === null && Boolean(delta?.content ?? delta?.tool_calls);
  return {
    ...answer,
    text: answer.text + (delta?.content ?? ''),
    toolCalls,
    firstTokenMs: isFirst ? elapsedMs : answer.firstTokenMs,
    promptTokens: event.usage?.prompt_tokens ?? answer.promptTokens,
    completionTokens: event.usage?.completion_tokens ?? answer.completionTokens,
  };
}

/** The call as a person would make it; the shown code runs as it is, with a key of one's own. */
export function curlOf(origin: string, body: Body): string {
  const quoted = JSON.stringify(body, null, 2).replaceAll("'", "'\\''");
  return [
    `curl -N ${origin}/v1/chat/completions \\`,
    `  -H "Authorization: Bearer $GATEWAY_KEY" \\`,
    `  -H "Content-Type: application/json" \\`,
    `  -d '${quoted}'`,
  ].join('\n');
}
