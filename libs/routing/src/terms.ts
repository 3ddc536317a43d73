import type { PriceRecord, PriceTier, Route } from '@gateway/contracts';
import type { PriceTerms } from '@gateway/money';

/** Commercial terms of one route for one request: who pays, at which price, with which discount or fee. */
export interface RouteTerms extends PriceTerms {
  readonly record: PriceRecord;
}

/** The platform's own credential serves, at list price. */
export function platformTerms(route: Route, tier: PriceTier): RouteTerms {
  return { record: route.price, tier, discountPct: null, byok: { served: false, feePct: '0' } };
}
