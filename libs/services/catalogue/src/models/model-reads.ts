import { Inject, Injectable } from '@nestjs/common';
import {
  ApiError,
  type Alias,
  CatalogueReader,
  type CatalogueModel,
  type CataloguePageQuery,
  type Clock,
  type ListModelsQuery,
  type ModelFacets,
  type ModelProvidersQuery,
  type ModelView,
  type Principal,
  type ProviderHealth,
  type ProviderOffer,
  type Route,
  type SearchModelsQuery,
} from '@gateway/contracts';
import { CLOCK, pageOf, type Page } from '@gateway/platform';
import {
  accessOf,
  newestIndex,
  requireAccess,
  requireTargets,
  usableTargets,
  type CatalogueIndex,
  type Visible,
  type WeightedModel,
} from '@gateway/routing';
import { Availability } from '../availability/availability.js';
import { StoredRouteHealth } from '../health/stored-route-health.js';
import { aliasModel } from './alias-model.js';
import { modelAt, nextEdge, windowsOf, type ModelNow } from './prices-now.js';
import { providerEntries } from './provider-entries.js';
import { searchModels } from './search-models.js';
import { wireRecord } from './wire-record.js';

/** The reader, and the shape that was promised to them. `caller` is null for a read without a credential. */
export interface Reader {
  caller: Principal | null;
  apiVersion: string;
}

interface Named {
  slug: string;
  name: string;
}

/** A page of models, and what all that were found have. */
export interface FoundModels extends Page<ModelView> {
  facets: ModelFacets;
}

/** A provider that a key can be pinned to, by its slug. */
export interface PinnableProvider {
  provider: string;
  name: string;
}

/** Reads of the newest snapshot as a caller may see it. In memory: no I/O. */
@Injectable()
export class ModelReads {
  private readonly index: () => CatalogueIndex;

  constructor(
    catalogue: CatalogueReader,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly health: StoredRouteHealth,
    private readonly availability: Availability,
  ) {
    this.index = newestIndex(catalogue);
  }

  /** Enabled models that the caller is permitted, by id, available or not. A session, and who has no credential, see all. */
  list(reader: Reader, query: ListModelsQuery): ModelView[] {
    return this.permitted(reader.caller, query).map((model) => this.view(reader, model));
  }

  /** Models and aliases that the caller can call now, by id. */
  callable(caller: Principal | null, query: ListModelsQuery): ModelNow[] {
    const models = this.permitted(caller, query).filter((model) => this.isAvailable(caller, model));
    const aliases = this.index()
      .aliasesFor(orgsOf(caller))
      .flatMap((alias) => this.aliasNow(caller, alias) ?? [])
      .filter((model) => matches(query, model));
    if (aliases.length === 0) return models;
    return [...models, ...aliases].toSorted((a, b) => (a.record.id < b.record.id ? -1 : 1));
  }

  /** The record of a model as the reader sees it. */
  view({ caller, apiVersion }: Reader, model: ModelNow): ModelView {
    return {
      ...wireRecord(model, caller, apiVersion),
      ...windowsOf(model.routes, this.clock.now()),
      is_available: this.isAvailable(caller, model),
    };
  }

  /** Throws ApiError `bad_request` for an order that the question does not allow, `validation_error` for an unknown flag. */
  search(reader: Reader, query: SearchModelsQuery): FoundModels {
    const { found, facets } = searchModels(this.permitted(reader.caller, query), query);
    const { limit, offset } = query;
    const page = found.slice(offset, offset + limit).map((model) => this.view(reader, model));
    return { ...pageOf(page, found.length, { limit, offset }), facets };
  }

