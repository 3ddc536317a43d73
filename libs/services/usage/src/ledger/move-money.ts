import { uuidv7, type Clock, type Random } from '@gateway/contracts';
import { Usd } from '@gateway/money';
import { accountEventRow } from '@gateway/event-log';
import type pg from 'pg';
import { insertOutbox } from '../postgres/outbox-rows.js';

/** Money between a customer and an account of the platform. */
export interface MoneyMove {
  kind:
    | 'admin_grant'
    | 'coupon'
    | 'payment'
    | 'auto_recharge'
    | 'refund'
    | 'refund_reversal'
    | 'dispute'
    | 'dispute_reversal';
  /** Unique with the kind: a repeat moves nothing. */
  source: string;
  accountId: string;
  orgId: string | null;
  /** Added to the customer's balance; below 0 it is taken from it. */
  amount: Usd;
  counterparty: 'promo' | 'cash';
  reason: string | null;
}

export interface Moved {
  /** False where this source had moved money already. */
  isNew: boolean;
  transferId: string;
  balanceAfter: Usd;
}

interface Deps {
  clock: Clock;
  random: Random;
}

/** Both accounts and the transfer between them, and the movement that thresholds are read from. */
export async function moveMoney(client: pg.PoolClient, move: MoneyMove, deps: Deps): Promise<Moved> {
  const { kind, source, accountId, orgId, amount, counterparty, reason } = move;
  const at = new Date(deps.clock.now());
  const isTaken = amount.isNegative();
  const [debit, credit] = isTaken ? [accountId, counterparty] : [counterparty, accountId];
  const { rows } = await client.query<{ id: string }>(
    `INSERT INTO transfer (id, kind, source, debit, credit, amount, reason, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (kind, source) DO NOTHING RETURNING id`,
    [
      uuidv7(deps.clock, deps.random),
      kind,
      source,
      debit,
      credit,
      (isTaken ? amount.neg() : amount).toString(),
      reason,
      at,
    ],
  );
  if (rows.length === 0) return repeated(client, move);
  const balanceAfter = await changeBoth(client, move, at);
  const data = {
    balance_before: balanceAfter.minus(amount).toString(),
    balance_after: balanceAfter.toString(),
  };
  await insertOutbox(client, [
    accountEventRow({ account_id: accountId, org_id: orgId, type: 'balance.movement', data }, '/usage', deps),
  ]);
  await oweProjection(client, accountId, rows[0].id);
  return { isNew: true, transferId: rows[0].id, balanceAfter };
}

/**
 * A credit is reported to the limit store once it stands. Where this process dies before, or the store does not answer,
 * nothing else would report it: an account that is refused has no units. So it stands among the debts to the store, by
 * the transfer in place of a unit.
 */
async function oweProjection(client: pg.PoolClient, accountId: string, transferId: string): Promise<void> {
  await client.query('INSERT INTO mirror_debt (account_id, request_id, unit) VALUES ($1, $2, 0)', [
    accountId,
    transferId,
  ]);
}

async function repeated(client: pg.PoolClient, { kind, source, accountId }: MoneyMove): Promise<Moved> {
  const { rows } = await client.query<{ id: string; posted: string }>(
    `SELECT t.id, a.posted::text FROM transfer t, account a WHERE t.kind = $1 AND t.source = $2 AND a.id = $3`,
    [kind, source, accountId],
  );
  return { isNew: false, transferId: rows[0].id, balanceAfter: Usd.parse(rows[0].posted) };
}

/** Changes both accounts in id order, as every posting locks them. */
async function changeBoth(client: pg.PoolClient, move: MoneyMove, at: Date): Promise<Usd> {
  const { accountId, counterparty, amount } = move;
  const changes = [
    { id: accountId, kind: 'customer', orgId: move.orgId, delta: amount },
    { id: counterparty, kind: counterparty, orgId: null, delta: amount.neg() },
  ].toSorted((a, b) => (a.id < b.id ? -1 : 1));
  let after = Usd.zero;
  for (const { id, kind, orgId, delta } of changes) {
    const { rows } = await client.query<{ posted: string }>(
      `INSERT INTO account AS a (id, kind, org_id, posted, version, updated_at) VALUES ($1, $2, $3, $4, 1, $5)
       ON CONFLICT (id) DO UPDATE SET posted = a.posted + excluded.posted, version = a.version + 1,
         org_id = coalesce(a.org_id, excluded.org_id), updated_at = excluded.updated_at
       RETURNING posted::text`,
      [id, kind, orgId, delta.toString(), at],
    );
    if (id === accountId) after = Usd.parse(rows[0].posted);
  }
  return after;
}
