import type { UsageRecord } from '@gateway/contracts';
import { arrayLiteral } from '../postgres/array-literal.js';
import { isCharged } from './charged.js';
import { detailOf, detailWithoutEndUser, withoutEndUser } from './event-detail.js';
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

/** The way in which events store their JSON. */
export type EventForm =
  /** Five columns of jsonb, which releases before this one read. */
  | 'columns'
  /** Tags by themselves, all else as one text. */
  | 'detail';

/** Columns of JSON, in the order of their places in the text of `eventValues`. */
const JSON_COLUMNS = [
  'usage',
  'attempts',
  'priced_from',
  'request_tags',
  'limits',
] as const satisfies readonly (keyof UsageRecord)[];

const NAMES = COLUMNS.map(({ name }) => name);
const ARRAYS = COLUMNS.map(({ type }, index) => `unnest($${index + 1}::${type}[])`);
const CACHED: Column = {
  name: 'cached_tokens',
  type: 'bigint',
  of: (unit) => count(unit.usage.cached_tokens),
};
/** Columns that a form leaves out become null. */
const REPLACED = [...NAMES, ...JSON_COLUMNS, CACHED.name, 'detail']
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

interface Insertion {
  columns: readonly string[];
  selects: readonly string[];
  /** Sets of rows, and the name of each as `selects` has it. */
  sources: readonly string[];
  names: readonly string[];
}

/**
 * Writes events once per unit and answers the units that are new. Only an event that stands for a died process is
 * replaced, by the real outcome.
 */
function insertSql({ columns, selects, sources, names }: Insertion): string {
  return `
INSERT INTO usage_event (${columns.join(', ')})
SELECT ${selects.join(', ')}
FROM ROWS FROM (${sources.join(', ')}) AS unit_row(${names.join(', ')})
ON CONFLICT (request_id, unit) DO UPDATE SET ${REPLACED.join(', ')}
WHERE usage_event.error_code = 'gateway_crash' AND excluded.error_code IS DISTINCT FROM 'gateway_crash'
RETURNING request_id, unit`;
}

const next = (more: number): string => `$${COLUMNS.length + more}`;

/**
 * All JSON comes as one text, because as elements of arrays each would be quoted here and unquoted there: a third of the
 * time of both.
 */
const INSERT_COLUMNS = insertSql({
  columns: [...NAMES, ...JSON_COLUMNS],
  selects: [...NAMES.map(selected), ...JSON_COLUMNS.map(selectedJson)],
  sources: [...ARRAYS, `jsonb_array_elements(${next(1)}::jsonb)`],
  names: [...NAMES, 'json'],
});

/** Texts of JSON have no line ends: they come as lines. */
const INSERT_DETAIL = insertSql({
  columns: [...NAMES, CACHED.name, 'request_tags', 'detail'],
  selects: [
    ...NAMES.map(selected),
    CACHED.name,
    'request_tags::jsonb',
    `CASE WHEN ${IS_ERASED} THEN ${detailWithoutEndUser('detail')} ELSE detail END`,
  ],
  sources: [
    ...ARRAYS,
    `unnest(${next(1)}::${CACHED.type}[])`,
    ...[2, 3].map((more) => `string_to_table(${next(more)}, E'\\n')`),
  ],
  names: [...NAMES, CACHED.name, 'request_tags', 'detail'],
});

/** The statement that writes events in a form. */
export const INSERT_EVENTS: Readonly<Record<EventForm, { name: string; text: string }>> = {
  columns: { name: 'insert-events', text: INSERT_COLUMNS },
  detail: { name: 'insert-detailed-events', text: INSERT_DETAIL },
};

/** Values of that statement: one array per column, then the JSON of every unit. */
export function eventValues(
  units: readonly UsageRecord[],
  transferIds: ReadonlyMap<string, string>,
  form: EventForm,
): string[] {
  const transfers = units.map((unit) =>
    isCharged(unit) ? (transferIds.get(unit.account_id) ?? null) : null,
  );
  const array = ({ of }: Column): string =>
    arrayLiteral(units.map((unit, index) => of(unit, transfers[index])));
  const lines = (of: (unit: UsageRecord) => string): string => units.map(of).join('\n');
  return [
    ...COLUMNS.map(array),
    ...(form === 'columns'
      ? [JSON.stringify(units.map((unit) => JSON_COLUMNS.map((name) => unit[name] ?? null)))]
      : [array(CACHED), lines(({ request_tags }) => JSON.stringify(request_tags)), lines(detailOf)]),
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
