import {
  ApiError,
  type CatalogueModel,
  type KeyPrincipal,
  type ProviderKeyGrant,
  type Route,
  type RoutingPolicy,
} from '@gateway/contracts';
import { Unsupported, type Translation } from '@gateway/dialects';
import type { Asked, Endpoint } from '@gateway/endpoints';
import { modelLimitName } from '@gateway/limits';
import { estimateInput, priceAt, servesTier } from '@gateway/money';
import type { Provider } from '@gateway/providers';
import { modelNotFound, type CatalogueIndex } from './catalogue-index.js';
import { accessOf, matchesModel, requireAccess, visibleTo } from './model-access.js';
import { has, rankModels, type RankedModel, type Wanted } from './rank-models.js';
import { objectRefused } from './object-refused.js';
import { inOrder, isAllowedBy } from './route-order.js';
import type { RouteStats } from './route-stats.js';
import { missingOf, translationOf } from './route-translation.js';
import { byokTerms, platformTerms, type RouteTerms } from './terms.js';

/** One route of a plan with all that an attempt needs. */
export interface PlannedRoute {
  route: Route;
  model: CatalogueModel;
  provider: Provider;
  terms: RouteTerms;
  /** The account's own key that is called with; absent = the platform's credential. */
  providerKey?: ProviderKeyGrant;
  translation: Translation;
}

/** Routes in the order in which they are tried. Never empty. */
export interface Plan {
  /** The model asked for. */
  model: CatalogueModel;
  /** Name as it was requested. */
  requestedModel: string;
  snapshotId: string;
  routes: PlannedRoute[];
}

/** Options to choose a model from. */
type CandidateOptions = Pick<
  PlanOptions,
  'asked' | 'principal' | 'index' | 'providers' | 'byok' | 'stats' | 'nowMs'
>;

export interface PlanOptions {
  asked: Asked;
  endpoint: Pick<Endpoint, 'translate'>;
  principal: KeyPrincipal;
  index: CatalogueIndex;
  /** Providers with a credential of the platform, by slug. */
  providers: ReadonlyMap<string, Provider>;
  /** Providers that provider keys of the account may be used at, and what of the list price that costs, in percent. */
  byok: { providers: ReadonlyMap<string, Provider>; feePct: string };
  /** A route whose breaker is open leaves the plan while another is closed. */
  breakers: { isOpen(route: Route, credential?: string, account?: string): boolean };
  stats: RouteStats;
  nowMs: number;
}

/** More than any model's routes and fallbacks together; bounds the loop of attempts. */
const ROUTES_MAX = 16;
const FALLBACK_MODELS_MAX = 5;
/** Models that stand behind the one that `auto` has chosen. */
const AUTO_FALLBACKS_MAX = 2;
const AUTO = 'auto';
/** Retry-After of a state that waiting does not end: the contract has the header with the code. */
const LASTING_SECONDS = 300;
/** An answer whose length nobody bounds, and an input that counts as long work, where a model is chosen. */
const LIKELY_OUTPUT_TOKENS = 1_024;
const LONG_INPUT_TOKENS = 8_000;
const NO_POLICY: RoutingPolicy = {};
/** Fields of a policy that leave routes out. */
const RESTRICTIONS = [
  'only_providers',
  'ignore_providers',
  'max_price',
  'require_zero_retention',
  'regions',
] as const;
/** Words for kinds of input. */
const INPUT_WORDS: Readonly<Record<string, string>> = { image: 'images', file: 'documents', video: 'videos' };
/** Callers' text that a refusal repeats: a name, and no more. */
const NAMEABLE = /^[\w.-]{1,64}$/;

interface Lacked {
  param: string;
  value?: string;
  what?: string;
  flag?: string;
  input?: readonly string[];
  isTenants?: true;
}

interface Survey {
  routes: PlannedRoute[];
  /** Reasons why routes were dropped, for the refusal when none is left. */
  missing: Lacked | null;
  /** A route has no credential, neither the platform's nor the account's own: it may have one tomorrow. */
  isUnconfigured: boolean;
  /** A route is left out by the key's routing policy. */
  isExcluded: boolean;
  /** A provider key that could serve the model, or is not allowed to, forbids the platform's credentials. */
  isPlatformOff: boolean;
}

