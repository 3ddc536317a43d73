import { uuidv7, type Clock, type Random, type UsageRecord } from '@gateway/contracts';
import type pg from 'pg';
import { insertOutbox } from '../postgres/outbox-rows.js';
import type { UsageDatabase } from '../postgres/usage-database.js';
import { isCharged } from './charged.js';
import { insertDeadLetters } from './dead-letters.js';
import { movements } from './movements.js';
import { planPosting, type Posting } from './posting.js';
import {
  addHours,
  addTotals,
  holdWindow,
  insertEvents,
  insertRejections,
  insertTransfers,
  moveAccounts,
  raiseWatermarks,
  type Balance,
  type Total,
} from './posting-rows.js';
import { CRASH_CODE, type ReadBatch, type Stamp } from './read-batch.js';

interface StoreDeps {
  database: UsageDatabase;
  clock: Clock;
  random: Random;
}

/** What a batch has done. */
export interface Posted {
  /** The units that are new. */
  fresh: UsageRecord[];
  /** Accounts and totals as the commit left them: their rows were locked, so together they are one snapshot. */
  balances: Balance[];
  totals: Total[];
}

/** Posts a batch in one transaction (money-and-limits 5). */
export class PostingStore {
  constructor(private readonly deps: StoreDeps) {}

  /** A redelivered batch changes nothing. Throws what PostgreSQL says. */
  async post(batch: ReadBatch): Promise<Posted> {
    const units = onePerUnit(batch);
    const transferIds = this.drawTransfers(units);
    const at = new Date(this.deps.clock.now()).toISOString();
    return this.deps.database.transaction(async (client) => {
      const lapsedTo = await holdWindow(client);
      const fresh = await insertEvents(client, units, transferIds);
      const context = { transferIds, houseTransferId: this.uuid(), lapsedTo };
      const posting = fresh.length > 0 ? planPosting(fresh, context) : null;
      const moved =
        posting === null ? { balances: [], totals: [] } : await this.move(client, fresh, posting, at);
      await insertRejections(
        client,
        batch.rejections.map(({ rejection }) => rejection),
      );
      await insertDeadLetters(client, batch.unusable, this.deps);
      await raiseWatermarks(client, stampsOf(batch));
      await moveAccounts(client, posting?.system ?? [], at);
      return { fresh, ...moved };
    });
  }

  private drawTransfers(units: readonly UsageRecord[]): Map<string, string> {
    const ids = new Map<string, string>();
    for (const unit of units) {
      if (!ids.has(unit.account_id) && isCharged(unit)) ids.set(unit.account_id, this.uuid());
    }
    return ids;
  }

  private async move(
    client: pg.PoolClient,
    fresh: readonly UsageRecord[],
    posting: Posting,
    at: string,
  ): Promise<Omit<Posted, 'fresh'>> {
    const balances = await moveAccounts(client, posting.accounts, at);
    await insertTransfers(client, posting, at);
    await addHours(client, posting);
    const totals = await addTotals(client, posting);
    await insertOutbox(client, movements({ fresh, posting, balances, totals }, this.deps));
    return { balances, totals };
  }

  private uuid(): string {
    return uuidv7(this.deps.clock, this.deps.random);
  }
}

/** A batch may hold a unit several times; a real outcome goes before one for a died process. In key order. */
function onePerUnit(batch: ReadBatch): UsageRecord[] {
  const units = new Map<string, UsageRecord>();
  for (const { usage } of batch.usage) {
    const name = `${usage.request_id}/${usage.unit}`;
    const known = units.get(name);
    if (known === undefined || known.error_code === CRASH_CODE) units.set(name, usage);
  }
  return [...units].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, unit]) => unit);
}

function stampsOf(batch: ReadBatch): Stamp[] {
  return [
    ...batch.usage.map(({ usage }) => usage),
    ...batch.rejections.map(({ rejection }) => rejection),
    ...batch.unusable.flatMap(({ stamp }) => stamp ?? []),
  ];
}
