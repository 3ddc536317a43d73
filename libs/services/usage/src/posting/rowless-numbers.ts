import type { UsageRecord } from '@gateway/contracts';
import type pg from 'pg';
import { arrayLiteral } from '../postgres/array-literal.js';
import { CRASH_CODE, type ReadBatch, type Stamp } from './read-batch.js';
import { appliedRanges } from './sequence-ranges.js';

/**
 * Notes the numbers of a batch that have no row of their own, so that every other applied number must have one: a unit
 * that is in under another number, and a record that cannot be applied. One that stands for a died process counts as
 * such from the start, because a real outcome takes its row. Costs a query only where a batch has such records.
 */
export async function noteRowless(
  client: pg.PoolClient,
  batches: readonly ReadBatch[],
  fresh: readonly UsageRecord[],
): Promise<void> {
  const stamps = batches.flatMap(({ unusable }) => unusable.flatMap(({ stamp }) => stamp ?? []));
  const written = new Set(fresh.map(name));
  const known: UsageRecord[] = [];
  for (const { usage } of batches.flatMap((batch) => batch.usage)) {
    if (usage.error_code === CRASH_CODE) stamps.push(usage);
    else if (!written.has(name(usage))) known.push(usage);
  }
  stamps.push(...(await withoutRow(client, known)));
  await addRowless(client, stamps);
}

/** Adds numbers in the order of locks of the postings. */
export async function addRowless(client: pg.PoolClient, stamps: readonly Stamp[]): Promise<void> {
  const ranges = appliedRanges(stamps);
  if (ranges.length === 0) return;
  await client.query(
    `INSERT INTO producer AS p (producer, epoch, applied, rowless)
     SELECT producer, epoch, ranges, ranges
     FROM unnest($1::text[], $2::text[], $3::int8multirange[]) AS r(producer, epoch, ranges)
     ON CONFLICT (producer, epoch) DO UPDATE SET rowless = p.rowless + excluded.rowless`,
    [
      arrayLiteral(ranges.map(({ producer }) => producer)),
      arrayLiteral(ranges.map(({ epoch }) => epoch)),
      arrayLiteral(ranges.map((range) => range.ranges)),
    ],
  );
}

/** A redelivered number has its row already; one of a unit that came under another number has none. */
async function withoutRow(client: pg.PoolClient, units: readonly UsageRecord[]): Promise<Stamp[]> {
  if (units.length === 0) return [];
  const { rows } = await client.query<{ n: string }>(
    `SELECT u.n::text FROM unnest($1::text[], $2::int[], $3::text[], $4::text[], $5::bigint[])
       WITH ORDINALITY AS u(request_id, unit, producer, epoch, seq, n)
     WHERE NOT EXISTS (SELECT 1 FROM usage_event e WHERE e.request_id = u.request_id AND e.unit = u.unit
       AND e.producer = u.producer AND e.epoch = u.epoch AND e.seq = u.seq)`,
    [
      arrayLiteral(units.map(({ request_id }) => request_id)),
      arrayLiteral(units.map(({ unit }) => unit)),
      arrayLiteral(units.map(({ producer }) => producer)),
      arrayLiteral(units.map(({ epoch }) => epoch)),
      arrayLiteral(units.map(({ seq }) => seq)),
    ],
  );
  return rows.map(({ n }) => units[Number(n) - 1]);
}

function name({ producer, epoch, seq }: Stamp): string {
  return `${producer}\n${epoch}\n${seq}`;
}
