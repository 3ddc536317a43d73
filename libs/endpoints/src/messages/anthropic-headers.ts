import type { IncomingHttpHeaders } from 'node:http';
import { ApiError } from '@gateway/contracts';
import type { NativeParts } from '../text/read.js';

const VERSIONS = new Set(['2023-06-01', '2026-10-21']);
/**
 * Beta flags that change only what a native route does with the body: those of the API's documentation and those that Claude
 * Code 2.1 sends. Any other goes to Anthropic alone.
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

/** Flags that are read of one request. */
const MOST_FLAGS = 64;
const FORM = /^[A-Za-z0-9._-]{1,128}$/;
/** Longest part of a malformed flag that a report shows. */
const SHOWN = 128;

/**
 * anthropic-version and anthropic-beta of a caller, for native routes. Flags that this release does not know are told
 * apart, and those that are malformed or too many are left out. Throws 400 for another version and for threads.
 */
export function anthropicHeaders(headers: IncomingHttpHeaders): NativeParts {
  const version = headerText(headers['anthropic-version']).trim();
  if (version !== '' && !VERSIONS.has(version)) {
    throw new ApiError('invalid_request_error', {
      message: `anthropic-version ${version.slice(0, 40)} is not supported.`,
    });
  }
  const flags = headerText(headers['anthropic-beta'])
    .split(',')
    .map((flag) => flag.trim())
    .filter((flag) => flag !== '');
  const thread = flags.find((flag) => THREADS.test(flag));
  if (thread !== undefined)
    throw new ApiError('invalid_request_error', {
      message: `anthropic-beta ${thread.slice(0, 80)} is not supported.`,
      messagesDetails: NO_THREADS,
    });
  const asked = flags.filter((flag) => !DROPPED.has(flag));
  const isRead = (flag: string, at: number): boolean => at < MOST_FLAGS && FORM.test(flag);
  const betas = asked.filter(isRead);
  const known = betas.filter((flag) => BETAS.test(flag));
  return {
    nativeHeaders: {
      ...(version === '' ? {} : { 'anthropic-version': version }),
      ...(known.length === 0 ? {} : { 'anthropic-beta': known.join(',') }),
    },
    newBetas: betas.filter((flag) => !BETAS.test(flag)),
    unread: asked.filter((flag, at) => !isRead(flag, at)).map((flag) => `anthropic-beta: ${shown(flag)}`),
  };
}

/** Returns a flag of any bytes as the value of a header may have it. */
function shown(flag: string): string {
  return flag.slice(0, SHOWN).replace(/[^!-~]/g, '?');
}
