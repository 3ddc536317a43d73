/** The facts of an answer, whatever its dialect and form, for a judge to compare. */
export interface AnswerFacts {
  text: string;
  reasoning: string;
  tools: { name: string; arguments: unknown }[];
  finish: string | null;
  native: string | null;
  prompt: number | null;
  completion: number | null;
  cached: number;
  cacheWrite: number;
  reasoningTokens: number | null;
  /** The stream ended as its dialect says; a plain answer always did. */
  isComplete: boolean;
  /** In-band error of a stream. */
  error: Record<string, unknown> | null;
  /** Whole usage object as the caller got it. */
  usage: Record<string, unknown>;
}

export type Json = Record<string, unknown>;

export function object(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
}
export function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
export function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
export function count(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

export function parsed(argumentsText: string): unknown {
  try {
    return JSON.parse(argumentsText);
  } catch {
    return `not JSON: ${argumentsText}`;
  }
}

export function emptyFacts(): AnswerFacts {
  return {
    text: '',
    reasoning: '',
    tools: [],
    finish: null,
    native: null,
    prompt: null,
    completion: null,
    cached: 0,
    cacheWrite: 0,
    reasoningTokens: null,
    isComplete: true,
    error: null,
    usage: {},
  };
}

/** The data of every SSE event, by the book but on the whole text: independent of the gateway's own parser. */
export function sseData(body: string): string[] {
  return body
    .split(/\r\n\r\n|\n\n|\r\r/)
    .map((frame) =>
      frame
        .split(/\r\n|\n|\r/)
        .filter((line) => line.startsWith('data:'))
        .map((line) => line.slice(5).replace(/^ /, ''))
        .join('\n'),
    )
    .filter((data) => data !== '');
}
