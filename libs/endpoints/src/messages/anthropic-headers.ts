import type { IncomingHttpHeaders } from 'node:http';
import { ApiError } from '@gateway/contracts';

const VERSIONS = new Set(['2023-06-01', '2026-10-21']);
/**
 * Beta flags that change only what a native route does with the body: those of the API's documentation and those that Claude
 * Code 2.1 sends. Anything else is refused, not dropped.
 */
const FEATURES = [
  ...[
    'advanced-tool-use',
    'advisor',
    'advisor-tool',
    'afk-mode',
    'cache-diagnosis',
    'claude-code',
    'code-execution',
  ],
  ...[
    'compact',
    'computer-use',
    'context-1m',
    'context-hint',
    'context-management',
    'dangerous-tool-use',
    'effort',
  ],
  ...[
    'fast-mode',
    'files-api',
    'fine-grained-tool-streaming',
    'interleaved-thinking',
    'mcp-client',
    'memory',
  ],
  ...['mid-conversation-output-config', 'mid-conversation-system', 'mid-conversation-tool-changes', 'oauth'],
  ...[
    'output-128k',
    'per-turn-control',
    'prompt-caching-scope',
    'redact-thinking',
    'skills',
    'structured-outputs',
  ],
  ...['summarize-connector-text', 'task-budgets', 'thinking-binding-controls', 'thinking-display-updates'],
  ...[
    'thinking-token-count',
    'token-efficient-tools',
    'tool-examples',
    'tool-search-tool',
    'web-fetch',
    'web-search',
  ],
];
const BETAS = new RegExp(`^(${FEATURES.join('|')})-(\\d{4}-\\d{2}-\\d{2}|\\d{8})$`);
/** Conversations that the server holds. Tool runners of the SDK try them first and, when refused, send the whole history. */
const THREADS = /^message-threads-/;
const NO_THREADS = { error_code: 'thread_unsupported_request', unsupported: ['anthropic-beta'] };
/**
 * Values to drop: once needed and now always on, or of no use through a gateway (a retry's credit is of the account
 * that is billed).
 */
const DROPPED = new Set([
  'prompt-caching-2024-07-31',
  'pdfs-2024-09-25',
  'token-counting-2024-11-01',
  'extended-cache-ttl-2025-04-11',
  'max-tokens-3-5-sonnet-2024-07-15',
  'message-batches-2024-09-24',
  'computer-use-2024-10-22',
  'fallback-credit-2026-06-01',
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
    if (beta === '' || DROPPED.has(beta)) continue;
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
