import type { UsageEventRecord } from '@gateway/contracts';

const FIELDS = [
  'id',
  'request_id',
  'model',
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'cost_usd',
  'latency_ms',
  'status',
  'created_at',
  'routing_fallback',
  'request_tags',
  'key_id',
  'key_label',
  'user_id',
  'endpoint',
  'ttft_ms',
  'cached_tokens',
] as const satisfies readonly (keyof UsageEventRecord)[];

/** Pattern of a spreadsheet's formula, behind blanks too. */
const FORMULA = /^[\s]*[=+\-@|%]|^[\t\r\n]/;
const NEEDS_QUOTES = /[",\r\n]/;
const END = '\r\n';

export const CSV_HEADER = `${FIELDS.join(',')}${END}`;

/** RFC 4180. A text that could run as a formula begins with an apostrophe; numbers are ours and never negative. */
export function csvRow(event: UsageEventRecord): string {
  return `${FIELDS.map((name) => cell(event[name])).join(',')}${END}`;
}

function cell(value: UsageEventRecord[keyof UsageEventRecord]): string {
  if (value === null) return '';
  if (typeof value !== 'string' && typeof value !== 'object') return String(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
