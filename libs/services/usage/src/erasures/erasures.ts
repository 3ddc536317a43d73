import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, LOGGER, RANDOM } from '@gateway/platform';
import {
  Directory,
  newId,
  ResponseStore,
  type Clock,
  type ErasureRecord,
  type Random,
} from '@gateway/contracts';
import { accountEventRow, OutboxRelay } from '@gateway/event-log';
import type { Logger } from 'pino';
import { forgetCarried } from '../posting/carried-scopes.js';
import { detailWithoutEndUser, withoutEndUser } from '../posting/event-detail.js';
import { insertAudit } from '../postgres/audit-rows.js';
import { insertOutbox } from '../postgres/outbox-rows.js';
import { UsageDatabase } from '../postgres/usage-database.js';
import type { AuditRow } from '@gateway/database';

interface ErasureRow {
  id: string;
  account_id: string;
  end_user_hash: string;
  status: ErasureRecord['status'];
  records_updated: string;
  created_at: Date;
  completed_at: Date | null;
}

const ROWS_AT_ONCE = 5_000;
const ERASURES_AT_ONCE = 20;
/** A posting that began before the tombstone was there has ended by then, one way or the other. */
const SWEEP_AFTER_MS = 60_000;
const ROW = 'id, account_id, end_user_hash, status, records_updated::text, created_at, completed_at';

/**
 * Forgets end users: a tombstone first, then usage records part by part, memories in the keys service and stored responses
 * in the workers service. A receipt is completed when all of them have answered; a crash or an absent service delays it.
 */
@Injectable()
export class Erasures {
  constructor(
    private readonly database: UsageDatabase,
    private readonly directory: Directory,
    private readonly responses: ResponseStore,
    @Inject(OutboxRelay) private readonly outbox: Pick<OutboxRelay, 'wake'>,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Tombstone, receipt and event stand together; the rest follows, now where it can. */
  async begin(
    of: { accountId: string; orgId: string; endUserHash: string; requestedBy: string },
    audit: (id: string) => AuditRow,
  ): Promise<ErasureRecord> {
    const { clock, database, random, logger } = this;
    const { accountId, orgId, endUserHash } = of;
    const id = newId('era', clock, random);
    const now = new Date(clock.now());
    await database.transaction(async (client) => {
      await client.query(
        `INSERT INTO erased_end_user AS e (account_id, end_user_hash, erased_at) VALUES ($1, $2, $3)
         ON CONFLICT (account_id, end_user_hash) DO UPDATE SET erased_at = greatest(e.erased_at, excluded.erased_at)`,
        [accountId, endUserHash, now],
      );
      await client.query(
        `INSERT INTO erasure (id, account_id, org_id, end_user_hash, status, requested_by, created_at)
         VALUES ($1, $2, $3, $4, 'running', $5, $6)`,
        [id, accountId, orgId, endUserHash, of.requestedBy, now],
      );
      const data = { end_user_hash: endUserHash, erased_at: now.toISOString() };
      const event = { account_id: accountId, org_id: orgId, type: 'end_user.erased', data } as const;
      await insertOutbox(client, [accountEventRow(event, '/usage', { clock, random })]);
      await insertAudit(client, audit(id));
    });
    this.outbox.wake();
    await this.advance().catch((failure: unknown) =>
      logger.warn({ err: failure }, 'an erasure is not done yet and goes on'),
    );
    const made = await this.read(accountId, id);
    return (
      made ?? { id, status: 'running', records_updated: 0, created_at: now.toISOString(), completed_at: null }
    );
  }

  /** The receipt; null where the account has no such erasure. */
  async read(accountId: string, id: string): Promise<ErasureRecord | null> {
    const { rows } = await this.database.pool.query<ErasureRow>(
      `SELECT ${ROW} FROM erasure WHERE account_id = $1 AND id = $2`,
      [accountId, id],
    );
    const row = rows.at(0);
    if (row === undefined) return null;
    const { status, records_updated, created_at, completed_at } = row;
    return {
      id,
      status,
      records_updated: Number(records_updated),
      created_at: created_at.toISOString(),
      completed_at: completed_at?.toISOString() ?? null,
    };
  }

  /**
   * Goes on with what runs, and looks once more at what has ended a minute ago. Throws the first failure once the others have
   * were tried.
   */
  async advance(): Promise<void> {
    const now = this.clock.now();
    const { rows } = await this.database.pool.query<ErasureRow>(
      `SELECT ${ROW} FROM erasure WHERE swept_at IS NULL AND (status = 'running' OR completed_at < $1)
       ORDER BY created_at LIMIT $2`,
      [new Date(now - SWEEP_AFTER_MS), ERASURES_AT_ONCE],
    );
    const failures: unknown[] = [];
    for (const erasure of rows)
      await this.goOn(erasure, new Date(now)).catch((failure: unknown) => failures.push(failure));
    if (failures.length > 0) throw failures[0];
  }

  private async goOn(erasure: ErasureRow, now: Date): Promise<void> {
    const { id, status, account_id, end_user_hash, created_at } = erasure;
    await this.clear(erasure);
    // An answer that was under way at the erasure is kept after it: the second look removes it.
    await this.responses.forget(account_id, end_user_hash, created_at);
    if (status === 'running') await this.directory.forget(account_id, end_user_hash);
    await this.database.pool.query(
      status === 'running'
        ? `UPDATE erasure SET status = 'completed', completed_at = $2 WHERE id = $1`
        : 'UPDATE erasure SET swept_at = $2 WHERE id = $1',
      [id, now],
    );
  }

  private async clear(erasure: ErasureRow): Promise<void> {
    const { id, account_id, end_user_hash, created_at } = erasure;
    await this.removeContents(erasure);
    const scope = { kind: 'end_user', id: end_user_hash } as const;
    await this.database.transaction((client) => forgetCarried(client, account_id, scope));
    for (;;) {
      const { rows } = await this.database.pool.query<{ cleared: number }>(
        `WITH cleared AS (
           UPDATE usage_event AS event SET end_user_hash = NULL, limits = CASE WHEN limits::text LIKE '%"end_user"%'
             THEN ${withoutEndUser('limits')} ELSE limits END, detail = CASE WHEN detail LIKE '%"end_user"%'
             THEN ${detailWithoutEndUser('detail')} ELSE detail END FROM (SELECT request_id, unit FROM usage_event
             WHERE account_id = $1 AND end_user_hash = $2 AND created_at <= $3 LIMIT ${ROWS_AT_ONCE}) AS found
           WHERE event.request_id = found.request_id AND event.unit = found.unit RETURNING 1
         )
         UPDATE erasure SET records_updated = records_updated + (SELECT count(*) FROM cleared) WHERE id = $4
         RETURNING (SELECT count(*)::int FROM cleared) AS cleared`,
        [account_id, end_user_hash, created_at, id],
      );
      if ((rows.at(0)?.cleared ?? 0) < ROWS_AT_ONCE) return;
    }
  }

  /** Logged bodies go whole: nobody can say where in them an end user is named. */
  private async removeContents({ account_id, end_user_hash, created_at }: ErasureRow): Promise<void> {
    for (;;) {
      const { rowCount } = await this.database.pool.query(
        `DELETE FROM request_content WHERE ctid = ANY (ARRAY(SELECT ctid FROM request_content
           WHERE account_id = $1 AND end_user_hash = $2 AND created_at <= $3 LIMIT ${ROWS_AT_ONCE}))`,
        [account_id, end_user_hash, created_at],
      );
      if ((rowCount ?? 0) < ROWS_AT_ONCE) return;
    }
  }
}
