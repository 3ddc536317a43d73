import { newId, TOPIC, type Clock, type Random, type UsageRecord } from '@gateway/contracts';
import type { Usd } from '@gateway/money';
import { outboxRow } from '@gateway/event-log';
import type { OutboxRow } from '../postgres/outbox-rows.js';
import type { Posting } from './posting.js';
import type { Balance, Total } from './posting-rows.js';

interface Moved {
  fresh: readonly UsageRecord[];
  posting: Posting;
  balances: readonly Balance[];
  totals: readonly Total[];
}

/**
 * Balance movements per account and spend movements per capped key, for the notifications service. The movements of
 * one account or key are a chain: each begins where the one before has ended, because its row was locked.
 */
export function movements(
  { fresh, posting, balances, totals }: Moved,
  sources: { clock: Clock; random: Random },
): OutboxRow[] {
  const orgs = new Map(fresh.map((unit) => [unit.account_id, unit.org_id ?? null]));
  const caps = keyCaps(fresh);
  const rows: OutboxRow[] = [];
  const add = (type: 'balance.movement' | 'spend.movement', accountId: string, moved: object): void => {
    const id = newId('evt', sources.clock, sources.random);
    const created_at = new Date(sources.clock.now()).toISOString();
    const data = {
      id,
      type,
      created_at,
      account_id: accountId,
      org_id: orgs.get(accountId) ?? null,
      data: moved,
    };
    rows.push(outboxRow({ topic: TOPIC.account, key: accountId, source: '/usage', id, data }, sources));
  };
  const deltas = new Map(posting.accounts.map((account) => [account.id, account.delta]));
  for (const { id, posted } of balances) {
    const delta = deltas.get(id);
    if (delta === undefined || delta.isZero()) continue;
    add('balance.movement', id, {
      balance_before: posted.minus(delta).toString(),
      balance_after: posted.toString(),
    });
  }
  const after = new Map<string, Usd>();
  for (const { accountId, scope, scopeId, amount } of totals)
    if (scope === 'key') after.set(`${accountId}\n${scopeId}`, amount);
  for (const { accountId, scopeId, scope, amount } of posting.totals) {
    const name = `${accountId}\n${scopeId}`;
    const [cap, spent] = [caps.get(name), after.get(name)];
    if (scope !== 'key' || cap === undefined || spent === undefined) continue;
    add('spend.movement', accountId, {
      key_id: scopeId,
      spent_before: spent.minus(amount).toString(),
      spent_after: spent.toString(),
      cap_usd: cap,
    });
  }
  return rows;
}

/** The last cap that admission saw on each key. */
function keyCaps(fresh: readonly UsageRecord[]): Map<string, string> {
  const caps = new Map<string, string>();
  for (const { account_id, key_id, limits } of fresh) {
    const name = `${account_id}\n${key_id}`;
    const cap = limits.find(({ scope, scope_id }) => scope === 'key' && scope_id === key_id)?.cap_usd;
    if (cap) caps.set(name, cap);
    else caps.delete(name);
  }
  return caps;
}
