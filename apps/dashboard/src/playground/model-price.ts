import type { Schemas } from '../api/schemas.js';
import { formatPrice } from '../format/money.js';

/** Returns the price of a million tokens in and out, the reader's own where there is one; empty where it is none. */
export function priceOf(model: Pick<Schemas['ModelView'], 'is_free' | 'pricing'> | undefined): string {
  if (model === undefined) return '';
  if (model.is_free) return 'free';
  const { prompt_usd_per_1m: input, completion_usd_per_1m: output } = {
    ...model.pricing,
    ...model.pricing.discounted,
  };
  const sides = [input && `${formatPrice(input)} in`, output && `${formatPrice(output)} out`];
  const said = sides.filter(Boolean).join(', ');
  return said === '' ? '' : `${said}, a million tokens`;
}
