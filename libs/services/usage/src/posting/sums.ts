import type { UsageRecord } from '@gateway/contracts';
import { Usd } from '@gateway/money';
import type pg from 'pg';
import { arrayLiteral } from '../postgres/array-literal.js';
import { DURATION_CLASSES, durationClass } from './duration-classes.js';
import { count } from './event-columns.js';
import { CRASH_CODE } from './read-batch.js';

/** Days of every zone begin at a quarter of an hour. */
export const SLOT_MS = 900_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

/** Sum of the units of one quarter of an hour, key, model, endpoint and outcome. */
interface Sum {
  unit: UsageRecord;
  slotMs: number;
  requests: number;
  prompt: number;
  completion: number;
  cached: number;
  cost: Usd;
  latency: number[];
  ttft: number[];
}

/**
 * Returns the slots without units of a died process: they may be replaced yet, and reads add them. In the order in
 * which rows are locked.
 */
function planSums(units: readonly UsageRecord[], lengthMs: number): Sum[] {
  const slots = new Map<string, Sum>();
  for (const unit of units) {
    if (unit.error_code === CRASH_CODE) continue;
    const slotMs = Math.floor(Date.parse(unit.created_at) / lengthMs) * lengthMs;
    const name = [
      slotMs,
      unit.account_id,
      unit.key_id,
      unit.team_id,
      unit.model,
      unit.endpoint,
      unit.outcome,
    ];
    const key = `${name.join('\n')}\n${unit.status}`;
    let slot = slots.get(key);
    if (slot === undefined) slots.set(key, (slot = emptySum(unit, slotMs)));
    slot.requests += 1;
    slot.prompt += count(unit.usage.prompt_tokens);
    slot.completion += count(unit.usage.completion_tokens);
    slot.cached += count(unit.usage.cached_tokens);
    if (unit.cost_usd) slot.cost = slot.cost.plus(Usd.parse(unit.cost_usd));
    slot.latency[durationClass(unit.latency_ms) - 1] += 1;
    if (typeof unit.ttft_ms === 'number') slot.ttft[durationClass(unit.ttft_ms) - 1] += 1;
  }
  return [...slots].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, slot]) => slot);
}

function emptySum(unit: UsageRecord, slotMs: number): Sum {
  const classes = (): number[] => Array<number>(DURATION_CLASSES).fill(0);
  const sums = { requests: 0, prompt: 0, completion: 0, cached: 0, cost: Usd.zero };
  return { unit, slotMs, ...sums, latency: classes(), ttft: classes() };
}

interface SumColumn {
  name: string;
  type: string;
  of: (slot: Sum) => string | number | null;
}

const text = (name: string, of: SumColumn['of']): SumColumn => ({ name, type: 'text', of });

