import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, RANDOM } from '@gateway/platform';
import { newId, type Clock, type NewAccountEvent, type Random } from '@gateway/contracts';
import { Usd } from '@gateway/money';
import type { AuditRow } from '@gateway/database';
import { accountEventRow } from '@gateway/event-log';
import type pg from 'pg';
import { moveMoney, type Moved } from '../ledger/move-money.js';
import { insertAudit } from '../postgres/audit-rows.js';
import { insertOutbox } from '../postgres/outbox-rows.js';
import { UsageDatabase } from '../postgres/usage-database.js';
import type { PaymentFact } from './payment-fact.js';

const PROVIDER = 'stripe';
const CURRENCY = 'USD';

export interface PaymentRow {
  id: string;
  account_id: string;
  org_id: string | null;
  kind: 'card_top_up' | 'auto_recharge';
  state: 'pending' | 'succeeded' | 'failed' | 'expired';
  amount: string;
  intent: string | null;
}

const PAYMENT = 'id, account_id, org_id, kind, state, amount::text, intent';
const PARKED_MAX = 1_000;
const HOUR_MS = 3_600_000;
const RETRY_HOURS = [1, 6, 24];

/**
 * Payments and what their provider reports of them. Each report is applied once; one that comes before the payment it is
 * about waits for it: in whatever order they come and however often, the books end the same.
 */
@Injectable()
export class PaymentsStore {
  constructor(
    private readonly database: UsageDatabase,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  async open(
    payment: { accountId: string; orgId: string | null; userId: string; amount: Usd },
    audit: AuditRow,
  ): Promise<string> {
    const { clock, database, random } = this;
    const id = newId('pay', clock, random);
    await database.transaction(async (client) => {
      await this.insert(client, { id, kind: 'card_top_up', ...payment });
      await insertAudit(client, audit);
    });
    return id;
  }

  /** Throws where a recharge of the account is under way: an index lets one wait. */
  async insert(
    client: Pick<pg.PoolClient, 'query'>,
    row: {
      id: string;
      kind: PaymentRow['kind'];
      accountId: string;
      orgId: string | null;
      userId: string | null;
      amount: Usd;
    },
  ): Promise<void> {
    await client.query(
      `INSERT INTO payment (id, account_id, org_id, user_id, kind, state, amount, currency, provider, created_at, updated_at)
       VALUES ($1, $2, $3, $4, $5, 'pending', $6, $7, $8, $9, $9)`,
      [
        row.id,
        row.accountId,
        row.orgId,
        row.userId,
        row.kind,
        row.amount.toString(),
        CURRENCY,
        PROVIDER,
        this.now(),
      ],
    );
  }

  /** Applies a report, and those that waited for it. @returns the account whose balance may have moved. */
  async report(fact: PaymentFact, value: unknown): Promise<string | null> {
    return this.database.transaction(async (client) => {
      // Two reports of one charge wait for each other: one may be parked while the other names the payment.
      const name = fact.intent ?? fact.paymentId ?? fact.eventId;
      await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [name]);
      const { rowCount } = await client.query(
        `INSERT INTO payment_event (id, type, intent, value, received_at) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (id) DO NOTHING`,
        [fact.eventId, fact.type, fact.intent, JSON.stringify(value), this.now()],
      );
      if (rowCount === 0) return null;
      const payment = await this.paymentOf(client, fact);
      if (payment === null) return null;
      await this.applied(client, fact, payment);
      return payment.account_id;
    });
  }

  /** Reports of the charge that came before the payment was known to be its. */
  async parked(intent: string): Promise<unknown[]> {
    const { rows } = await this.database.pool.query<{ value: unknown }>(
      `SELECT value FROM payment_event WHERE intent = $1 AND applied_at IS NULL ORDER BY received_at LIMIT $2`,
      [intent, PARKED_MAX],
    );
    return rows.map(({ value }) => value);
  }

  /** Applies a report that waited. */
  async reapply(fact: PaymentFact): Promise<string | null> {
    return this.database.transaction(async (client) => {
      const { rowCount } = await client.query(
        'SELECT 1 FROM payment_event WHERE id = $1 AND applied_at IS NULL FOR UPDATE',
        [fact.eventId],
      );
      const payment = rowCount === 0 ? null : await this.paymentOf(client, fact);
      if (payment === null) return null;
      await this.applied(client, fact, payment);
      return payment.account_id;
    });
  }

