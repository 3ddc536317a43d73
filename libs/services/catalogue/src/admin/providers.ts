import type { ProviderRecord } from '@gateway/contracts';
import type { StoredRouteHealth } from '../health/stored-route-health.js';
import type { Tx } from '../postgres/catalogue-database.js';

/** Every provider, with how many routes it has and how it fares. There are some hundred: they are one page. */
export async function listProviders(tx: Tx, health: StoredRouteHealth): Promise<ProviderRecord[]> {
  const [rows, counted] = await Promise.all([
    tx.provider.findMany({ orderBy: { slug: 'asc' } }),
    tx.route.groupBy({ by: ['provider'], _count: true }),
  ]);
  const routes = new Map(counted.map(({ provider, _count }) => [provider, _count]));
  return rows.map(({ slug, name, dialects, regions, zero_retention, is_enabled }) => ({
    slug,
    name,
    dialects,
    regions,
    zero_retention,
    is_enabled,
    routes: routes.get(slug) ?? 0,
    ...health.of(slug),
    ...health.stateOf(slug),
  }));
}
