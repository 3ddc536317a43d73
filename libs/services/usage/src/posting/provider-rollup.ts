import { Inject, Injectable } from '@nestjs/common';
import { CLOCK } from '@gateway/platform';
import type { Clock } from '@gateway/contracts';
import type pg from 'pg';
import { UsageDatabase } from '../postgres/usage-database.js';
import { UsageMetrics } from '../usage-metrics.js';
import { isOwedKnown, owedSql } from './provider-slots.js';

/** Longest time of one pass: after an upgrade the whole history is added up. */
const ROUND_MS = 20_000;
/** Events that one statement sums while all postings wait. */
const PART_EVENTS = 5_000;

/**
 * Adds what providers are owed for events of before the upgrade, backwards in the order of their ids. A posting holds `owed_from`
 * still, and adds units of a later id alone: each unit is added once, by its posting or by a part. A part is whole or not at all.
 */
@Injectable()
export class ProviderRollup {
  constructor(
    private readonly database: UsageDatabase,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(UsageMetrics) private readonly metrics: Pick<UsageMetrics, 'owedSummed'>,
  ) {}

  /** Adds parts as far as a pass's time allows. Answers how many. */
  async roll(): Promise<number> {
    const { clock, database, metrics } = this;
    const end = clock.monotonic() + ROUND_MS;
    let parts = 0;
    let isDone = await isOwedKnown(database.pool);
    metrics.owedSummed(isDone);
    for (; !isDone && clock.monotonic() < end; parts += 1) isDone = await database.transaction(addPart);
    metrics.owedSummed(isDone);
    return parts;
  }
}

/** True where nothing is left. Short, because postings wait. */
async function addPart(client: pg.PoolClient): Promise<boolean> {
  const { rows } = await client.query<{ owed_from: string | null }>(
    'SELECT owed_from FROM spend_window FOR UPDATE',
  );
  const [{ owed_from: before }] = rows;
  if (before === '') return true;
  const [left, values] = before === null ? ['TRUE', []] : ['e.request_id < $1', [before]];
  const { rows: cut } = await client.query<{ request_id: string }>(
    `SELECT request_id FROM usage_event e WHERE ${left} ORDER BY request_id DESC OFFSET ${PART_EVENTS} LIMIT 1`,
    values,
  );
  const from = cut.at(0)?.request_id ?? '';
  await client.query(
    `INSERT INTO provider_slot (provider, slot, amount) ${owedSql(`${left} AND e.request_id >= $${values.length + 1}`)}
     ON CONFLICT (provider, slot) DO UPDATE SET amount = provider_slot.amount + excluded.amount`,
    [...values, from],
  );
  await client.query('UPDATE spend_window SET owed_from = $1', [from]);
  return from === '';
}
