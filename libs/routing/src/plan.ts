import {
  ApiError,
  type CatalogueModel,
  type KeyPrincipal,
  type ModelRecord,
  type Route,
  type RoutingPolicy,
} from '@gateway/contracts';
import { Misfit, type Translation } from '@gateway/dialects';
import type { Asked, Endpoint, Need } from '@gateway/endpoints';
import { comparePrices, servesTier } from '@gateway/money';
import type { Provider } from '@gateway/providers';
import type { CatalogueIndex } from './catalogue-index.js';
import { accessOf, requireAccess } from './model-access.js';
import { platformTerms, type RouteTerms } from './terms.js';

/** One route of a plan with all that an attempt needs. */
export interface PlannedRoute {
  route: Route;
  model: CatalogueModel;
  provider: Provider;
  terms: RouteTerms;
  translation: Translation;
}

/** Routes in the order in which they are tried. Never empty. */
export interface Plan {
  /** The model asked for. */
  model: CatalogueModel;
  /** As it was asked for. */
  requestedModel: string;
  snapshotId: string;
  routes: PlannedRoute[];
}

export interface PlanOptions {
  asked: Asked;
  endpoint: Pick<Endpoint, 'translate'>;
  principal: KeyPrincipal;
  index: CatalogueIndex;
  /** Providers with a credential, by slug. */
  providers: ReadonlyMap<string, Provider>;
  /** A route whose breaker is open leaves the plan while another is closed. */
  breakers: { isOpen(route: Route): boolean };
}

/** More than any model's routes and fallbacks together; bounds the loop of attempts. */
const ROUTES_MAX = 16;
const FALLBACK_MODELS_MAX = 5;
const NO_POLICY: RoutingPolicy = {};

function rate(route: Route, side: 'prompt_usd_per_1m' | 'completion_usd_per_1m'): number {
  return Number(route.price[side] ?? 0);
}

function isWithin(maxPrice: RoutingPolicy['max_price'], route: Route): boolean {
  if (!maxPrice) return true;
  const isAtMost = (limit: string | undefined, value: number): boolean =>
    limit === undefined || value <= Number(limit);
  return (
    isAtMost(maxPrice.prompt_usd_per_1m, rate(route, 'prompt_usd_per_1m')) &&
    isAtMost(maxPrice.completion_usd_per_1m, rate(route, 'completion_usd_per_1m'))
  );
}

function isAllowedBy(policy: RoutingPolicy, route: Route): boolean {
  if (policy.only_providers && !policy.only_providers.includes(route.provider)) return false;
  if (policy.ignore_providers?.includes(route.provider)) return false;
  return isWithin(policy.max_price, route);
}

/** Provider order of the policy, then price; at one price the caller's own dialect first, because nothing is translated. */
function compare(asked: Asked, policy: RoutingPolicy): (a: Route, b: Route) => number {
  const wanted = policy.provider_order ?? [];
  const place = (route: Route): number => {
    const at = wanted.indexOf(route.provider);
    return at < 0 ? wanted.length : at;
  };
  const translated = (route: Route): number => (route.dialect === asked.dialect ? 0 : 1);
  return (a, b) =>
    place(a) - place(b) ||
    comparePrices({ provider: '', record: a.price }, { provider: '', record: b.price }) ||
    translated(a) - translated(b) ||
    a.provider.localeCompare(b.provider);
}

/** A property of the catalogue record, checked as the endpoint named it. */
function has(record: ModelRecord, need: Need): boolean {
  if ('flag' in need) return record[need.flag];
  if ('type' in need) return record.model_type === need.type;
  if ('input' in need) return need.input.some((modality) => record.input_modalities.includes(modality));
  return record.output_modalities.includes(need.output);
}

interface Survey {
  routes: PlannedRoute[];
  /** Why routes fell out, for the refusal when none is left. */
  missing: string | null;
  /** False where a route that did not serve might have: its provider is away, or a parameter stood in its way. */
  isForeign: boolean;
}

