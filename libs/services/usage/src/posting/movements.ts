import type { Clock, NewAccountEvent, Random, UsageRecord } from '@gateway/contracts';
import type { Usd } from '@gateway/money';
import { accountEventRow, type OutboxRow } from '@gateway/event-log';
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
  const add = (event: NewAccountEvent): void => void rows.push(accountEventRow(event, '/usage', sources));
  const deltas = new Map(posting.accounts.map((account) => [account.id, account.delta]));
  for (const { id, posted } of balances) {
    const delta = deltas.get(id);
    if (delta === undefined || delta.isZero()) continue;
    add({
      type: 'balance.movement',
      account_id: id,
      org_id: orgs.get(id) ?? null,
      data: { balance_before: posted.minus(delta).toString(), balance_after: posted.toString() },
    });
  }
  const after = new Map<string, Usd>();
  for (const { accountId, scope, scopeId, amount } of totals)
    if (scope === 'key') after.set(`${accountId}\n${scopeId}`, amount);
  for (const { accountId, scopeId, scope, amount } of posting.totals) {
    const name = `${accountId}\n${scopeId}`;
    const [cap, spent] = [caps.get(name), after.get(name)];
    if (scope !== 'key' || cap === undefined || spent === undefined) continue;
    add({
      type: 'spend.movement',
      account_id: accountId,
      org_id: orgs.get(accountId) ?? null,
      data: {
        key_id: scopeId,
        spent_before: spent.minus(amount).toString(),
        spent_after: spent.toString(),
        cap_usd: cap,
      },
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
