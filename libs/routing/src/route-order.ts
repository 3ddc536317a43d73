import type { KeyPrincipal, Route, RoutingPolicy } from '@gateway/contracts';
import type { Asked } from '@gateway/endpoints';
import { comparePrices, isAtMost, priceAt, type PricedRoute } from '@gateway/money';
import type { RouteStats } from './route-stats.js';

interface OrderOptions {
  asked: Pick<Asked, 'dialect'>;
  policy: RoutingPolicy;
  principal: Pick<KeyPrincipal, 'keyId'>;
  stats: RouteStats;
  nowMs: number;
}

const NO_ORDER: RoutingPolicy = {};
const PRICES = ['prompt_usd_per_1m', 'completion_usd_per_1m', 'request_usd'] as const;

/** May the route serve under the policy? A route of which the policy's question is not known may not. */
export function isAllowedBy(policy: RoutingPolicy, route: Route, nowMs: number): boolean {
  if (policy.only_providers && !policy.only_providers.includes(route.provider)) return false;
  if (policy.ignore_providers?.includes(route.provider)) return false;
  if (policy.require_zero_retention && route.zeroRetention !== true) return false;
  const { regions } = policy;
  if (regions && !route.regions?.some((region) => regions.includes(region))) return false;
  return isWithin(policy.max_price, route, nowMs);
}

function isWithin(maxPrice: RoutingPolicy['max_price'], route: Route, nowMs: number): boolean {
  if (!maxPrice) return true;
  const { record } = priceAt(route.price, nowMs);
  return PRICES.every((name) => {
    const limit = maxPrice[name];
    return limit === undefined || isAtMost(record[name] ?? null, limit);
  });
}

function rate({ price }: Route, side: 'prompt_usd_per_1m' | 'completion_usd_per_1m', nowMs: number): number {
  return Number(priceAt(price, nowMs).record[side] ?? 0);
}

/**
 * The routes in the order in which they are tried: the policy's providers, then what `sort` asks (price where it says
 * nothing); at one rank the cheaper, then the caller's own dialect, because nothing is translated. An order that
 * changes with what is measured keeps a caller where its last request was served, for the sake of the prompt cache.
 */
export function inOrder(routes: readonly Route[], options: OrderOptions): readonly Route[] {
  if (routes.length < 2) return routes;
  const { asked, policy, nowMs } = options;
  const offer = ({ price }: Route): PricedRoute => ({ provider: '', record: priceAt(price, nowMs).record });
  const rankOf = ranks(routes, options);
  const translated = (route: Route): number => (route.dialect === asked.dialect ? 0 : 1);
  return [...routes].sort(
    (a, b) =>
      place(policy, a) - place(policy, b) ||
      rankOf(a) - rankOf(b) ||
      comparePrices(offer(a), offer(b)) ||
      translated(a) - translated(b) ||
      (a.provider < b.provider ? -1 : a.provider > b.provider ? 1 : 0),
  );
}

function place({ provider_order: wanted = [] }: RoutingPolicy, { provider }: Route): number {
  const at = wanted.indexOf(provider);
  return at < 0 ? wanted.length : at;
}

/** Returns the order that a request asks for, then that of its key's policy. */
export function orderOf(
  policy: RoutingPolicy | null,
  { choice }: Pick<Asked, 'choice'>,
): Pick<RoutingPolicy, 'provider_order' | 'sort'> {
  if (choice?.order == null) return policy ?? NO_ORDER;
  const { provider_order: first = [], sort = policy?.sort } = choice.order;
  const order = [...first, ...(policy?.provider_order ?? [])];
  return { ...(order.length > 0 && { provider_order: order }), ...(sort !== undefined && { sort }) };
}

/** True where the order follows what is measured. */
export function isMeasured({ sort }: RoutingPolicy): boolean {
  return sort !== undefined && sort !== 'price';
}

/** Lower goes first. A route that was never used counts as the best one, so that it is tried and then known. */
function ranks(
  routes: readonly Route[],
  { policy, principal, stats, nowMs }: OrderOptions,
): (route: Route) => number {
  if (!isMeasured(policy)) return () => 0;
  const affine = stats.affineProvider(principal.keyId, routes[0].model, nowMs);
  const slowness = (route: Route): number => stats.latencyMs(route, nowMs) ?? 0;
  const perToken = (route: Route): number => 1 / (stats.tokensPerSecond(route, nowMs) ?? Infinity);
  const cost = (route: Route): number =>
    rate(route, 'prompt_usd_per_1m', nowMs) + rate(route, 'completion_usd_per_1m', nowMs);
  const parts = { latency: [slowness], throughput: [perToken], balanced: [cost, slowness, perToken] };
  const measures = parts[policy.sort as keyof typeof parts].map((measure) => shareOfWorst(routes, measure));
  const found = new Map(
    routes.map((route) => [route, measures.reduce((sum, measure) => sum + measure(route), 0)]),
  );
  return (route) => (route.provider === affine ? -1 : (found.get(route) ?? 0));
}

/** 0 for nothing, 1 for the worst of them: measures of different units can be added. */
function shareOfWorst(routes: readonly Route[], measure: (route: Route) => number): (route: Route) => number {
  const worst = Math.max(...routes.map(measure));
  return (route) => (worst === 0 ? 0 : measure(route) / worst);
}
