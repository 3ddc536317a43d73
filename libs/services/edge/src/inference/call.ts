import type { IncomingHttpHeaders } from 'node:http';
import { ApiError, HEADER, type KeyPrincipal } from '@gateway/contracts';
import type { Front } from '@gateway/dialects';
import type { CallerHeaders } from '@gateway/providers';

/** One request of a caller, authenticated, before its body is looked at. */
export interface Call {
  requestId: string;
  /** Path of the endpoint, for example /v1/chat/completions. */
  endpoint: string;
  front: Front;
  principal: KeyPrincipal;
  apiVersion: string;
  /** Milliseconds since the epoch, and on the clock that only grows. */
  receivedAtMs: number;
  startedMs: number;
  headers: IncomingHttpHeaders;
  /** The key's own until the headers were read, then with the request's. */
  tags: Record<string, string>;
  callerHeaders: CallerHeaders;
  bytes: Uint8Array;
  /** Reads the principal again, past every cache; throws where the key may no longer call. */
  reload(): Promise<KeyPrincipal>;
}

export const NO_CALLER_HEADERS: CallerHeaders = { anthropicVersion: null, anthropicBeta: [] };

/** Reads what the headers say beside the credential. Throws validation_error, on messages invalid_request_error. */
export function readHeaders(call: Call): void {
  call.tags = requestTags(call.headers, call.principal);
  if (call.front.dialect === 'messages') call.callerHeaders = callerHeaders(call.headers);
}

const MOST_TAGS = 16;
const LONGEST_TAG = 512;

/** `k=v,k2=v2`, at most 16, over the key's own tags. */
function requestTags(headers: IncomingHttpHeaders, principal: KeyPrincipal): Record<string, string> {
  const header = headers[HEADER.requestTags.toLowerCase()];
  if (typeof header !== 'string' || header.trim() === '') return principal.requestTags;
  const tags: Record<string, string> = { ...principal.requestTags };
  const pairs = header.split(',');
  const fault = (msg: string): ApiError =>
    new ApiError('validation_error', {
      message: msg,
      details: [{ type: 'tags_invalid', loc: ['header', HEADER.requestTags], msg }],
    });
  if (pairs.length > MOST_TAGS) throw fault(`at most ${MOST_TAGS} request tags`);
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    const name = pair.slice(0, Math.max(0, at)).trim();
    const value = pair.slice(at + 1).trim();
    if (name === '' || name === '__proto__' || name.length > 64 || value.length > LONGEST_TAG)
      throw fault('request tags have the form name=value');
    tags[name] = value;
  }
  return tags;
}

const VERSIONS = new Set(['2023-06-01', '2026-10-21']);
/** Beta flags that change only what a native route does with the body. Anything else is refused, not dropped. */
const BETAS =
  /^(interleaved-thinking|fine-grained-tool-streaming|context-1m|output-128k|code-execution|files-api|mcp-client|web-fetch|context-management|skills|effort|structured-outputs|token-efficient-tools|computer-use|advanced-tool-use|task-budgets|compact|fast-mode|advisor|tool-search-tool|memory|claude-code|oauth)-\d{4}-\d{2}-\d{2}$|^claude-code-\d{8}$/;
/** Conversations that the server holds. Tool runners of the SDK try them first and, told so, send the whole history. */
const THREADS = /^message-threads-/;
const NO_THREADS = { error_code: 'thread_unsupported_request', unsupported: ['anthropic-beta'] };
/** Once needed, now always on: dropped. */
const OBSOLETE = new Set([
  'prompt-caching-2024-07-31',
  'pdfs-2024-09-25',
  'token-counting-2024-11-01',
  'extended-cache-ttl-2025-04-11',
  'max-tokens-3-5-sonnet-2024-07-15',
  'message-batches-2024-09-24',
  'computer-use-2024-10-22',
]);

function headerText(value: string | string[] | undefined): string {
  return Array.isArray(value) ? value.join(',') : (value ?? '');
}

/** anthropic-version and anthropic-beta of a messages caller, for native routes. Throws 400 naming what is not known. */
function callerHeaders(headers: IncomingHttpHeaders): CallerHeaders {
  const version = headerText(headers['anthropic-version']).trim();
  if (version !== '' && !VERSIONS.has(version)) {
    throw new ApiError('invalid_request_error', {
      message: `anthropic-version ${version.slice(0, 40)} is not supported.`,
    });
  }
  const betas: string[] = [];
  for (const raw of headerText(headers['anthropic-beta']).split(',')) {
    const beta = raw.trim();
    if (beta === '' || OBSOLETE.has(beta)) continue;
    if (!BETAS.test(beta))
      throw new ApiError('invalid_request_error', {
        message: `anthropic-beta ${beta.slice(0, 80)} is not supported.`,
        ...(THREADS.test(beta) ? { messagesDetails: NO_THREADS } : {}),
      });
    betas.push(beta);
  }
  return { anthropicVersion: version === '' ? null : version, anthropicBeta: betas };
}
