import type { AccountDiscount, PriceRecord, PriceTier, Route } from '@gateway/contracts';
import type { PriceTerms } from '@gateway/money';
import { matchesModel } from './model-access.js';

/** Commercial terms of one route for one request: who pays, at which price, with which discount or fee. */
export interface RouteTerms extends PriceTerms {
  /** The route's price with its windows: what is billed is in force when an attempt begins. */
  readonly record: PriceRecord;
}

/** A provider key of the account serves: a fee in place of the price, and never a discount. */
export function byokTerms(route: Route, tier: PriceTier, feePct: string): RouteTerms {
  return { record: route.price, tier, discountPct: null, byok: { served: true, feePct } };
}

/** The platform's own credential serves, at list price less what the account has off. */
export function platformTerms(
  route: Route,
  tier: PriceTier,
  discount: AccountDiscount | null | undefined,
): RouteTerms {
  const discountPct = discount ? discountOn(route, discount) : null;
  return { record: route.price, tier, discountPct, byok: { served: false, feePct: '0' } };
}

/** Percent that the account pays less on this route, null for none. */
export function discountOn(
  { model, provider }: Pick<Route, 'model' | 'provider'>,
  discount: AccountDiscount | null | undefined,
): string | null {
  if (!discount) return null;
  if (discount.models !== null && !matchesModel(discount.models, model)) return null;
  if (discount.providers !== null && !discount.providers.includes(provider)) return null;
  return discount.pct;
}
