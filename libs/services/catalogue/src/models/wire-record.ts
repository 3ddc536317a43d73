import { downConvert } from '@gateway/api-version';
import type {
  AccountDiscount,
  CatalogueModel,
  ModelView,
  PriceRecord,
  PricingView,
  Principal,
} from '@gateway/contracts';
import { bestDiscounted } from '@gateway/money';
import { discountOn } from '@gateway/routing';

/** A record without what depends on the time and on credentials. */
type PlainView = Omit<ModelView, 'is_available' | 'price_window' | 'windows'>;

/** The record as this caller sees it, in the shape that an API version promised. */
export function wireRecord(
  { record, routes }: CatalogueModel,
  caller: Principal | null,
  apiVersion: string,
): PlainView {
  const best = bestDiscounted(
    routes.map((route) => ({
      provider: route.provider,
      record: route.price,
      discountPct: discountOn(route, discountOf(caller)),
    })),
  );
  if (best === null) return downConvert<PlainView>('model', { ...record }, apiVersion);
  const { discounted, discount_pct } = best;
  return downConvert<PlainView>(
    'model',
    { ...record, pricing: withDiscount(record.pricing, discounted, discount_pct) },
    apiVersion,
  );
}

/** `pricing` with its rates after the discount beside it. */
export function withDiscount(
  pricing: PriceRecord,
  discounted: PricingView['discounted'],
  discount_pct: string | null,
): PricingView {
  return { ...pricing, discount_pct, discounted };
}

/** An admin key manages and calls nothing. */
export function discountOf(caller: Principal | null): AccountDiscount | null {
  return caller === null || caller.kind === 'admin_key' ? null : (caller.discount ?? null);
}