  /**
   * The model of an id, or of a name that only one brand has.
   * Throws ApiError `model_not_found` (404), and `model_excluded` (403) where a block list of the key names it.
   */
  one(caller: Principal | null, idOrName: string): ModelNow {
    const index = this.index();
    const nowMs = this.clock.now();
    const isVisible: Visible = (one) => livingModel(one, nowMs) !== null && isCallable(caller, one);
    const unknown = (): ApiError => index.unknown(idOrName, isVisible);
    const alias = index.aliasesFor(orgsOf(caller)).find(({ name }) => name === idOrName);
    if (alias !== undefined) return this.oneAlias(caller, alias, unknown);
    const model = index.model(idOrName, isVisible);
    if (caller?.kind === 'key') requireAccess(caller.access, model.record.id, 'model_not_found', unknown);
    const living = livingModel(model, nowMs);
    if (living === null) throw unknown();
    return modelAt(living, nowMs);
  }

  private oneAlias(caller: Principal | null, alias: Alias, unknown: () => ApiError): ModelNow {
    const options = { index: this.index(), nowMs: this.clock.now() };
    if (caller?.kind === 'key') requireTargets(alias, { ...options, principal: caller });
    const found = this.aliasNow(caller, alias, true);
    if (found === null) throw unknown();
    return found;
  }

  /** The alias as a record of its targets that the caller may use and can call; null where none is left. */
  private aliasNow(caller: Principal | null, alias: Alias, isAny = false): ModelNow | null {
    const nowMs = this.clock.now();
    const principal = caller?.kind === 'key' ? caller : { access: [], fixedProvider: null, orgId: null };
    const usable = usableTargets(alias, { index: this.index(), principal, nowMs });
    const now = usable.flatMap(({ model, weight }: WeightedModel) => {
      const living = livingModel(model, nowMs);
      return living === null ? [] : { model: modelAt(living, nowMs), weight };
    });
    const available = now.filter(({ model }) => this.isAvailable(caller, model));
    const targets = available.length === 0 && isAny ? now : available;
    return targets.length === 0 ? null : aliasModel(alias, targets);
  }

  /** Null where no such model is enabled. */
  find(reader: Reader, id: string): ModelView | null {
    const model = this.living().find(({ record }) => record.id === id);
    return model === undefined ? null : this.view(reader, model);
  }

  record(reader: Reader, idOrName: string): ModelView {
    return this.view(reader, this.one(reader.caller, idOrName));
  }

  /** Every provider able to serve the model, by slug. Throws as `one`. */
  providersOf(reader: Reader, idOrName: string, query: ModelProvidersQuery): Page<ProviderOffer> {
    const model = this.one(reader.caller, idOrName);
    const names = new Map(this.index().snapshot.providers.map(({ slug, name }) => [slug, name]));
    const healthOf = (provider: string): ProviderHealth => this.health.of(provider, model.record.id);
    const isReady = (provider: string): boolean =>
      model.routes.some(
        (route) => route.provider === provider && this.availability.hasCredential(reader.caller, route),
      );
    const nowMs = this.clock.now();
    const entries = providerEntries(model, { ...reader, names, healthOf, isReady, nowMs });
    const { available } = query;
    return paged(
      entries.filter((entry) => available === undefined || entry.is_available === available),
      query,
    );
  }

  /** Providers at which the caller can call a model: a key can be pinned to each. */
  pinnable(caller: Principal | null, page: CataloguePageQuery): Page<PinnableProvider> {
    const routes = this.living().flatMap((model) => model.routes);
    const callable = routes.filter((route) => this.availability.hasCredential(caller, route));
    const serving = new Set(callable.map(({ provider }) => provider));
    const rows = this.index().snapshot.providers.filter(({ slug }) => serving.has(slug));
    return paged(
      rows.map(({ slug, name }) => ({ provider: slug, name })),
      page,
    );
  }

