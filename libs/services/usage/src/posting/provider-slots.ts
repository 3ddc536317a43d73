import { providerAccount, type UsageRecord } from '@gateway/contracts';
import { owedTo, Usd } from '@gateway/money';
import type pg from 'pg';
import { arrayLiteral } from '../postgres/array-literal.js';
import type { AccountChange } from './posting.js';

const SLOT_MS = 900_000;

interface ProviderSlot {
  provider: string;
  slot: string;
  amount: Usd;
}

/** Sums of what the platform owes providers for new units, by the quarter of an hour in which they came in. In the order of their rows. */
export function providerSlots(units: readonly UsageRecord[]): ProviderSlot[] {
  const slots = new Map<string, ProviderSlot>();
  for (const unit of units) {
    for (const [provider, amount] of owedTo(unit)) {
      const slot = new Date(Math.floor(Date.parse(unit.created_at) / SLOT_MS) * SLOT_MS).toISOString();
      const name = `${provider}\n${slot}`;
      const known = slots.get(name);
      if (known === undefined) slots.set(name, { provider, slot, amount });
      else known.amount = known.amount.plus(amount);
    }
  }
  return [...slots].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, slot]) => slot);
}

/** Accounts of the providers of these slots, whose versions order what is reported. They hold no money. */
export function providerAccounts(slots: readonly ProviderSlot[]): AccountChange[] {
  return [...new Set(slots.map(({ provider }) => provider))].map((slug) => ({
    id: providerAccount(slug),
    kind: 'provider',
    orgId: null,
    delta: Usd.zero,
  }));
}

/** Adds the sums behind the locks of the providers' accounts. */
export async function addProviderSlots(client: pg.PoolClient, slots: readonly ProviderSlot[]): Promise<void> {
  if (slots.length === 0) return;
  await client.query({
    name: 'add-provider-slots',
    text: `INSERT INTO provider_slot (provider, slot, amount)
      SELECT * FROM unnest($1::text[], $2::timestamptz[], $3::numeric[])
      ON CONFLICT (provider, slot) DO UPDATE SET amount = provider_slot.amount + excluded.amount`,
    values: [
      arrayLiteral(slots.map(({ provider }) => provider)),
      arrayLiteral(slots.map(({ slot }) => slot)),
      arrayLiteral(slots.map(({ amount }) => amount.toString())),
    ],
  });
}
