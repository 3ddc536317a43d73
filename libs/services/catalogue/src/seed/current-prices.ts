import type { PriceRecord } from '@gateway/contracts';
import type { Tx } from '../postgres/catalogue-database.js';

interface CurrentPrice {
  model_id: string;
  provider: string;
  upstream_model: string;
  effective_date: Date;
  record: PriceRecord;
}

/** The last price of every route that ever was. */
export function currentPrices(tx: Tx): Promise<CurrentPrice[]> {
  return tx.$queryRaw<CurrentPrice[]>`
    SELECT DISTINCT ON (model_id, provider, upstream_model) model_id, provider, upstream_model, effective_date, record
      FROM price ORDER BY model_id, provider, upstream_model, id DESC`;
}

export function routeKey(modelId: string, route: { provider: string; upstream_model: string }): string {
  return `${modelId} ${route.provider} ${route.upstream_model}`;
}
