import { providerAccount, type UsageRecord } from '@gateway/contracts';
import { owedTo, Usd } from '@gateway/money';
import type pg from 'pg';
import { arrayLiteral } from '../postgres/array-literal.js';
import { factSql } from './event-detail.js';
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

/** Units whose sums their posting adds while the history is being added up; the others are left to that (`ProviderRollup`). */
export async function addedByPostings(
  client: pg.PoolClient,
  units: readonly UsageRecord[],
  owedFrom: string | null,
): Promise<UsageRecord[]> {
  if (owedFrom === null) return [];
  // The order of ids is that of the database.
  const { rows } = await client.query<{ n: number }>({
    name: 'added-by-postings',
    text: 'SELECT n::int FROM unnest($1::text[]) WITH ORDINALITY AS u(request_id, n) WHERE request_id >= $2',
    values: [arrayLiteral(units.map(({ request_id }) => request_id)), owedFrom],
  });
  return rows.map(({ n }) => units[n - 1]);
}

/** SQL of what the platform owes for events `e`, as `owedTo` of their units has it, by provider and slot. */
export function owedSql(events: string): string {
  return `
SELECT o.provider, date_bin('15 minutes', e.created_at, '2000-01-01T00:00:00Z') AS slot, sum(o.amount) AS amount
FROM usage_event e CROSS JOIN LATERAL (
  SELECT ${factSql('attempts', 'e')} AS attempts, ${factSql('priced_from', 'e')} AS priced_from OFFSET 0
) AS facts CROSS JOIN LATERAL (
  SELECT a ->> 'provider' AS provider,
    CASE WHEN a ->> 'house_usd' ~ '^[0-9]{1,20}(\\.[0-9]{1,12})?$' THEN (a ->> 'house_usd')::numeric END AS amount
  FROM jsonb_array_elements(CASE jsonb_typeof(facts.attempts) WHEN 'array' THEN facts.attempts ELSE '[]' END) AS a
  UNION ALL
  SELECT facts.priced_from ->> 'provider', e.list_cost WHERE facts.priced_from -> 'byok_served' IS DISTINCT FROM 'true'
) AS o
WHERE o.provider IS NOT NULL AND o.amount > 0 AND ${events} GROUP BY 1, 2`;
}

/** True where all events are added up: what each provider is owed is known. */
export async function isOwedKnown(database: Pick<pg.Pool, 'query'>): Promise<boolean> {
  const { rows } = await database.query<{ owed_from: string | null }>('SELECT owed_from FROM spend_window');
  return rows[0].owed_from === '';
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
