import type { AnswerFailure } from '@gateway/dialects';
import { isObject } from '@gateway/json-body';
import { cut } from '@gateway/redaction';
import type { TransportFailure } from '../transport.js';

/** Everything an attempt can fail with, before it is judged. */
export type FailureSignal =
  | { kind: 'transport'; failure: TransportFailure; byok: boolean }
  | {
      kind: 'status';
      status: number;
      headers: Record<string, string>;
      body: Uint8Array;
      byok: boolean;
      nowMs: number;
    }
  /** In-band error, or a stream that broke or could not be read. */
  | { kind: 'stream'; failure: AnswerFailure; byok: boolean }
  /** 2xx with a body that is no answer of the dialect. */
  | { kind: 'bad_response'; message: string; byok: boolean };

/** The provider's own words, whichever envelope they came in. */
export interface NativeError {
  type: string;
  code: string;
  param: string;
  message: string;
  /** Google's reasons and the quotas that were exceeded; Anthropic's code beneath its type. */
  reasons: string[];
}

function text(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' ? String(value) : '';
}

/** ErrorInfo has a reason, QuotaFailure the quotas, Anthropic's details a code. */
function reasonsOf(detail: unknown): string[] {
  if (!isObject(detail)) return [];
  const quotas = Array.isArray(detail.violations)
    ? detail.violations.map((one) => (isObject(one) ? text(one.quotaId) : ''))
    : [];
  return [text(detail.reason), text(detail.error_code), ...quotas].filter((reason) => reason !== '');
}

/**
 * Reads OpenAI's, Anthropic's, Google's (an array around it, too) and the bare `{message}`, `{detail}`, `{err_code,
 * err_msg}`, `{error: "text"}` envelopes.
 */
export function nativeError(body: unknown): NativeError {
  const outer: unknown = Array.isArray(body) ? body[0] : body;
  if (!isObject(outer)) return { type: '', code: '', param: '', message: text(outer), reasons: [] };
  const inner = [outer.error, outer.detail].find(isObject) ?? outer;
  const detail = Array.isArray(outer.detail)
    ? outer.detail.map((item) => (isObject(item) ? text(item.msg) : text(item))).join('; ')
    : text(outer.detail);
  const behind = isObject(inner.metadata) ? errorBehind(inner.metadata.raw) : null;
  // What it says of the account there is none of ours: names count where the request is at fault.
  const named = behind !== null && REQUEST_FAULTS.has(text(inner.code)) ? behind : null;
  const message =
    (behind?.message ?? '') ||
    text(inner.message) ||
    text(inner.Message) ||
    text(outer.error) ||
    text(outer.err_msg) ||
    detail;
  return {
    type: (named?.type ?? '') || text(inner.type) || text(inner.error_type) || text(inner.status),
    code: (named?.code ?? '') || text(inner.code) || text(outer.err_code),
    param: text(inner.param),
    message,
    reasons: (Array.isArray(inner.details) ? inner.details : [inner.details]).flatMap(reasonsOf),
  };
}

const REQUEST_FAULTS: ReadonlySet<string> = new Set(['400', '413', '422']);

/**
 * Returns the error of a provider behind this one, which OpenRouter passes on unchanged: an envelope, its text, or
 * words.
 */
function errorBehind(raw: unknown): NativeError | null {
  if (isObject(raw)) return nativeError({ ...raw, metadata: undefined });
  return typeof raw === 'string' && raw !== '' ? nativeErrorOf(Buffer.from(raw)) : null;
}

/** The same from bytes; a body that is no JSON has only its text. */
export function nativeErrorOf(bytes: Uint8Array): NativeError {
  const raw = Buffer.from(bytes).toString('utf8').slice(0, 65_536);
  try {
    return nativeError(JSON.parse(raw));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // A page of HTML helps no caller and may hold addresses of the provider's inside.
    return {
      type: '',
      code: '',
      param: '',
      message: raw.trimStart().startsWith('<') ? '' : cut(raw, 500),
      reasons: [],
    };
  }
}