const NOTHING = { missing: null, isUnconfigured: false, isExcluded: false, isPlatformOff: false };
const NO_KEYS: readonly ProviderKeyGrant[] = [];

/**
 * The routes of one model that can serve the request, in order, each with its translation: first those of the account's
 * own provider keys, then the platform's.
 */
function survey(model: CatalogueModel, options: PlanOptions): Survey {
  const { asked, endpoint, principal, providers, byok, stats, nowMs } = options;
  const policy = principal.routingPolicy ?? NO_POLICY;
  const lacked = asked.requires.find((requirement) => !has(model.record, requirement));
  const found: Survey = { ...NOTHING, routes: [] };
  const own: PlannedRoute[] = [];
  for (const route of inOrder(model.routes, { asked, policy, principal, stats, nowMs })) {
    if (principal.fixedProvider !== null && route.provider !== principal.fixedProvider) continue;
    if ((route.retiresAtMs ?? Infinity) <= nowMs) continue;
    const keys = principal.providerKeys?.filter((key) => key.provider === route.provider) ?? NO_KEYS;
    const platform = providers.get(route.provider);
    const provider = platform ?? (keys.length > 0 ? byok.providers.get(route.provider) : undefined);
    const isExcluded = !isAllowedBy(policy, route, nowMs);
    if (lacked !== undefined) {
      // The model's record alone decides: no credential would help.
      found.missing ??= lacked;
      continue;
    }
    if (!provider || isExcluded) {
      found[isExcluded ? 'isExcluded' : 'isUnconfigured'] = true;
      continue;
    }
    if (!servesTier(priceAt(route.price, nowMs).record, asked.tier)) {
      found.missing ??= { param: 'service_tier', value: asked.tier };
      continue;
    }
    const translation = translationOf(route, { asked, endpoint, model, provider });
    if (translation instanceof Unsupported) {
      found.missing ??= missingOf(translation);
      continue;
    }
    for (const providerKey of keys) {
      if (!providerKey.allowPlatformFallback) found.isPlatformOff = true;
      if (!isServedBy(providerKey, model.record.id)) continue;
      const terms = byokTerms(route, asked.tier, byok.feePct);
      own.push({ route, model, provider, terms, providerKey, translation });
    }
    const atProvider = asked.atProvider ?? translation.atProvider;
    if (platform && atProvider !== undefined) {
      found.missing ??= { param: atProvider, isTenants: true };
    } else if (platform && asked.unpriced !== undefined) {
      found.missing ??= asked.unpriced;
    } else if (platform) {
      const terms = platformTerms(route, asked.tier, principal.discount);
      found.routes.push({ route, model, provider, terms, translation });
    }
  }
  if (own.length > 0 || found.isPlatformOff)
    found.routes = found.isPlatformOff ? own : own.concat(found.routes);
  const staying =
    asked.credential == null ? [] : found.routes.filter((one) => credentialOf(one) === asked.credential);
  if (staying.length > 0) found.routes = staying;
  return found;
}

/** `<provider>` for the platform's credential, `<provider>#<provider key>` for one of the account's own. */
export function credentialOf({ route, providerKey }: Pick<PlannedRoute, 'route' | 'providerKey'>): string {
  return providerKey ? `${route.provider}#${providerKey.id}` : route.provider;
}

function isServedBy({ allowedModels }: ProviderKeyGrant, modelId: string): boolean {
  return allowedModels === null || matchesModel(allowedModels, modelId);
}

function refuse(model: CatalogueModel, found: Survey, options: PlanOptions): never {
  const { principal, asked } = options;
  if (
    principal.fixedProvider !== null &&
    !model.routes.some((route) => route.provider === principal.fixedProvider)
  ) {
    throw new ApiError('model_not_available_on_pinned_provider', { param: 'model' });
  }
  if (found.isPlatformOff) throw new ApiError('byok_model_not_allowed', { param: 'model' });
  if (found.missing !== null) {
    const { param, value, what, flag, input, isTenants } = found.missing;
    if (isTenants) throw objectRefused(param);
    // A whole endpoint that the model's record rules out, not a feature of the request.
    if (flag === 'supports_batching')
      throw new ApiError('model_capability_not_supported', {
        message: `${model.record.id} does not support ${what ?? param}.`,
        param,
      });
    const [kind] = input ?? [];
    if (kind !== undefined)
      throw new ApiError('unsupported_operation', {
        providerCode: 'unsupported_operation',
        message: `${model.record.id} takes no ${INPUT_WORDS[kind] ?? kind} (${param}).`,
        param,
      });
    const named = value !== undefined && NAMEABLE.test(value) ? `${param} ${value}` : param;
    throw new ApiError('unsupported_operation', {
      providerCode: 'unsupported_operation',
      message:
        what === undefined
          ? `No provider of ${model.record.id} supports ${named}.`
          : `${model.record.id} does not support ${what}.`,
      param,
    });
  }
  if (!found.isUnconfigured && model.routes.length > 0) {
    // Waiting would not help: the policy has left out what could serve, or every route is for another endpoint.
    if (found.isExcluded) throw excluded(model, principal.routingPolicy ?? NO_POLICY);
    const { status, routeStatus = status } = asked.serves;
    throw cannotServe(model, asked, routeStatus);
  }
  throw withoutCredential(model, options);
}

