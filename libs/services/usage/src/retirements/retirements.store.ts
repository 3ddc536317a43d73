import { Inject, Injectable } from '@nestjs/common';
import type { Clock, Random } from '@gateway/contracts';
import { accountEventRow, type OutboxRow } from '@gateway/event-log';
import { CLOCK, RANDOM } from '@gateway/platform';
import type pg from 'pg';
import { insertOutbox } from '../postgres/outbox-rows.js';
import { UsageDatabase } from '../postgres/usage-database.js';
import { SLOT_MS } from '../posting/sums.js';
import type { RetiringModel } from './retiring-models.js';

const USED_MS = 30 * 86_400_000;
/** Organizations of one transaction. */
const ORGS_AT_ONCE = 200;

/** Requests of an organization that a model has served. */
interface Use {
  org_id: string;
  account_id: string;
  model: string;
  requests: string;
  /** The last quarter of an hour that has some. */
  slot: Date;
}

/** Notices of models that are retired: who used them, and who has been told. */
@Injectable()
export class RetirementsStore {
  constructor(
    private readonly database: UsageDatabase,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  /** Returns organizations that used anything in the last 30 days, by id, so many as one transaction takes. */
  async organizationsAfter(orgId: string): Promise<string[]> {
    const { rows } = await this.database.pool.query<{ org_id: string }>(
      `SELECT DISTINCT org_id FROM account WHERE org_id > $1 AND updated_at >= $2 ORDER BY org_id LIMIT $3`,
      [orgId, this.usedSince(), ORGS_AT_ONCE],
    );
    return rows.map(({ org_id }) => org_id);
  }

  /**
   * Adds an event for each of these organizations and models that has been used and not been told of. Row and event stand
   * in one transaction, and one process at most writes the row.
   * @returns how many events were added.
   */
  async tell(orgs: readonly string[], models: readonly RetiringModel[]): Promise<number> {
    const { clock, database, random } = this;
    const known = new Map(models.map((model) => [model.model, model]));
    return database.transaction(async (client) => {
      const { rows: uses } = await client.query<Use>(USES, [orgs, [...known.keys()], this.usedSince()]);
      const events: OutboxRow[] = [];
      for (const use of uses) {
        const model = known.get(use.model);
        if (model === undefined || !(await this.isNew(client, use.org_id, model))) continue;
        const last_used_at = await lastUse(client, use);
        const data = { ...model, requests_30d: Number(use.requests), last_used_at };
        const { account_id, org_id } = use;
        events.push(
          accountEventRow({ account_id, org_id, type: 'model.retiring', data }, '/usage', { clock, random }),
        );
      }
      await insertOutbox(client, events);
      return events.length;
    });
  }

  /** Removes the rows of models that have been gone for 30 days. */
  async forgetOld(): Promise<void> {
    await this.database.pool.query('DELETE FROM retirement_notice WHERE retires_at < $1', [this.usedSince()]);
  }

  /** A process that comes second waits for the first one's end. */
  private async isNew(client: pg.PoolClient, orgId: string, model: RetiringModel): Promise<boolean> {
    const { rowCount } = await client.query(
      `INSERT INTO retirement_notice (org_id, model, retires_at, days_left, created_at) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT DO NOTHING`,
      [orgId, model.model, model.retires_at, model.days_left, new Date(this.clock.now())],
    );
    return rowCount === 1;
  }

  private usedSince(): Date {
    return new Date(Math.floor((this.clock.now() - USED_MS) / SLOT_MS) * SLOT_MS);
  }
}

/** Uses in one order, so that two processes wait for each other and never in a circle. */
const USES = `
SELECT s.org_id, min(s.account_id) AS account_id, s.model, sum(s.requests)::text AS requests, max(s.slot) AS slot
FROM account a JOIN usage_slot s ON s.account_id = a.id
WHERE a.org_id = ANY ($1) AND s.org_id = a.org_id AND s.model = ANY ($2) AND s.slot >= $3 AND s.status = 'success'
GROUP BY s.org_id, s.model ORDER BY s.org_id, s.model`;

async function lastUse(client: pg.PoolClient, { org_id, model, slot }: Use): Promise<string> {
  const { rows } = await client.query<{ at: Date | null }>(
    `SELECT max(e.created_at) AS at FROM account a JOIN usage_event e ON e.account_id = a.id
     WHERE a.org_id = $1 AND e.model = $2 AND e.created_at >= $3 AND e.created_at < $4 AND e.status = 'success'`,
    [org_id, model, slot, new Date(slot.getTime() + SLOT_MS)],
  );
  return (rows[0].at ?? slot).toISOString();
}
