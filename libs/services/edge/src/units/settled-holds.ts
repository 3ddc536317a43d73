import { providerAccount } from '@gateway/contracts';
import type { ProviderSettle, UsageRest } from '@gateway/journal';
import { unitScopes } from '@gateway/limits';
import { owedTo } from '@gateway/money';
import type { ProviderHold } from '../admission/admission.js';

/** Settlements of holds at what the platform owes each provider. */
export function settledHolds(holds: readonly ProviderHold[], rest: UsageRest): ProviderSettle[] {
  const owed = owedTo(rest);
  const nanos = new Map([...owed].map(([slug, usd]) => [providerAccount(slug), usd.toNano('half-up')]));
  return holds.map(({ request, minute }) => {
    const { accountId, unitId: unit } = request;
    const nano = (nanos.get(accountId) ?? 0n).toString();
    return { accountId, unit, scopes: unitScopes(request), tokens: 0, tokenEstimate: 0, minute, nano };
  });
}