/** Returns the refusal of a lasting state, which SDKs must not wait for: only the operator, or a provider key, ends it. */
function withoutCredential({ record: { id }, routes }: CatalogueModel, options: PlanOptions): ApiError {
  const { principal, providers, nowMs } = options;
  const policy = principal.routingPolicy ?? NO_POLICY;
  const slugs = routes
    .filter((route) => (route.retiresAtMs ?? Infinity) > nowMs && isAllowedBy(policy, route, nowMs))
    .map(({ provider }) => provider)
    .filter((slug) => !providers.has(slug) && [null, slug].includes(principal.fixedProvider));
  const needed = slugs.length === 0 ? '.' : `: it needs one of ${[...new Set(slugs)].join(' or ')}.`;
  return new ApiError('provider_not_available', {
    message: `${id} has no credential here${needed}`,
    param: 'model',
    retryAfterSeconds: LASTING_SECONDS,
    shouldRetry: false,
  });
}

function excluded({ record }: CatalogueModel, policy: RoutingPolicy): ApiError {
  const set = RESTRICTIONS.filter((field) => policy[field] !== undefined);
  return new ApiError('bad_request', {
    message: `The routing policy of the key leaves no provider of ${record.id}: ${set.join(', ')}.`,
    param: 'model',
  });
}

function cannotServe(
  { record }: CatalogueModel,
  { serves }: Asked,
  status: Asked['serves']['status'],
): ApiError {
  const lacked = 'flags' in serves ? serves.flags.filter((flag) => !record[flag]) : [];
  const msg =
    lacked.length > 0
      ? `${record.id} does not have ${lacked.join(', ')}`
      : `${record.id} cannot serve this endpoint`;
  if (status === 422)
    return new ApiError('validation_error', {
      message: `${msg}.`,
      details: [{ type: 'value_error', loc: ['model'], msg }],
      param: 'model',
    });
  return new ApiError('model_capability_not_supported', {
    status,
    message: `${msg}.`,
    param: 'model',
  });
}

/** Open routes leave while a closed one is left; if all are open the first stays, so that a model never vanishes. */
function withoutOpen(
  routes: PlannedRoute[],
  { breakers, principal }: Pick<PlanOptions, 'breakers' | 'principal'>,
): PlannedRoute[] {
  if (routes.length < 2) return routes;
  const closed = routes.filter(
    ({ route, providerKey }) => !breakers.isOpen(route, providerKey?.id, principal.accountId),
  );
  return closed.length > 0 ? closed : routes.slice(0, 1);
}

/**
 * A unit is counted on one model limit of its key, that of the model it is tried at first: a fallback to a model with a
 * limit of its own would pass that limit by.
 */
function underOneLimit(routes: PlannedRoute[], { modelLimits }: KeyPrincipal): PlannedRoute[] {
  const counted = modelLimitName(modelLimits, routes[0].model.record.id);
  return routes.filter(({ model }) => {
    const name = modelLimitName(modelLimits, model.record.id);
    return name === null || name === counted;
  });
}

/** The model asked for, which the caller may use and which serves the endpoint. Throws 422, 404, 403, 400 or 501. */
function askedModel({ asked, principal, index, nowMs }: PlanOptions, name: string): CatalogueModel {
  const isVisible = visibleTo(principal, nowMs);
  const model = index.model(name, isVisible);
  requireAccess(principal.access, model.record.id, asked.outsideAllowList, () =>
    index.unknown(name, isVisible),
  );
  if (!has(model.record, asked.serves)) throw cannotServe(model, asked, asked.serves.status);
  return model;
}

