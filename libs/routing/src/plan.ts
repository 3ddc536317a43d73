import { ApiError, type Alias, type CatalogueModel, type KeyPrincipal } from '@gateway/contracts';
import type { Asked } from '@gateway/endpoints';
import { modelLimitName } from '@gateway/limits';
import { estimateInput } from '@gateway/money';
import { drawn, requireTargets, usableTargets } from './alias-targets.js';
import { modelNotFound } from './catalogue-index.js';
import { accessOf, requireAccess, visibleTo } from './model-access.js';
import { cannotServe, refuse } from './plan-rejections.js';
import { rankModels, type RankedModel, type Wanted } from './rank-models.js';
import { naming } from './route-choice.js';
import { has, NO_POLICY, survey, type PlannedRoute, type PlanOptions, type Survey } from './survey.js';

/** Routes in the order in which they are tried. Never empty. */
export interface Plan {
  /** The model asked for. */
  model: CatalogueModel;
  /** Name as it was requested. */
  requestedModel: string;
  snapshotId: string;
  routes: PlannedRoute[];
  /** The alias that the requested name is, or the key's default model; null where it is none. */
  alias: Alias | null;
  /** Members of the request that the plan does not follow. */
  unread: readonly string[];
}

/** Options to choose a model from. */
type CandidateOptions = Pick<
  PlanOptions,
  'asked' | 'principal' | 'index' | 'providers' | 'byok' | 'stats' | 'nowMs'
>;

/** More than any model's routes and fallbacks together; bounds the loop of attempts. */
const ROUTES_MAX = 16;
const FALLBACK_MODELS_MAX = 5;
/** Models that stand behind the one that `auto` has chosen. */
const AUTO_FALLBACKS_MAX = 2;
const AUTO = 'auto';
/** An answer whose length nobody bounds, and an input that counts as long work, where a model is chosen. */
const LIKELY_OUTPUT_TOKENS = 1_024;
const LONG_INPUT_TOKENS = 8_000;

/** Drops routes whose breaker is open while another route works. If all are open the first stays, so that a model never vanishes. */
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

/**
 * The targets of an alias that serve the endpoint, in the order in which they are tried: where the conversation stays, else
 * as they are drawn. Throws ApiError model_excluded, model_not_found, or as `cannotServe` says.
 */
function targetsOf(options: PlanOptions, alias: Alias): CatalogueModel[] {
  const { asked, point = () => 0 } = options;
  const targets = requireTargets(alias, options);
  const serving = targets.filter(({ model }) => has(model.record, asked.serves));
  if (serving.length === 0) throw cannotServe(targets[0].model, asked, asked.serves.status);
  const ordered = drawn(serving, point()).map(({ model }) => model);
  const staying = ordered.find(({ record }) => record.id === asked.lastModel);
  return staying === undefined ? ordered : [staying, ...ordered.filter((model) => model !== staying)];
}

/** The first of the targets whose routes can serve, and the others; the very first where none can. */
function firstServing(options: PlanOptions, models: readonly CatalogueModel[]): Chosen {
  for (const model of models) {
    const found = survey(model, options);
    const others = models.filter((one) => one !== model).map(({ record }) => record.id);
    if (found.routes.length > 0) return { model, found, others };
  }
  const [model] = models;
  return { model, found: survey(model, options), others: [] };
}

interface Chosen {
  model: CatalogueModel;
  found: Survey;
  others: readonly string[];
}

const NO_IDS: readonly string[] = [];
const NO_MODELS: readonly CatalogueModel[] = [];

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
function chosen(options: PlanOptions): Chosen {
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

/** Models that follow the first: those that the request names, each checked as the first is, else those of the policy. */
function fallbackModels(options: PlanOptions, others: readonly string[]): readonly CatalogueModel[] {
  const { asked, principal, index } = options;
  const named = asked.choice?.models ?? null;
  if (named !== null)
    return named.flatMap(({ name, param }) =>
      naming(param, () => {
        if (name === AUTO) return [chosen(options).model];
        const alias = index.alias(name, principal.orgId);
        return alias === null ? [askedModel(options, name)] : targetsOf(options, alias);
      }),
    );
  const ids = principal.routingPolicy?.fallback_models ?? others;
  if (ids.length === 0) return NO_MODELS;
  return ids.slice(0, FALLBACK_MODELS_MAX).flatMap((id) => {
    const alias = index.alias(id, principal.orgId);
    if (alias !== null) {
      const usable = usableTargets(alias, options).filter(({ model }) => has(model.record, asked.serves));
      return usable.length === 0 ? [] : drawn(usable, options.point?.() ?? 0).map(({ model }) => model);
    }
    const model = index.find(id);
    if (!model || accessOf(principal.access, model.record.id) !== 'allowed') return [];
    return has(model.record, asked.serves) ? [model] : [];
  });
}

/**
 * Model, access, capability and routes of a request, in memory and pure. Throws ApiError model_not_found, model_excluded,
 * model_capability_not_supported, unsupported_operation, model_not_available_on_pinned_provider, byok_model_not_allowed,
 * bad_request (the routing policy or a member of the request leaves no provider) or provider_not_available.
 */
export function planRoutes(options: PlanOptions): Plan {
  const { choice } = options.asked;
  return choice === undefined ? planFirst(options) : naming(choice.param, () => planFirst(options));
}

function planFirst(options: PlanOptions): Plan {
  const { asked, principal, index } = options;
  const name = askedName(options);
  if (asked.alsoUses !== undefined) requireAccess(principal.access, asked.alsoUses, 'forbidden');
  const isAuto = name === AUTO;
  const alias = isAuto || index.book.aliases.length === 0 ? null : index.alias(name, principal.orgId);
  let first: Chosen;
  if (isAuto) first = chosen(options);
  else if (alias !== null) first = firstServing(options, targetsOf(options, alias));
  else {
    const only = askedModel(options, name);
    first = { model: only, found: survey(only, options), others: NO_IDS };
  }
  const { model, found } = first;
  const { allow_fallbacks: isAllowed = true } = principal.routingPolicy ?? NO_POLICY;
  // By another provider or model than the first one.
  const canFallBack = isAllowed && principal.fixedProvider === null && asked.choice?.allowFallbacks !== false;
  const routes = canFallBack
    ? found.routes
    : found.routes.filter(({ route }) => route.provider === found.routes[0]?.route.provider);
  // The other targets of an alias go before the fallback models, those of `auto` in their place.
  const targets =
    isAuto || first.others.length === 0 ? NO_MODELS : first.others.flatMap((id) => index.byExactId(id) ?? []);
  const named = canFallBack ? fallbackModels(options, isAuto ? first.others : NO_IDS) : NO_MODELS;
  const hasFallbacks = canFallBack && targets.length + named.length > 0;
  if (hasFallbacks)
    for (const other of new Set([...targets, ...named]))
      if (other !== model) routes.push(...survey(other, options).routes);
  if (routes.length === 0) refuse(model, found, options);
  const open = withoutOpen(routes, options);
  return {
    model,
    requestedModel: name,
    snapshotId: index.snapshot.id,
    alias,
    routes: (hasFallbacks ? underOneLimit(open, principal) : open).slice(0, ROUTES_MAX),
    unread: !canFallBack && (asked.choice?.models?.length ?? 0) > 0 ? ['models'] : [],
  };
}
