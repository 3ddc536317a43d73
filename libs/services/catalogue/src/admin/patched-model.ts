import type { FollowQuery, PatchModelBody } from '@gateway/contracts';
import { editKey, type ModelEdit } from '../seed/model-edits.js';
import { targetOf } from '../seed/model-fields.js';
import type { SeedModel, SeedRoute } from '../seed/seed-record.js';

const PRICE_FIELDS = new Set(['price', 'source', 'source_date', 'effective_date']);
/** Fields of a model and of a route that may have nothing. Elsewhere null is absence. */
const MODEL_NULLABLE = ['max_output_tokens', 'released', 'description', 'successor'];
const ROUTE_NULLABLE = ['context_length', 'max_output_tokens', 'retires_at'];

/** Returns the model with what the body names; null there says that a field has nothing. */
export function patchedModel(model: SeedModel, body: PatchModelBody, today: string): SeedModel {
  const { routes, ...fields } = body;
  const patched = new Map((routes ?? []).map((route) => [targetOf(route), route]));
  const kept = model.routes.map((route) => {
    const patch = patched.get(targetOf(route));
    patched.delete(targetOf(route));
    return patch === undefined ? route : patchedRoute(route, patch, today);
  });
  const added = [...patched.values()].map((patch) => patchedRoute(null, patch, today));
  const named = given(fields, MODEL_NULLABLE);
  return withoutNulls({ ...model, ...named, routes: [...kept, ...added] }) as unknown as SeedModel;
}

type RoutePatch = NonNullable<PatchModelBody['routes']>[number];

function patchedRoute(route: SeedRoute | null, patch: RoutePatch, today: string): SeedRoute {
  const priced = { source: 'administrator', source_date: today, effective_date: today };
  const made = { ...route, ...(patch.price == null ? {} : priced), ...given(patch, ROUTE_NULLABLE) };
  return withoutNulls({ price: {}, ...made }) as unknown as SeedRoute;
}

/** The members that say something. */
function given(patch: object, nullable: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(patch).filter(
      ([field, value]) => value !== undefined && (value !== null || nullable.includes(field)),
    ),
  );
}

function withoutNulls(value: object): object {
  return Object.fromEntries(
    Object.entries(value).filter(([, member]) => member !== null && member !== undefined),
  );
}

/** Keys of the edits that a body can make: those of the fields that it names. */
export function patchedKeys({ routes, ...fields }: PatchModelBody): ReadonlySet<string> {
  const model = { provider: '', upstream_model: '' };
  const named = Object.keys(given(fields, MODEL_NULLABLE)).map((field) =>
    field === 'lacks' ? 'supports' : field,
  );
  const keys = named.map((field) => editKey({ ...model, field: field as ModelEdit['field'] }));
  for (const { provider, upstream_model, ...members } of routes ?? [])
    for (const name of ['is_enabled', ...Object.keys(given(members, ROUTE_NULLABLE))]) {
      const field = (PRICE_FIELDS.has(name) ? 'price' : name) as ModelEdit['field'];
      keys.push(editKey({ provider, upstream_model, field }));
    }
  return new Set(keys);
}

/** True if the query means this edit: each member that it has must be the edit's. */
export function isNamed(edit: ModelEdit, { field, provider, upstream_model }: FollowQuery): boolean {
  return (
    (field === undefined || field === edit.field) &&
    (provider === undefined || provider === edit.provider) &&
    (upstream_model === undefined || upstream_model === edit.upstream_model)
  );
}