  /** A charge that we made and that was answered at once. */
  async settle(paymentId: string, outcome: Outcome): Promise<string | null> {
    return this.database.transaction(async (client) => {
      const { rows } = await client.query<PaymentRow>(
        `SELECT ${PAYMENT} FROM payment WHERE id = $1 FOR UPDATE`,
        [paymentId],
      );
      const payment = rows.at(0);
      if (payment === undefined) return null;
      if (outcome.intent !== null)
        await client.query('UPDATE payment SET intent = coalesce(intent, $2) WHERE id = $1', [
          paymentId,
          outcome.intent,
        ]);
      if (outcome.isCaptured) await this.capture(client, payment, Usd.parse(payment.amount));
      else await this.fail(client, payment, outcome.reason);
      return payment.account_id;
    });
  }

  /** A charge that we made and that is under way: it is not asked for again. */
  async await(paymentId: string, intent: string): Promise<void> {
    await this.database.pool.query('UPDATE payment SET intent = coalesce(intent, $2) WHERE id = $1', [
      paymentId,
      intent,
    ]);
  }

  private async paymentOf(
    client: pg.PoolClient,
    { intent, paymentId }: PaymentFact,
  ): Promise<PaymentRow | null> {
    const { rows } = await client.query<PaymentRow>(
      `SELECT ${PAYMENT} FROM payment WHERE id = $1 OR intent = $2 ORDER BY id = $1 DESC LIMIT 1 FOR UPDATE`,
      [paymentId, intent],
    );
    const payment = rows.at(0) ?? null;
    if (payment !== null && payment.intent === null && intent !== null)
      await client.query('UPDATE payment SET intent = $2 WHERE id = $1', [payment.id, intent]);
    return payment;
  }

  private async applied(client: pg.PoolClient, fact: PaymentFact, payment: PaymentRow): Promise<void> {
    await client.query('UPDATE payment_event SET applied_at = $2 WHERE id = $1', [fact.eventId, this.now()]);
    switch (fact.kind) {
      case 'captured':
        // First: it reads whether recharges have failed before, which a card that is kept makes good.
        await this.capture(client, payment, fact.amount);
        if (fact.customer !== null && fact.paymentMethod !== null)
          await this.keepCard(client, payment, fact.customer, fact.paymentMethod);
        return;
      case 'failed':
        return this.fail(client, payment, fact.reason);
      case 'expired':
        await this.enter(client, payment, 'expired', null);
        return;
      case 'refund':
        return this.refund(client, payment, fact);
      case 'dispute': {
        const kind = fact.isReinstated ? 'dispute_reversal' : 'dispute';
        const amount = fact.isReinstated ? fact.amount : fact.amount.neg();
        await this.move(client, payment, { kind, source: fact.id, amount });
      }
    }
  }

  private async capture(client: pg.PoolClient, payment: PaymentRow, amount: Usd): Promise<void> {
    const isOwn = payment.kind === 'card_top_up';
    const kind = isOwn ? 'payment' : 'auto_recharge';
    const moved = await this.move(client, payment, { kind, source: payment.id, amount });
    if (!moved.isNew) return;
    await client.query(
      `UPDATE payment SET state = 'succeeded', reason = NULL, amount = $2, updated_at = $3 WHERE id = $1`,
      [payment.id, amount.toString(), this.now()],
    );
    const names = { payment_event_id: `txn_${moved.transferId}`, payment_id: payment.id };
    const [amount_usd, balance] = [amount.toString(), moved.balanceAfter.toString()];
    const { payment_event_id } = names;
    const of = { account_id: payment.account_id, org_id: payment.org_id };
    const events: NewAccountEvent[] = [
      {
        ...of,
        type: 'balance.credited',
        data: { amount_usd, balance_after: balance, payment_event_id, source: kind },
      },
      {
        ...of,
        type: 'payment.succeeded',
        data: { ...names, provider: PROVIDER, currency: CURRENCY, amount_usd },
      },
    ];
    if (!isOwn) {
      const recovered = await this.recovered(client, payment.account_id);
      const data = { ...names, amount_usd, current_balance_usd: balance, recovered };
      events.push({ ...of, type: 'auto_recharge.succeeded', data });
    }
    await this.emit(client, events);
  }