/** Throws ApiError `validation_error`. */
function askedName({ asked, principal }: PlanOptions): string {
  const name = asked.model ?? principal.defaultModel;
  if (name === null)
    throw new ApiError('validation_error', {
      message: 'model is missing and the key has no default model.',
      details: [{ type: 'missing', loc: ['model'], msg: 'field required' }],
    });
  return name;
}

/** Returns what the request needs of a model that is chosen for it. */
export function wantedBy(asked: Asked): Wanted {
  const { total: inputTokens } = estimateInput(asked.input);
  const uses = (flag: string): boolean => asked.requires.some((need) => 'flag' in need && need.flag === flag);
  return {
    needs: [asked.serves, ...asked.requires],
    inputTokens,
    outputTokens: asked.maxOutputTokens ?? LIKELY_OUTPUT_TOKENS,
    difficulty:
      0.4 * Math.min(1, inputTokens / LONG_INPUT_TOKENS) +
      0.3 * Number(uses('supports_tools')) +
      0.3 * Number(uses('supports_thinking')),
    optimize: 'balanced',
  };
}

/** The models that `auto` may mean, the best first. */
export function candidatesFor(
  options: CandidateOptions,
  wanted: Wanted = wantedBy(options.asked),
): RankedModel[] {
  const { principal, index, providers, byok, stats, nowMs } = options;
  const own = new Set(principal.providerKeys?.map(({ provider }) => provider));
  const callable = {
    has: (slug: string) =>
      providers.has(slug)
        ? providers.get(slug)?.isByNameAlone !== true
        : own.has(slug) && byok.providers.has(slug),
  };
  return rankModels(wanted, { snapshot: index.snapshot, principal, providers: callable, stats, nowMs });
}

/** The best model whose routes can serve, and the next ones. Throws 404 or what the best one's routes are refused with. */
function chosen(options: PlanOptions): { model: CatalogueModel; found: Survey; others: string[] } {
  const ranked = candidatesFor(options);
  if (ranked.length === 0)
    throw modelNotFound('No model that can serve this request is there for the key to choose from.');
  for (const [at, { model }] of ranked.entries()) {
    const found = survey(model, options);
    if (found.routes.length === 0) continue;
    const others = ranked.slice(at + 1, at + 1 + AUTO_FALLBACKS_MAX).map((next) => next.model.record.id);
    return { model, found, others };
  }
  const [{ model }] = ranked;
  return refuse(model, survey(model, options), options);
}

/**
 * Model, access, capability and routes of a request, in memory and pure. Throws ApiError model_not_found, model_excluded,
 * model_capability_not_supported, unsupported_operation, model_not_available_on_pinned_provider, byok_model_not_allowed,
 * bad_request (the routing policy leaves no provider) or provider_not_available.
 */
export function planRoutes(options: PlanOptions): Plan {
  const { asked, principal, index } = options;
  const name = askedName(options);
  if (asked.alsoUses !== undefined) requireAccess(principal.access, asked.alsoUses, 'forbidden');
  const policy = principal.routingPolicy ?? NO_POLICY;
  const auto = name === AUTO ? chosen(options) : null;
  const model = auto?.model ?? askedModel(options, name);
  const found = auto?.found ?? survey(model, options);
  const canFallBack = (policy.allow_fallbacks ?? true) && principal.fixedProvider === null;
  const routes = canFallBack
    ? found.routes
    : found.routes.filter(({ route }) => route.provider === found.routes[0]?.route.provider);
  const fallbacks = policy.fallback_models ?? auto?.others ?? [];
  for (const id of canFallBack ? fallbacks.slice(0, FALLBACK_MODELS_MAX) : []) {
    const other = index.find(id);
    if (!other || other === model || accessOf(principal.access, other.record.id) !== 'allowed') continue;
    if (has(other.record, asked.serves)) routes.push(...survey(other, options).routes);
  }
  if (routes.length === 0) refuse(model, found, options);
  const open = withoutOpen(routes, options);
  return {
    model,
    requestedModel: name,
    snapshotId: index.snapshot.id,
    routes: (fallbacks.length > 0 ? underOneLimit(open, principal) : open).slice(0, ROUTES_MAX),
  };
}
