import type {
  CatalogueModel,
  PriceOptionView,
  PriceRecord,
  PriceWindow,
  Route,
  ScheduledPriceView,
} from '@gateway/contracts';
import { cheapestRoute, hasWindows, nextPriceEdge, priceAt, scheduledPrices } from '@gateway/money';
import { pricing } from '../snapshots/catalogue-model.js';

/** A route at the price that is in force at one instant. */
export interface RouteNow extends Route {
  /** The same price with its windows; absent where the route has none. */
  scheduled?: PriceRecord;
}

/** A model at the prices that are in force at one instant. */
export interface ModelNow extends CatalogueModel {
  routes: RouteNow[];
}

/** The model as it is priced at an instant: what is compared, filtered and shown is the price of then. */
export function modelAt(model: CatalogueModel, atMs: number): ModelNow {
  if (!model.routes.some(({ price }) => hasWindows(price))) return model;
  const routes = model.routes.map((route): RouteNow =>
    hasWindows(route.price)
      ? { ...route, price: priceAt(route.price, atMs).record, scheduled: route.price }
      : route,
  );
  const cheapest = cheapestOf(routes);
  const shown = cheapest === null ? model.record.pricing : pricing(cheapest.price);
  return { ...model, record: { ...model.record, pricing: shown }, routes };
}

/** The windows of the price that a model shows: that of its cheapest route. */
export function windowsOf(routes: readonly RouteNow[], atMs: number): PriceOptionView {
  // Most models have none: their cheapest route need not be looked for.
  if (!routes.some(({ scheduled }) => scheduled !== undefined)) return windowsOfRoute({}, atMs);
  return windowsOfRoute(cheapestOf(routes) ?? {}, atMs);
}

export function windowsOfRoute({ scheduled }: Pick<RouteNow, 'scheduled'>, atMs: number): PriceOptionView {
  if (scheduled === undefined) return { price_window: null, windows: null };
  const current = priceAt(scheduled, atMs).window;
  return {
    price_window: current,
    windows: pricesOf(scheduled).map((one) => ({ ...one, is_current: one.name === (current ?? 'standard') })),
  };
}

/** Every price of a record with the times at which it holds, the base first; null for a record without windows. */
export function scheduleView(record: PriceRecord): ScheduledPriceView[] | null {
  return hasWindows(record) ? pricesOf(record) : null;
}

/** The first instant after one at which any of the models may have another price; null where none has windows. */
export function nextEdge(models: readonly CatalogueModel[], afterMs: number): number | null {
  const edges = models.flatMap(({ routes }) =>
    routes.flatMap(({ price }) => (hasWindows(price) ? (nextPriceEdge(price, afterMs) ?? []) : [])),
  );
  return edges.length === 0 ? null : Math.min(...edges);
}

function cheapestOf(routes: readonly RouteNow[]): RouteNow | null {
  const offers = routes.map((route) => ({ provider: route.provider, record: route.price, route }));
  return cheapestRoute(offers)?.route ?? null;
}

function pricesOf(record: PriceRecord): ScheduledPriceView[] {
  return scheduledPrices(record).map(({ name, window, record: price }) => ({
    name,
    ...timesOf(window),
    pricing: pricing(price),
  }));
}

function timesOf(
  window: PriceWindow | null,
): Pick<ScheduledPriceView, 'hours_utc' | 'weekdays' | 'from' | 'until'> {
  return {
    hours_utc: window?.hours_utc ?? null,
    weekdays: window?.weekdays ?? null,
    from: window?.from ?? null,
    until: window?.until ?? null,
  };
}
