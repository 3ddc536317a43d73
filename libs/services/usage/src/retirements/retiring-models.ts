import {
  RETIREMENT_MARKS,
  type AccountData,
  type CatalogueModel,
  type CatalogueSnapshot,
  type PriceRecord,
} from '@gateway/contracts';
import { changePct, cheapestRoute, priceAt } from '@gateway/money';

const DAY_MS = 86_400_000;

/** Data of an event on a model that is retired soon, without those of its use. */
export type RetiringModel = Omit<AccountData<'model.retiring'>, 'requests_30d' | 'last_used_at'>;

/** Returns the models that have reached a mark: of several the nearest to the day. Days are those of UTC. */
export function retiringModels(
  { models }: Pick<CatalogueSnapshot, 'models'>,
  nowMs: number,
): RetiringModel[] {
  const today = Math.floor(nowMs / DAY_MS) * DAY_MS;
  return models.flatMap((model) => {
    const { id, retires_at = null, successor = null } = model.record;
    if (retires_at === null) return [];
    const left = Math.round((Date.parse(`${retires_at}T00:00:00Z`) - today) / DAY_MS);
    const mark = left > 0 ? RETIREMENT_MARKS.find((days) => left <= days) : undefined;
    if (mark === undefined) return [];
    const [before, after] = [
      rates(model, nowMs),
      rates(
        models.find(({ record }) => record.id === successor),
        nowMs,
      ),
    ];
    return [
      {
        model: id,
        retires_at,
        days_left: mark,
        successor,
        prompt_change_pct: changePct(before.prompt_usd_per_1m, after.prompt_usd_per_1m),
        completion_change_pct: changePct(before.completion_usd_per_1m, after.completion_usd_per_1m),
      },
    ];
  });
}

/** The price of a model that is in force, as its record shows it. */
function rates(model: CatalogueModel | undefined, nowMs: number): PriceRecord {
  const offers = (model?.routes ?? []).map(({ provider, price }) => ({
    provider,
    record: priceAt(price, nowMs).record,
  }));
  return cheapestRoute(offers)?.record ?? {};
}
