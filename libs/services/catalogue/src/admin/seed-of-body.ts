import type { ImportedModelBody } from '@gateway/contracts';
import { reasoningOf } from '../seed/reasoning-of.js';
import type { SeedModel } from '../seed/seed-record.js';

/** The model of a body as the tables take it: what is absent has its default. */
export function seedOfBody(body: ImportedModelBody, today: string): SeedModel {
  return {
    ...body,
    brand: body.id.slice(0, body.id.indexOf('/')),
    reasoning: reasoningOf(body.supports, body.reasoning),
    routes: (body.routes ?? []).map((route) => ({
      ...route,
      source: route.source ?? 'administrator',
      source_date: route.source_date ?? today,
      effective_date: route.effective_date ?? today,
    })),
  };
}
