import type { ImportedModelBody } from '@gateway/contracts';
import { reasoningOf } from './reasoning-of.js';
import type { SeedModel } from './seed-record.js';

/** The model of a body as the tables take it: what is absent or null has its default. */
export function seedOfBody(body: ImportedModelBody, today: string): SeedModel {
  const { reasoning, routes = [], ...model } = withoutNulls(body);
  return {
    ...model,
    brand: body.id.slice(0, body.id.indexOf('/')),
    reasoning: reasoningOf(body.supports, reasoning && withoutNulls(reasoning)),
    routes: routes.map(withoutNulls).map((route) => ({
      ...route,
      source: route.source ?? 'administrator',
      source_date: route.source_date ?? today,
      effective_date: route.effective_date ?? today,
    })),
  };
}

/** A client that writes what it read sends null for what is not there. */
function withoutNulls<T extends object>(body: T): T {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null)) as T;
}