  /**
   * Returns the models that a key pinned to the provider can call. Throws ApiError `not_found` for a provider that
   * serves nothing.
   */
  ofProvider(reader: Reader, provider: string, page: CataloguePageQuery): Page<ModelView> {
    if (!this.index().snapshot.providers.some(({ slug }) => slug === provider))
      throw new ApiError('not_found', { message: 'No such provider.' });
    const { caller } = reader;
    const models = this.callable(caller, { provider }).filter(({ routes }) =>
      routes.some((route) => route.provider === provider && this.availability.hasCredential(caller, route)),
    );
    return paged(
      models.map((model) => this.view(reader, model)),
      page,
    );
  }

  /** Milliseconds until a model may have another price; null where no price has windows. */
  untilPricesChange(): number | null {
    const nowMs = this.clock.now();
    const edge = nextEdge(this.index().snapshot.models, nowMs);
    return edge === null ? null : edge - nowMs;
  }

  /** True if an id, or a name without its brand, is that of one model, living or not. */
  isKnown(idOrName: string): boolean {
    return this.index().find(idOrName) !== null;
  }

  /** True if an id is that of a model as it is listed, living or not. */
  isListed(id: string): boolean {
    return this.index().find(id)?.record.id === id;
  }

  /** Returns the names of the aliases that keys of the organization may use. */
  aliasNames(orgId: string | null): string[] {
    const aliases = this.index().aliasesFor(orgId === null ? [] : [orgId]);
    return aliases.map(({ name }) => name);
  }

  names(): { brands: readonly Named[]; providers: readonly Named[] } {
    const { brands = [], providers } = this.index().snapshot;
    return { brands, providers };
  }

  /** Models that the caller's lists permit and that match: all of the catalogue but simulated ones that are out of lists. */
  private permitted(caller: Principal | null, query: ListModelsQuery): ModelNow[] {
    const { available } = query;
    return this.living().filter(
      (model) =>
        isCallable(caller, model) &&
        this.availability.isListed(model) &&
        matches(query, model) &&
        (available === undefined || this.isAvailable(caller, model) === available),
    );
  }

  private isAvailable(caller: Principal | null, model: CatalogueModel): boolean {
    const index = this.index();
    return this.availability.isAvailable(caller, model, (id) => index.find(id));
  }

  /** Models with a living route, at the prices of now. */
  private living(): ModelNow[] {
    const nowMs = this.clock.now();
    return this.index().snapshot.models.flatMap((model) => {
      const living = livingModel(model, nowMs);
      return living === null ? [] : modelAt(living, nowMs);
    });
  }
}

function paged<T>(rows: T[], { limit, offset }: CataloguePageQuery): Page<T> {
  return pageOf(rows.slice(offset, offset + limit), rows.length, { limit, offset });
}

/**
 * Returns the model without the routes that have retired since the snapshot; null where none is left. A composite has
 * none of its own.
 */
function livingModel(model: CatalogueModel, nowMs: number): CatalogueModel | null {
  const lives = ({ retiresAtMs }: Route): boolean => (retiresAtMs ?? Infinity) > nowMs;
  if (model.record.is_composite || model.routes.every(lives)) return model;
  const routes = model.routes.filter(lives);
  return routes.length === 0 ? null : { ...model, routes };
}

/** Organizations whose names the caller may use. */
function orgsOf(caller: Principal | null): string[] {
  if (caller === null) return [];
  if (caller.kind === 'session') return caller.memberships.map(({ orgId }) => orgId);
  return caller.orgId === null ? [] : [caller.orgId];
}

function isCallable(caller: Principal | null, { record, routes }: CatalogueModel): boolean {
  if (caller?.kind !== 'key') return true;
  const { access, fixedProvider } = caller;
  const isServed = fixedProvider === null || routes.some(({ provider }) => provider === fixedProvider);
  return isServed && accessOf(access, record.id) === 'allowed';
}

function matches({ free, type, provider }: ListModelsQuery, { record, routes }: CatalogueModel): boolean {
  if (free !== undefined && record.is_free !== free) return false;
  if (type !== undefined && record.model_type !== type) return false;
  return provider === undefined || routes.some((route) => route.provider === provider);
}
