import type { UsageRecord } from '@gateway/contracts';
import { Usd } from './usd.js';

/**
 * Returns what the platform owes each provider for a unit: the list cost of what its credentials served, and failed attempts. Nothing
 * for provider keys. Lines of a unit that is not billed, such as a cached one, name no provider.
 */
export function owedTo({
  attempts,
  list_cost_usd,
  priced_from,
}: Pick<UsageRecord, 'attempts' | 'list_cost_usd' | 'priced_from'>): Map<string, Usd> {
  const owed = new Map<string, Usd>();
  const add = (provider: string, amount: string | null | undefined): void => {
    if (amount == null || amount.startsWith('-') || !/[1-9]/.test(amount)) return;
    owed.set(provider, (owed.get(provider) ?? Usd.zero).plus(Usd.parse(amount)));
  };
  for (const { provider, house_usd } of attempts) add(provider, house_usd);
  if (priced_from != null && !priced_from.byok_served) add(priced_from.provider, list_cost_usd);
  return owed;
}
