import type { AdminModelRecord, AdminModelsQuery, ModelAvailability, Route } from '@gateway/contracts';
import { pageOf, type Page } from '@gateway/platform';
import type { Layers } from '../own/layers.js';
import type { Tx } from '../postgres/catalogue-database.js';
import { notedFileEdits } from '../own/file-edits.js';
import { storedEdits } from '../seed/stored-edits.js';
import {
  catalogueModel,
  unservedRecord,
  type Release,
  type StoredModel,
  type StoredRoute,
} from '../snapshots/catalogue-model.js';
import { storedRoutes, toStored } from '../snapshots/snapshot.store.js';
import { layersOf, priceLayer, shownEdits } from './shown-edits.js';

interface AdminModelOptions {
  release: Release;
  layers: Layers;
  /** True if the platform can call the route. */
  isReady: (route: Pick<Route, 'model' | 'provider' | 'upstreamModel'>) => boolean;
}

/** A page of the models of the catalogue by id, those included that nobody can call. */
export async function listAdminModels(
  tx: Tx,
  query: AdminModelsQuery,
  options: AdminModelOptions,
): Promise<Page<AdminModelRecord>> {
  const { limit, offset, availability, provider, layer, is_drifted } = query;
  const words = (query.q ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  const found = (await adminModels(tx, options)).filter(
    (model) =>
      words.every((word) => `${model.id} ${model.name.toLowerCase()}`.includes(word)) &&
      (availability === undefined || model.availability.status === availability) &&
      (provider === undefined || model.routes.some((route) => route.provider === provider)) &&
      (layer === undefined || layersOf(model, options.layers).has(layer)) &&
      (is_drifted === undefined || model.is_drifted === is_drifted),
  );
  return pageOf(found.slice(offset, offset + limit), found.length, { limit, offset });
}

/** Returns null where the catalogue never had such a model. */
export async function adminModel(
  tx: Tx,
  id: string,
  options: AdminModelOptions,
): Promise<AdminModelRecord | null> {
  return (await adminModels(tx, options)).find((model) => model.id === id) ?? null;
}

async function adminModels(tx: Tx, options: AdminModelOptions): Promise<AdminModelRecord[]> {
  const rows = await tx.model.findMany({ orderBy: { id: 'asc' } });
  const providers = await tx.provider.findMany();
  const enabled = new Set(providers.filter((one) => one.is_enabled).map(({ slug }) => slug));
  const routesOf = await storedRoutes(tx, providers);
  const edits = await storedEdits(tx);
  const noted = await notedFileEdits(tx);
  const made = new Map<string, AdminModelRecord>();
  const isServed = ({ provider }: StoredRoute): boolean => enabled.has(provider);
  for (const row of rows) {
    const model = toStored(row);
    const routes = routesOf.get(model.id) ?? [];
    const served = row.is_enabled ? routes.filter(isServed) : [];
    const shown = shownEdits(model.id, edits.get(model.id) ?? [], { layers: options.layers, noted });
    made.set(model.id, {
      ...recordOf(model, routes, options.release),
      availability: availabilityOf(model, served, options),
      is_drifted: shown.some((edit) => edit.is_drifted),
      routes: routes.map((route) => ({
        ...routeOf(model.id, route, options),
        price_layer: priceLayer(model.id, route, shown, options.layers),
      })),
      edits: shown,
    });
  }
  return [...made.values()].map((record) =>
    record.is_composite ? { ...record, availability: ofMembers(record, made) } : record,
  );
}

/** The record with the price of every route, retired ones too. */
function recordOf(model: StoredModel, routes: readonly StoredRoute[], release: Release): AdminModelBase {
  const { record = unservedRecord(model, release) } =
    catalogueModel(model, routes, { ...release, nowMs: 0 }) ?? {};
  const { composite_models } = model;
  return { ...record, is_composite: composite_models.length > 0, composite_models };
}

type AdminModelBase = Omit<AdminModelRecord, 'availability' | 'routes' | 'is_drifted' | 'edits'> &
  ReturnType<typeof unservedRecord>;

function availabilityOf(
  model: StoredModel,
  routes: readonly StoredRoute[],
  { release, isReady }: AdminModelOptions,
): ModelAvailability {
  const living = catalogueModel(model, routes, release)?.routes ?? [];
  const slugs = [...new Set(living.map(({ provider }) => provider))].sort();
  const ready = new Set(living.filter(isReady).map(({ provider }) => provider));
  const missing = slugs.filter((slug) => !ready.has(slug));
  if (missing.length < slugs.length) return { status: 'ready', providers: missing };
  if (slugs.length > 0) return { status: 'needs_credential', providers: missing };
  const once = catalogueModel(model, routes, { ...release, nowMs: 0 });
  return { status: once === null ? 'disabled' : 'retired', providers: [] };
}

/** A composite is what the worst of its members is. */
function ofMembers(
  { composite_models: ids }: AdminModelRecord,
  made: ReadonlyMap<string, AdminModelRecord>,
): ModelAvailability {
  const members = ids.map((id) => made.get(id)?.availability ?? { status: 'disabled', providers: [] });
  const worst = (['disabled', 'retired', 'needs_credential'] as const).find((status) =>
    members.some((member) => member.status === status),
  );
  const missing = members.flatMap((member) => (member.status === 'needs_credential' ? member.providers : []));
  return { status: worst ?? 'ready', providers: [...new Set(missing)].sort() };
}

function routeOf(
  model: string,
  route: StoredRoute,
  { isReady }: AdminModelOptions,
): Omit<AdminModelRecord['routes'][number], 'price_layer'> {
  const { provider, upstream_model: upstreamModel, effective_date } = route;
  return {
    provider,
    upstream_model: upstreamModel,
    dialect: route.dialect,
    context_length: route.context_length,
    max_output_tokens: route.max_output_tokens,
    retires_at: route.retires_at,
    regions: route.regions,
    zero_retention: route.zero_retention,
    price: { ...route.price, effective_date },
    source: route.source,
    source_date: route.source_date,
    has_credential: isReady({ model, provider, upstreamModel }),
  };
}
