import { Counter } from 'prom-client';
import type { Metrics } from '@gateway/platform';

/**
 * `hit` served from memory, `negative` refused from memory, `unconfirmed` served on Redis's word alone, `shed`
 * refused unasked.
 */
export type PrincipalLookup = 'hit' | 'negative' | 'unconfirmed' | 'shed';
/** The result of a question to the keys service; `fetched` before anybody asked for the key. */
export type PrincipalLoad = 'loaded' | 'fetched' | 'unchanged' | 'unknown' | 'failed';

/** Counts what the cache of principals did. */
export function principalCacheCounter(metrics: Metrics): (outcome: PrincipalLookup | PrincipalLoad) => void {
  const series = metrics.counter(
    'gateway_principal_cache_total',
    'Principals from memory (hit, negative, unconfirmed), credentials whose turn to be looked up did not come (shed) and questions to the keys service (loaded, fetched ahead, unchanged, unknown, failed).',
    ['outcome'],
  );
  return (outcome) => series(outcome).inc();
}

export type CatalogueLoad = 'changed' | 'unchanged' | 'failed';

/** Counts the loads of the catalogue's snapshot. */
export function catalogueLoadCounter({ registry }: Metrics): (outcome: CatalogueLoad) => void {
  const counter = new Counter({
    name: 'gateway_catalogue_loads_total',
    help: 'Questions for the newest snapshot of the catalogue.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  return (outcome) => counter.inc({ outcome });
}
