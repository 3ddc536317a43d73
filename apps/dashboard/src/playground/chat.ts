import { figureOf } from '../api/figure-of.js';
import { Problem, problemOf, unreachable } from '../api/problem.js';
import { eventsOf } from './sse.js';

/** Settings of a person for the next answer. */
export interface Settings {
  system: string;
  temperature: string;
  maxTokens: string;
  topP: string;
  seed: string;
  /** Texts at which the answer ends, one a line. */
  stop: string;
  /** Effort of a model that reasons; empty = its own. */
  effort: string;
  /** JSON of a list of tools; empty = none. */
  tools: string;
  /** JSON schema of the answer; empty = free text. */
  schema: string;
}

export const NO_SETTINGS: Settings = {
  ...{ system: '', temperature: '', maxTokens: '', topP: '', seed: '', stop: '', effort: '' },
  ...{ tools: '', schema: '' },
};

interface ToolCall {
  id: string;
  name: string;
  arguments: string;
}

export interface Turn {
  role: 'user' | 'assistant' | 'tool';
  text: string;
  /** Call that a result of a tool belongs to. */
  callId?: string;
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

/** The body of POST /v1/chat/completions. Throws Problem where the tools or the schema are no JSON. */
export function bodyOf(model: string, turns: readonly Turn[], settings: Settings): Body {
  const { system, temperature, maxTokens, topP, seed, effort, tools, schema } = settings;
  const stop = settings.stop.split('\n').filter((line) => line !== '');
  return {
    model,
    messages: [
      ...(system.trim() === '' ? [] : [{ role: 'system', content: system }]),
      ...turns.map(messageOf).filter((message) => message !== null),
    ],
    stream: true,
    stream_options: { include_usage: true },
    ...(temperature.trim() === '' ? {} : { temperature: figureOf(temperature) }),
    ...(maxTokens.trim() === '' ? {} : { max_tokens: figureOf(maxTokens) }),
    ...(topP.trim() === '' ? {} : { top_p: figureOf(topP) }),
    ...(seed.trim() === '' ? {} : { seed: figureOf(seed) }),
    ...(stop.length === 0 ? {} : { stop }),
    ...(effort === '' ? {} : { reasoning_effort: effort }),
    ...(tools.trim() === '' ? {} : { tools: jsonOf(tools, 'The tools are not JSON.') }),
    ...(schema.trim() === '' ? {} : { response_format: formatOf(schema) }),
  };
}

/** Returns the message of a turn; null for one that says nothing. */
function messageOf(
  { role, text, image, toolCalls, callId }: Turn,
  at: number,
  turns: readonly Turn[],
): Body | null {
  if (role === 'tool') return { role, tool_call_id: callId, content: text };
  // Calls without results would be rejected: who writes on has let them go.
  if (toolCalls?.length && turns[at + 1]?.role === 'tool')
    return { role, content: text === '' ? null : text, tool_calls: toolCalls.map(callOf) };
  if (image === undefined) return text === '' ? null : { role, content: text };
  const parts: Body[] = [{ type: 'image_url', image_url: { url: image } }];
  return { role, content: text === '' ? parts : [{ type: 'text', text }, ...parts] };
}

function callOf({ id, name, arguments: given }: ToolCall): Body {
  return { id, type: 'function', function: { name, arguments: given } };
}

function formatOf(schema: string): Body {
  const json_schema = { name: 'answer', schema: jsonOf(schema, 'The schema of the answer is not JSON.') };
  return { type: 'json_schema', json_schema };
}

function jsonOf(text: string, message: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Problem({ status: 422, code: 'not_json', message });
  }
}

interface Delta {
  choices?: {
    delta?: {
      content?: string | null;
      tool_calls?: { index?: number; id?: string; function?: { name?: string; arguments?: string } }[];
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
  for (const { index = 0, id, function: called } of delta?.tool_calls ?? []) {
    const call = (toolCalls[index] ??= { id: id ?? `call_${index}`, name: '', arguments: '' });
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

/** Shortest stream whose speed says something: a shorter one came at once. */
const SPEED_FROM_MS = 100;

/** Returns tokens a second of an answer; null where it came too fast to tell. */
export function speedOf({ completionTokens, firstTokenMs, totalMs }: Answer): number | null {
  if (completionTokens === null || totalMs === null) return null;
  const streamedMs = totalMs - (firstTokenMs ?? 0);
  return streamedMs < SPEED_FROM_MS ? null : Math.round((completionTokens * 1_000) / streamedMs);
}
