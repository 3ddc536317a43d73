import type { PriceRecord, ReasoningStyle } from '@gateway/contracts';
import type { Tx } from '../postgres/catalogue-database.js';
import { isoDay } from '../iso-day.js';
import { currentPrices, routeKey } from './current-prices.js';
import type { SeedModel } from './seed-record.js';

/** Models of the tables by id, as a load could have written them. */
export type KnownModels = ReadonlyMap<string, SeedModel>;

/** The enabled models of the tables, or those with these marks, in the form of a load. */
export async function knownModels(
  tx: Tx,
  where: { id?: string; is_enabled?: boolean; is_edited?: boolean } = { is_enabled: true },
): Promise<KnownModels> {
  const prices = new Map((await currentPrices(tx)).map((price) => [routeKey(price.model_id, price), price]));
  const routes = await tx.route.findMany();
  const rows = await tx.model.findMany({ where });
  return new Map(
    rows.map((row) => {
      const own = routes.filter(({ model_id }) => model_id === row.id);
      const model: SeedModel = {
        ...row,
        model_type: row.model_type as SeedModel['model_type'],
        max_output_tokens: row.max_output_tokens ?? undefined,
        reasoning: row.reasoning as unknown as ReasoningStyle,
        lacks: row.supports.includes('system_prompt') ? [] : ['system_prompt'],
        released: row.released === null ? undefined : isoDay(row.released),
        description: row.description ?? undefined,
        successor: row.successor ?? undefined,
        routes: own.map((route) => ({
          ...route,
          max_output_tokens: route.max_output_tokens ?? undefined,
          price: prices.get(routeKey(row.id, route))?.record ?? ({} satisfies PriceRecord),
          source_date: isoDay(route.source_date),
          effective_date: isoDay(prices.get(routeKey(row.id, route))?.effective_date ?? route.source_date),
          retires_at: route.retires_at === null ? undefined : isoDay(route.retires_at),
          regions: route.regions.length === 0 ? undefined : route.regions,
          zero_retention: route.zero_retention ?? undefined,
        })),
      };
      return [row.id, model];
    }),
  );
}
