import type { SeedModel, SeedRoute } from './seed-record.js';
import {
  isSame,
  modelFields,
  routeFields,
  targetOf,
  type ModelField,
  type RouteField,
  type SourcedPrice,
} from './model-fields.js';

/** Content of one field of a model or of one of its routes in place of what lies below. */
export interface ModelEdit {
  /** `is_enabled` false takes the model or the route away. */
  field: ModelField | RouteField | 'is_enabled';
  /** "" for a field of the model itself. */
  provider: string;
  upstream_model: string;
  value: unknown;
  /** The content below when the edit was made; null where nothing lay there. */
  below: { value: unknown } | null;
}

/** Fields without which there is no model or no route. */
const MODEL_NEEDS: readonly ModelField[] = [
  'name',
  'model_type',
  'context_length',
  'input_modalities',
  'output_modalities',
  'supports',
  'reasoning',
];
const ROUTE_NEEDS: readonly RouteField[] = ['dialect', 'price'];

/** Returns the edits that make `wanted` of what lies below: none where a field says the same. */
export function editsBetween(below: SeedModel | null, wanted: SeedModel): ModelEdit[] {
  const model = { provider: '', upstream_model: '' };
  const edits = fieldEdits(model, below && modelFields(below), modelFields(wanted));
  const routesBelow = new Map(below?.routes.map((route) => [targetOf(route), route]));
  for (const route of wanted.routes) {
    const known = routesBelow.get(targetOf(route));
    routesBelow.delete(targetOf(route));
    const fields = below && known ? routeFields(below, known) : null;
    edits.push(...fieldEdits(route, fields, routeFields(wanted, route)));
  }
  for (const route of routesBelow.values()) edits.push(removal(route));
  return edits;
}

function removal({ provider, upstream_model }: Pick<ModelEdit, 'provider' | 'upstream_model'>): ModelEdit {
  return { field: 'is_enabled', provider, upstream_model, value: false, below: { value: true } };
}

/** Fields of a route about which a body that leaves them out says nothing: what lies below is promised by its source. */
const PROMISES: ReadonlySet<string> = new Set(['regions', 'zero_retention']);

/** The edit that takes a model out of the catalogue. */
export const MODEL_REMOVED: ModelEdit = removal({ provider: '', upstream_model: '' });

function fieldEdits(
  { provider, upstream_model }: Pick<ModelEdit, 'provider' | 'upstream_model'>,
  below: Record<string, unknown> | null,
  wanted: Record<string, unknown>,
): ModelEdit[] {
  return (Object.keys(wanted) as (ModelField | RouteField)[])
    .filter((field) =>
      below === null || (wanted[field] === null && PROMISES.has(field))
        ? wanted[field] !== null
        : !isSame(field, below[field], wanted[field]),
    )
    .map((field) => ({
      ...{ field, provider, upstream_model, value: wanted[field] },
      below: below && { value: below[field] },
    }));
}

/** A model as its edits leave it. */
export interface EditedModel {
  model: SeedModel;
  /** An edit has taken it out of the catalogue. */
  isHidden: boolean;
}

/** Returns what lies below with the edits upon it; null where they are not enough to make a model. */
export function withEdits(
  id: string,
  below: SeedModel | null,
  edits: readonly ModelEdit[],
): EditedModel | null {
  const own = valuesOf(edits.filter(({ provider }) => provider === ''));
  if (below === null && MODEL_NEEDS.some((field) => !(field in own))) return null;
  const fields = { ...(below && modelFields(below)), ...own } as ReturnType<typeof modelFields>;
  const base: SeedModel = below ?? {
    ...{ id, brand: id.slice(0, id.indexOf('/')), routes: [], supports: [] },
    ...{ name: '', model_type: 'text', context_length: 1 },
    ...{ input_modalities: [], output_modalities: [], reasoning: { style: 'none' } },
  };
  const model: SeedModel = { ...base, ...modelOf(fields, own), routes: editedRoutes(below, edits) };
  return { model, isHidden: own.is_enabled === false };
}

/** Members of the model for the fields that are edited: the others keep the form that they have below. */
function modelOf(fields: ReturnType<typeof modelFields>, own: Record<string, unknown>): Partial<SeedModel> {
  const made = {
    ...fields,
    max_output_tokens: fields.max_output_tokens ?? undefined,
    released: fields.released ?? undefined,
    description: fields.description ?? undefined,
  };
  const edited = Object.entries(made).filter(([field]) => field in own);
  const lacks = fields.supports.includes('system_prompt') ? [] : ['system_prompt'];
  return { ...(Object.fromEntries(edited) as Partial<SeedModel>), ...('supports' in own ? { lacks } : {}) };
}

function editedRoutes(below: SeedModel | null, edits: readonly ModelEdit[]): SeedRoute[] {
  const byTarget = new Map<string, ModelEdit[]>();
  for (const edit of edits)
    if (edit.provider !== '') byTarget.set(targetOf(edit), [...(byTarget.get(targetOf(edit)) ?? []), edit]);
  const kept = (below?.routes ?? []).flatMap((route) => {
    const own = byTarget.get(targetOf(route)) ?? [];
    byTarget.delete(targetOf(route));
    return below === null ? [] : editedRoute(route, routeFields(below, route), own);
  });
  const added = [...byTarget.values()].flatMap((own) => editedRoute(own[0], null, own));
  return [...kept, ...added];
}

/** Returns one route, or none where it is taken away or where its edits are not enough to make one. */
function editedRoute(
  { provider, upstream_model }: { provider: string; upstream_model: string },
  below: ReturnType<typeof routeFields> | null,
  edits: readonly ModelEdit[],
): SeedRoute[] {
  const own = valuesOf(edits);
  if (own.is_enabled === false) return [];
  if (below === null && ROUTE_NEEDS.some((field) => !(field in own))) return [];
  const {
    is_enabled: _is,
    price,
    ...fields
  } = { ...below, ...own } as ReturnType<typeof routeFields> & {
    is_enabled?: boolean;
  };
  const set = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined);
  return [{ provider, upstream_model, ...Object.fromEntries(set), ...price } as SeedRoute & SourcedPrice];
}

function valuesOf(edits: readonly ModelEdit[]): Record<string, unknown> {
  return Object.fromEntries(edits.map(({ field, value }) => [field, value]));
}

/** True if what lies below is no longer what lay there when the edit was made. */
export function isDrifted(edit: ModelEdit, below: SeedModel | null): boolean {
  const now = belowOf(edit, below);
  if (now === null || edit.below === null) return now !== edit.below;
  return !isSame(edit.field, now.value, edit.below.value);
}

/** Returns the content that the edit hides now; null where nothing lies below. */
export function belowOf(
  { field, provider, upstream_model }: Pick<ModelEdit, 'field' | 'provider' | 'upstream_model'>,
  below: SeedModel | null,
): { value: unknown } | null {
  if (below === null) return null;
  if (provider === '')
    return { value: field === 'is_enabled' ? true : modelFields(below)[field as ModelField] };
  const route = below.routes.find((one) => targetOf(one) === targetOf({ provider, upstream_model }));
  if (route === undefined) return null;
  return { value: field === 'is_enabled' ? true : routeFields(below, route)[field as RouteField] };
}

/** Tells edits of one model apart. */
export function editKey({ field, provider, upstream_model }: Omit<ModelEdit, 'value' | 'below'>): string {
  return `${field} ${provider} ${upstream_model}`;
}