/** The routes of one model that can serve the request, in order, each with its translation. */
function survey(model: CatalogueModel, { asked, endpoint, principal, providers }: PlanOptions): Survey {
  const policy = principal.routingPolicy ?? NO_POLICY;
  const lacked = asked.requires.find((requirement) => !has(model.record, requirement))?.param;
  const found: Survey = { routes: [], missing: null, isForeign: true };
  for (const route of [...model.routes].sort(compare(asked, policy))) {
    if (principal.fixedProvider !== null && route.provider !== principal.fixedProvider) continue;
    const provider = providers.get(route.provider);
    if (!provider || !isAllowedBy(policy, route)) {
      found.isForeign = false;
      continue;
    }
    const missing = lacked ?? (servesTier(route.price, asked.tier) ? undefined : 'service_tier');
    if (missing !== undefined) {
      found.missing ??= missing;
      continue;
    }
    const { dialect, upstreamModel, maxOutputTokens, contextLength } = route;
    const { reasoning, fixesSampling } = model;
    const quirks = provider.quirks(route);
    const translation = endpoint.translate(asked, {
      dialect,
      upstreamModel,
      maxOutputTokens,
      contextLength,
      reasoning,
      fixesSampling,
      quirks,
    });
    if (translation instanceof Misfit) found.missing ??= translation.param;
    else found.routes.push({ route, model, provider, terms: platformTerms(route, asked.tier), translation });
  }
  return found;
}

function refuse(model: CatalogueModel, found: Survey, { principal, asked }: PlanOptions): never {
  if (
    principal.fixedProvider !== null &&
    !model.routes.some((route) => route.provider === principal.fixedProvider)
  ) {
    throw new ApiError('model_not_available_on_pinned_provider', { param: 'model' });
  }
  if (found.missing !== null) {
    throw new ApiError('unsupported_operation', {
      providerCode: 'unsupported_operation',
      message: `No provider of ${model.record.id} supports ${found.missing}.`,
      param: found.missing,
    });
  }
  // Every route speaks of something else than this endpoint: waiting would not help.
  if (found.isForeign && model.routes.length > 0) throw cannotServe(model, asked);
  throw new ApiError('provider_not_available', { retryAfterSeconds: 5 });
}

function cannotServe({ record }: CatalogueModel, { serves }: Asked): ApiError {
  return new ApiError('model_capability_not_supported', {
    status: serves.status,
    message: `${record.id} cannot serve this endpoint.`,
    param: 'model',
  });
}

/** Open routes leave while a closed one is left; if all are open the first stays, so that a model never vanishes. */
function withoutOpen(routes: PlannedRoute[], breakers: PlanOptions['breakers']): PlannedRoute[] {
  const closed = routes.filter(({ route }) => !breakers.isOpen(route));
  return closed.length > 0 ? closed : routes.slice(0, 1);
}

/** The model asked for, which the caller may use and which serves the endpoint. Throws 422, 404, 403, 400 or 501. */
function askedModel({ asked, principal, index }: PlanOptions): { model: CatalogueModel; name: string } {
  const name = asked.model ?? principal.defaultModel;
  if (name === null)
    throw new ApiError('validation_error', {
      message: 'model is missing and the key has no default model.',
      details: [{ type: 'missing', loc: ['model'], msg: 'field required' }],
    });
  const model = index.model(name);
  requireAccess(principal.access, model.record.id);
  if (!has(model.record, asked.serves)) throw cannotServe(model, asked);
  return { model, name };
}

/**
 * Model, access, capability and routes of a request, in memory and pure. Throws ApiError model_not_found, model_excluded,
 * model_capability_not_supported, unsupported_operation, model_not_available_on_pinned_provider or provider_not_available.
 */
export function planRoutes(options: PlanOptions): Plan {
  const { asked, principal, index } = options;
  const { model, name } = askedModel(options);
  const policy = principal.routingPolicy ?? NO_POLICY;
  const found = survey(model, options);
  const canFallBack = (policy.allow_fallbacks ?? true) && principal.fixedProvider === null;
  const routes = canFallBack
    ? found.routes
    : found.routes.filter(({ route }) => route.provider === found.routes[0]?.route.provider);
  for (const id of canFallBack ? (policy.fallback_models ?? []).slice(0, FALLBACK_MODELS_MAX) : []) {
    const other = index.snapshot.models.find((candidate) => candidate.record.id === id);
    if (!other || accessOf(principal.access, id) !== 'allowed' || !has(other.record, asked.serves)) continue;
    routes.push(...survey(other, options).routes);
  }
  if (routes.length === 0) refuse(model, found, options);
  return {
    model,
    requestedModel: name,
    snapshotId: index.snapshot.id,
    routes: withoutOpen(routes, options.breakers).slice(0, ROUTES_MAX),
  };
}
