import { Counter } from 'prom-client';
import type { Metrics } from '../metrics/metrics.js';

/** `hit` served from memory, `negative` refused from memory, `unconfirmed` served on Redis's word alone. */
export type PrincipalLookup = 'hit' | 'negative' | 'unconfirmed';
/** How a question to the keys service ended. */
export type PrincipalLoad = 'loaded' | 'unchanged' | 'unknown' | 'failed';

/** Counts what the cache of principals did. */
export function principalCacheCounter({
  registry,
}: Metrics): (outcome: PrincipalLookup | PrincipalLoad) => void {
  const counter = new Counter({
    name: 'gateway_principal_cache_total',
    help: 'Principals from memory (hit, negative, unconfirmed) and questions to the keys service (loaded, unchanged, unknown, failed).',
    labelNames: ['outcome'],
    registers: [registry],
  });
  const outcomes = ['hit', 'negative', 'unconfirmed', 'loaded', 'unchanged', 'unknown', 'failed'] as const;
  const series = Object.fromEntries(outcomes.map((outcome) => [outcome, counter.labels(outcome)]));
  return (outcome) => series[outcome].inc();
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