  /** A payment that was credited stays so; one of ours fails once, one at the provider's page as often as it is tried. */
  private async fail(client: pg.PoolClient, payment: PaymentRow, reason: string): Promise<void> {
    const isOwn = payment.kind === 'card_top_up';
    if (payment.state === 'succeeded' || (!isOwn && payment.state === 'failed')) return;
    await this.enter(client, payment, isOwn ? payment.state : 'failed', reason);
    const of = { account_id: payment.account_id, org_id: payment.org_id };
    const amount_usd = Usd.parse(payment.amount).toString();
    const failed = { payment_id: payment.id, provider: PROVIDER, currency: CURRENCY, amount_usd, reason };
    const events: NewAccountEvent[] = [
      { ...of, type: 'payment.failed', data: { ...failed, source: payment.kind } },
    ];
    if (!isOwn) {
      events.push({ ...of, type: 'auto_recharge.failed', data: { reason, amount_usd } });
      await this.backOff(client, payment.account_id);
    }
    await this.emit(client, events);
  }

  /** A refund that fails after all comes back, in whatever order the two are reported. */
  private async refund(
    client: pg.PoolClient,
    payment: PaymentRow,
    { id, amount, isFailed }: Extract<PaymentFact, { kind: 'refund' }>,
  ): Promise<void> {
    const { rows } = await client.query<{ taken: boolean; failed: boolean }>(
      `SELECT EXISTS (SELECT 1 FROM transfer WHERE kind = 'refund' AND source = $1) AS taken,
         EXISTS (SELECT 1 FROM payment_event WHERE intent = $2 AND value #>> '{data,object,id}' = $1
           AND value #>> '{data,object,status}' IN ('failed', 'canceled')) AS failed`,
      [id, payment.intent],
    );
    const [{ taken, failed }] = rows;
    if (isFailed && taken) await this.move(client, payment, { kind: 'refund_reversal', source: id, amount });
    if (!isFailed && !failed)
      await this.move(client, payment, { kind: 'refund', source: id, amount: amount.neg() });
  }

  private move(
    client: pg.PoolClient,
    { account_id: accountId, org_id: orgId }: PaymentRow,
    move: Pick<Parameters<typeof moveMoney>[1], 'kind' | 'source' | 'amount'>,
  ): Promise<Moved> {
    const { clock, random } = this;
    const whole = { ...move, accountId, orgId, counterparty: 'cash', reason: null } as const;
    return moveMoney(client, whole, { clock, random });
  }

  private async enter(
    client: pg.PoolClient,
    { id }: PaymentRow,
    state: PaymentRow['state'],
    reason: string | null,
  ): Promise<void> {
    await client.query(
      `UPDATE payment SET state = $2, reason = $3, updated_at = $4 WHERE id = $1 AND state <> 'succeeded'`,
      [id, state, reason, this.now()],
    );
  }

  private async keepCard(
    client: pg.PoolClient,
    payment: PaymentRow,
    customer: string,
    method: string,
  ): Promise<void> {
    await client.query(
      `INSERT INTO billing (account_id, org_id, customer, payment_method, updated_at) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (account_id) DO UPDATE SET customer = excluded.customer, payment_method = excluded.payment_method,
         failures = 0, next_attempt_at = NULL`,
      [payment.account_id, payment.org_id, customer, method, this.now()],
    );
  }

  private async recovered(client: pg.PoolClient, accountId: string): Promise<boolean> {
    const { rows } = await client.query<{ failures: number }>(
      `UPDATE billing SET failures = 0, next_attempt_at = NULL FROM (SELECT failures AS before FROM billing
         WHERE account_id = $1) AS b WHERE account_id = $1 RETURNING b.before AS failures`,
      [accountId],
    );
    return (rows.at(0)?.failures ?? 0) > 0;
  }

  private async backOff(client: pg.PoolClient, accountId: string): Promise<void> {
    const hours = RETRY_HOURS.map((each) => each * HOUR_MS);
    await client.query(
      `UPDATE billing SET failures = failures + 1,
         next_attempt_at = $2::timestamptz + ($3::bigint[])[least(failures + 1, ${RETRY_HOURS.length})] * interval '1 ms'
       WHERE account_id = $1`,
      [accountId, this.now(), hours],
    );
  }

  private async emit(client: pg.PoolClient, events: readonly NewAccountEvent[]): Promise<void> {
    const { clock, random } = this;
    await insertOutbox(
      client,
      events.map((event) => accountEventRow(event, '/usage', { clock, random })),
    );
  }

  private now(): Date {
    return new Date(this.clock.now());
  }
}

export type Outcome = { intent: string | null } & (
  { isCaptured: true } | { isCaptured: false; reason: string }
);
