import { Inject, Injectable } from '@nestjs/common';
import { newId, type Clock, type Random } from '@gateway/contracts';
import { accountEventRow } from '@gateway/event-log';
import { Usd } from '@gateway/money';
import { CLOCK, RANDOM } from '@gateway/platform';
import { insertOutbox } from '../postgres/outbox-rows.js';
import { UsageDatabase } from '../postgres/usage-database.js';
import { PaymentsStore } from './payments.store.js';

/** An account whose recharge is due. */
export interface Due {
  account_id: string;
  org_id: string | null;
  amount: string;
}

/** A recharge that was scheduled and not charged yet. */
export interface Scheduled {
  id: string;
  amount: string;
  created_at: Date;
  customer: string | null;
  payment_method: string | null;
}

const ROUND_MAX = 50;

/** Recharges that are due or scheduled. */
@Injectable()
export class RechargesStore {
  constructor(
    private readonly database: UsageDatabase,
    private readonly payments: PaymentsStore,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  async due(): Promise<Due[]> {
    const { rows } = await this.database.pool.query<Due>(DUE, [new Date(this.clock.now()), ROUND_MAX, null]);
    return rows;
  }

  /** Returns what is scheduled, also what a process has left so. */
  async scheduled(): Promise<Scheduled[]> {
    const { rows } = await this.database.pool.query<Scheduled>(
      `SELECT p.id, p.amount::text, p.created_at, b.customer, b.payment_method FROM payment p LEFT JOIN billing b USING (account_id)
       WHERE p.kind = 'auto_recharge' AND p.state = 'pending' AND p.intent IS NULL ORDER BY p.created_at LIMIT $1`,
      [ROUND_MAX],
    );
    return rows;
  }

  /** Switches the account's recharges off. */
  async disable(accountId: string): Promise<void> {
    await this.database.pool.query(
      'UPDATE billing SET enabled = false, updated_at = $2 WHERE account_id = $1',
      [accountId, new Date(this.clock.now())],
    );
  }

  async schedule({ account_id, org_id }: Due): Promise<void> {
    const { clock, database, payments, random } = this;
    const id = newId('pay', clock, random);
    await database.transaction(async (client) => {
      // Two processes may find the same account, and one may have charged and credited it when the other comes to it.
      await client.query('SELECT 1 FROM billing WHERE account_id = $1 FOR UPDATE', [account_id]);
      const { rows } = await client.query<Due>(DUE, [new Date(clock.now()), 1, account_id]);
      if (rows.length === 0) return;
      const amount = Usd.parse(rows[0].amount);
      const row = { id, kind: 'auto_recharge', accountId: account_id, orgId: org_id, userId: null } as const;
      await payments.insert(client, { ...row, amount });
      const data = { amount_usd: amount.toString(), scheduled_payment_id: id };
      const event = { account_id, org_id, type: 'auto_recharge.triggered', data } as const;
      await insertOutbox(client, [accountEventRow(event, '/usage', { clock, random })]);
    });
  }
}

/**
 * Accounts below their threshold that have no recharge under way, and whose recharges of the month stay within their limit
 * with this one; $3 alone where it is not null.
 */
const DUE = `
SELECT b.account_id, b.org_id, b.amount::text FROM billing b LEFT JOIN account a ON a.id = b.account_id
WHERE ($3::text IS NULL OR b.account_id = $3)
  AND b.enabled AND coalesce(a.posted, 0) < b.threshold AND (b.next_attempt_at IS NULL OR b.next_attempt_at <= $1)
  AND NOT EXISTS (SELECT 1 FROM payment p WHERE p.account_id = b.account_id AND p.kind = 'auto_recharge' AND p.state = 'pending')
  AND (b.monthly_limit IS NULL OR b.amount + coalesce((SELECT sum(p.amount) FROM payment p
    WHERE p.account_id = b.account_id AND p.kind = 'auto_recharge' AND p.state IN ('pending', 'succeeded')
      AND p.created_at >= date_trunc('month', $1::timestamptz, 'UTC')), 0) <= b.monthly_limit)
ORDER BY b.account_id LIMIT $2`;
