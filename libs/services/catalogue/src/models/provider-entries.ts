import { downConvert } from '@gateway/api-version';
import type { Principal, ProviderHealth, ProviderOffer } from '@gateway/contracts';
import { cheapestRoute, discounted } from '@gateway/money';
import { discountOn } from '@gateway/routing';
import { pricing } from '../snapshots/catalogue-model.js';
import { windowsOfRoute, type ModelNow, type RouteNow } from './prices-now.js';
import { discountOf, withDiscount } from './wire-record.js';

interface EntryOptions {
  caller: Principal | null;
  apiVersion: string;
  /** Display names by slug. */
  names: ReadonlyMap<string, string>;
  /** Returns the health of a provider by its slug. */
  healthOf: (provider: string) => ProviderHealth;
  /** True if the caller can call the model at a provider, by its slug. */
  isReady: (provider: string) => boolean;
  nowMs: number;
}

/** One entry per provider of the model, by slug: its cheapest route, at its own price. */
export function providerEntries({ routes }: ModelNow, options: EntryOptions): ProviderOffer[] {
  const slugs = [...new Set(routes.map(({ provider }) => provider))].sort();
  return slugs.flatMap((slug): ProviderOffer[] => {
    const own = routes
      .filter(({ provider }) => provider === slug)
      .map((route) => ({ provider: slug, record: route.price, route }));
    const cheapest = cheapestRoute(own);
    return cheapest === null
      ? []
      : [downConvert('provider', entry(cheapest.route, options), options.apiVersion)];
  });
}

function entry(route: RouteNow, { caller, names, healthOf, isReady, nowMs }: EntryOptions): ProviderOffer {
  const pct = discountOn(route, discountOf(caller));
  const list = pricing(route.price);
  return {
    provider: route.provider,
    name: names.get(route.provider) ?? route.provider,
    pricing: pct === null ? list : withDiscount(list, discounted(route.price, pct), pct),
    ...windowsOfRoute(route, nowMs),
    context_length: route.contextLength,
    max_output_tokens: route.maxOutputTokens,
    regions: [...(route.regions ?? [])],
    zero_retention: route.zeroRetention ?? false,
    is_available: isReady(route.provider),
    ...healthOf(route.provider),
  };
}