const COLUMNS: readonly SumColumn[] = [
  text('account_id', ({ unit }) => unit.account_id),
  { name: 'slot', type: 'timestamptz', of: ({ slotMs }) => new Date(slotMs).toISOString() },
  text('key_id', ({ unit }) => unit.key_id),
  text('team_id', ({ unit }) => unit.team_id ?? ''),
  text('model', ({ unit }) => unit.model),
  text('endpoint', ({ unit }) => unit.endpoint),
  text('status', ({ unit }) => unit.status),
  text('outcome', ({ unit }) => unit.outcome),
  text('org_id', ({ unit }) => unit.org_id ?? null),
  text('member_id', ({ unit }) => unit.member_id),
  { name: 'requests', type: 'int', of: ({ requests }) => requests },
  { name: 'prompt_tokens', type: 'bigint', of: ({ prompt }) => prompt },
  { name: 'completion_tokens', type: 'bigint', of: ({ completion }) => completion },
  { name: 'cached_tokens', type: 'bigint', of: ({ cached }) => cached },
  { name: 'cost', type: 'numeric', of: ({ cost }) => cost.toString() },
];
/** Arrays of arrays would come flat: these travel as texts. */
const CLASSES = ['latency', 'ttft'] as const;
const NAMES = COLUMNS.map(({ name }) => name);
const UNNESTED = [
  ...COLUMNS.map(({ type }, index) => `$${index + 1}::${type}[]`),
  ...CLASSES.map((_, index) => `$${COLUMNS.length + index + 1}::text[]`),
];
const COUNTS = ['requests', 'prompt_tokens', 'completion_tokens', 'cached_tokens', 'cost'];
const SUMS = COUNTS.map((name) => `${name} = s.${name} + excluded.${name}`);
const CLASS_SUMS = CLASSES.map((name) => {
  const each = Array.from(
    { length: DURATION_CLASSES },
    (_, n) => `s.${name}[${n + 1}] + excluded.${name}[${n + 1}]`,
  );
  return `${name} = ARRAY[${each.join(', ')}]`;
});
const ADDED = `ON CONFLICT (account_id, slot, key_id, team_id, model, endpoint, status, outcome)
DO UPDATE SET ${[...SUMS, ...CLASS_SUMS].join(', ')}`;
type Table = 'usage_slot' | 'usage_hour' | 'usage_day';
const addSql = (table: Table): string => `
INSERT INTO ${table} AS s (${[...NAMES, ...CLASSES].join(', ')})
SELECT ${[...NAMES, ...CLASSES.map((name) => `${name}::int[]`)].join(', ')}
FROM unnest(${UNNESTED.join(', ')}) AS slot_row(${[...NAMES, ...CLASSES].join(', ')})
${ADDED}`;
const ADD: Readonly<Record<Table, string>> = {
  usage_slot: addSql('usage_slot'),
  usage_hour: addSql('usage_hour'),
  usage_day: addSql('usage_day'),
};

/** Spans of UTC into which slots are added up. */
export type Span = 'hour' | 'day';

/** Adds the slots of a condition up to hours or days. */
export function addUpSql(span: Span, condition: string): string {
  const named = NAMES.filter(
    (name) => !COUNTS.includes(name) && !['slot', 'org_id', 'member_id'].includes(name),
  );
  const sums = CLASSES.map((name) => {
    const each = Array.from({ length: DURATION_CLASSES }, (_, n) => `sum(${name}[${n + 1}])`);
    return `ARRAY[${each.join(', ')}]::int[]`;
  });
  return `
INSERT INTO usage_${span} AS s (${[...named, 'slot', 'org_id', 'member_id', ...COUNTS, ...CLASSES].join(', ')})
SELECT ${named.join(', ')}, date_trunc('${span}', slot, 'UTC') AS span, min(org_id), min(member_id),
  ${COUNTS.map((name) => `sum(${name})`).join(', ')}, ${sums.join(', ')}
FROM usage_slot WHERE ${condition} GROUP BY ${named.join(', ')}, span
ORDER BY ${named.join(', ')}, span
${ADDED}`;
}

/** The ends of added-up days and hours, and the start of hours. */
export interface AddedUp {
  daysTo: number;
  hoursFrom: number;
}

/** The units are new: what a redelivery brings again is not among them. */
export async function addSums(
  client: pg.PoolClient,
  units: readonly UsageRecord[],
  { daysTo, hoursFrom }: AddedUp,
): Promise<void> {
  await add(client, 'usage_slot', planSums(units, SLOT_MS));
  const late = units.filter(({ created_at }) => Date.parse(created_at) < daysTo);
  const lateHours = late.filter(({ created_at }) => Date.parse(created_at) >= hoursFrom);
  await add(client, 'usage_hour', planSums(lateHours, HOUR_MS));
  await add(client, 'usage_day', planSums(late, DAY_MS));
}

async function add(client: pg.PoolClient, table: keyof typeof ADD, slots: readonly Sum[]): Promise<void> {
  if (slots.length === 0) return;
  await client.query({
    name: `add-${table}`,
    text: ADD[table],
    values: [
      ...COLUMNS.map(({ of }) => arrayLiteral(slots.map(of))),
      ...CLASSES.map((name) => arrayLiteral(slots.map((slot) => `{${slot[name].join(',')}}`))),
    ],
  });
}
