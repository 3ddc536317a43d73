import type { UsageRecord } from '@gateway/contracts';
import { arrayLiteral } from '../postgres/array-literal.js';
import { isCharged } from './charged.js';
import { platformCost } from './posting.js';

/** A column of usage_event: its PostgreSQL type and what it holds of a record. */
interface Column {
  name: string;
  type: string;
  of: (unit: UsageRecord, transferId: string | null) => string | number | boolean | null;
}

const text = (name: string, of: Column['of']): Column => ({ name, type: 'text', of });

const COLUMNS: readonly Column[] = [
  text('id', (unit) => unit.id),
  text('request_id', (unit) => unit.request_id),
  { name: 'unit', type: 'int', of: (unit) => unit.unit },
  text('account_id', (unit) => unit.account_id),
  text('org_id', (unit) => unit.org_id ?? null),
  text('team_id', (unit) => unit.team_id ?? null),
  text('member_id', (unit) => unit.member_id),
  text('key_id', (unit) => unit.key_id),
  text('endpoint', (unit) => unit.endpoint),
  text('model', (unit) => unit.model),
  text('requested_model', (unit) => unit.requested_model),
  text('provider', (unit) => unit.provider ?? null),
  text('status', (unit) => unit.status),
  text('outcome', (unit) => unit.outcome),
  { name: 'http_status', type: 'int', of: (unit) => unit.http_status },
  text('error_code', (unit) => unit.error_code ?? null),
  { name: 'stream', type: 'bool', of: (unit) => unit.stream },
  { name: 'prompt_tokens', type: 'bigint', of: (unit) => count(unit.usage.prompt_tokens) },
  { name: 'completion_tokens', type: 'bigint', of: (unit) => count(unit.usage.completion_tokens) },
  { name: 'usage_estimated', type: 'bool', of: (unit) => unit.usage_estimated },
  { name: 'cost', type: 'numeric', of: (unit) => unit.cost_usd ?? null },
  { name: 'list_cost', type: 'numeric', of: (unit) => unit.list_cost_usd ?? null },
  { name: 'house_cost', type: 'numeric', of: platformText },
  { name: 'transfer_id', type: 'uuid', of: (_, transferId) => transferId },
  { name: 'latency_ms', type: 'float8', of: (unit) => unit.latency_ms },
  { name: 'ttft_ms', type: 'float8', of: (unit) => unit.ttft_ms ?? null },
  { name: 'created_at', type: 'timestamptz', of: (unit) => unit.created_at },
  { name: 'routing_fallback', type: 'bool', of: (unit) => unit.routing_fallback },
  { name: 'byok_used', type: 'bool', of: (unit) => unit.byok_used },
  { name: 'cache_hit', type: 'bool', of: (unit) => unit.cache_hit },
  { name: 'is_unbilled', type: 'bool', of: (unit) => unit.billing === 'off' },
  text('end_user_hash', (unit) => unit.end_user_hash ?? null),
  text('api_version', (unit) => unit.api_version),
  text('producer', (unit) => unit.producer),
  text('epoch', (unit) => unit.epoch),
  { name: 'seq', type: 'bigint', of: (unit) => unit.seq },
];

/** Columns of JSON, in the order of their places in the text of `eventArrays`. */
const JSON_COLUMNS = [
  'usage',
  'attempts',
  'priced_from',
  'request_tags',
  'limits',
] as const satisfies readonly (keyof UsageRecord)[];

const NAMES = COLUMNS.map(({ name }) => name);
const ARRAYS = COLUMNS.map(({ type }, index) => `unnest($${index + 1}::${type}[])`);
const REPLACED = [...NAMES, ...JSON_COLUMNS]
  .filter((name) => name !== 'request_id' && name !== 'unit')
  .map((name) => `${name} = excluded.${name}`);

/** An end user who was erased since then stays so, whatever is replayed. */
const IS_ERASED = `(end_user_hash IS NOT NULL AND EXISTS (SELECT 1 FROM erased_end_user AS e
  WHERE e.account_id = unit_row.account_id AND e.end_user_hash = unit_row.end_user_hash AND e.erased_at >= unit_row.created_at))`;

function selected(name: string): string {
  return name === 'end_user_hash' ? `CASE WHEN NOT ${IS_ERASED} THEN end_user_hash END` : name;
}

/** Readings name the end user whose budget counted the unit. */
function selectedJson(name: string, index: number): string {
  const value = `nullif(json -> ${index}, 'null')`;
  return name === 'limits' ? `CASE WHEN ${IS_ERASED} THEN ${withoutEndUser(value)} ELSE ${value} END` : value;
}

/** SQL of readings without those of an end user's budget. */
export function withoutEndUser(limits: string): string {
  return `(SELECT jsonb_agg(l ORDER BY n) FROM jsonb_array_elements(CASE jsonb_typeof(${limits}) WHEN 'array' THEN ${limits} END)
    WITH ORDINALITY AS reading(l, n) WHERE l ->> 'scope' <> 'end_user')`;
}

/**
 * Writes events once per unit and answers the units that are new. Only an event that stands for a died process is
 * replaced, by the real outcome. All JSON comes as one text, because as elements of arrays each would be quoted here
 * and unquoted there: a third of the time of both.
 */
export const INSERT_EVENTS = `
INSERT INTO usage_event (${[...NAMES, ...JSON_COLUMNS].join(', ')})
SELECT ${NAMES.map(selected).join(', ')}, ${JSON_COLUMNS.map(selectedJson).join(', ')}
FROM ROWS FROM (${ARRAYS.join(', ')}, jsonb_array_elements($${COLUMNS.length + 1}::jsonb))
  AS unit_row(${NAMES.join(', ')}, json)
ON CONFLICT (request_id, unit) DO UPDATE SET ${REPLACED.join(', ')}
WHERE usage_event.error_code = 'gateway_crash' AND excluded.error_code IS DISTINCT FROM 'gateway_crash'
RETURNING request_id, unit`;

/** One array per column, then one text with the JSON of every unit. */
export function eventArrays(
  units: readonly UsageRecord[],
  transferIds: ReadonlyMap<string, string>,
): string[] {
  const transfers = units.map((unit) =>
    isCharged(unit) ? (transferIds.get(unit.account_id) ?? null) : null,
  );
  const json = units.map((unit) => JSON_COLUMNS.map((name) => unit[name] ?? null));
  return [
    ...COLUMNS.map(({ of }) => arrayLiteral(units.map((unit, index) => of(unit, transfers[index])))),
    JSON.stringify(json),
  ];
}

/** Counts as providers report them: what is no count is 0. */
export function count(tokens: unknown): number {
  return typeof tokens === 'number' && Number.isSafeInteger(tokens) && tokens > 0 ? tokens : 0;
}

function platformText(unit: UsageRecord): string | null {
  const cost = platformCost(unit);
  return cost.isZero() ? null : cost.toString();
}
