import type { IncomingHttpHeaders } from 'node:http';
import { ApiError } from '@gateway/contracts';

const VERSIONS = new Set(['2023-06-01', '2026-10-21']);
/** Beta flags that change only what a native route does with the body. Anything else is refused, not dropped. */
const BETAS =
  /^(interleaved-thinking|fine-grained-tool-streaming|context-1m|output-128k|code-execution|files-api|mcp-client|web-fetch|context-management|skills|effort|structured-outputs|token-efficient-tools|computer-use|advanced-tool-use|task-budgets|compact|fast-mode|advisor|tool-search-tool|memory|claude-code|oauth)-\d{4}-\d{2}-\d{2}$|^claude-code-\d{8}$/;
/** Conversations that the server holds. Tool runners of the SDK try them first and, when refused, send the whole history. */
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

/** anthropic-version and anthropic-beta of a caller, for native routes. Throws 400 naming what is not known. */
export function anthropicHeaders(headers: IncomingHttpHeaders): Record<string, string> {
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
  return {
    ...(version === '' ? {} : { 'anthropic-version': version }),
    ...(betas.length === 0 ? {} : { 'anthropic-beta': betas.join(',') }),
  };
}
