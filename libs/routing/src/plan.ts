import {
  ApiError,
  type CatalogueModel,
  type KeyPrincipal,
  type Route,
  type RoutingPolicy,
} from '@gateway/contracts';
import type { ModelRequest } from '@gateway/dialects';
import type { Provider } from '@gateway/providers';
import type { CatalogueIndex } from './catalogue-index.js';
import { missingCapability } from './eligibility.js';
import { accessOf } from './model-access.js';

/** One route of a plan with all that an attempt needs. */
export interface PlannedRoute {
  route: Route;
  model: CatalogueModel;
  provider: Provider;
}

/** Routes in the order in which they are tried. Never empty. */
export interface Plan {
  model: CatalogueModel;
  routes: PlannedRoute[];
}

export interface PlanOptions {
  request: ModelRequest;
  /** The model asked for; access was checked. */
  model: CatalogueModel;
  principal: KeyPrincipal;
  index: CatalogueIndex;
  /** Providers with a credential, by slug. */
  providers: ReadonlyMap<string, Provider>;
  /** True where the breaker of the route is open: it goes last, and leaves the plan while another is closed. */
  isOpen: (route: Route) => boolean;
}

/** More than any model's routes and fallbacks together; bounds the loop of attempts. */
const LONGEST_PLAN = 16;

function rate(route: Route, side: 'prompt_usd_per_1m' | 'completion_usd_per_1m'): number {
  return Number(route.price[side] ?? 0);
}

/** For ordering only: which of two routes is cheaper never depends on the last digits. */
function orderingPrice(route: Route): number {
  return rate(route, 'prompt_usd_per_1m') + rate(route, 'completion_usd_per_1m');
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
function compare(request: ModelRequest, policy: RoutingPolicy): (a: Route, b: Route) => number {
  const wanted = policy.provider_order ?? [];
  const place = (route: Route): number => {
    const at = wanted.indexOf(route.provider);
    return at < 0 ? wanted.length : at;
  };
  const translated = (route: Route): number => (route.dialect === request.dialect ? 0 : 1);
  return (a, b) =>
    place(a) - place(b) ||
    orderingPrice(a) - orderingPrice(b) ||
    translated(a) - translated(b) ||
    a.provider.localeCompare(b.provider);
}

const UNSERVED_STATUS: Partial<Record<ModelRequest['dialect'], number>> = { responses: 501, messages: 501 };

function requireEndpoint(request: ModelRequest, model: CatalogueModel): void {
  if (model.record.supports_completions_api) return;
  throw new ApiError('model_capability_not_supported', {
    status: UNSERVED_STATUS[request.dialect] ?? 400,
    message: `${model.record.id} cannot serve this endpoint.`,
    param: 'model',
  });
}

interface Survey {
  routes: PlannedRoute[];
  /** Why routes fell out, for the refusal when none is left. */
  missing: string | null;
  hasUnavailable: boolean;
}

function survey(model: CatalogueModel, options: PlanOptions): Survey {
  const { request, principal, providers } = options;
  const policy = principal.routingPolicy ?? {};
  const found: Survey = { routes: [], missing: null, hasUnavailable: false };
  for (const route of [...model.routes].sort(compare(request, policy))) {
    if (principal.fixedProvider !== null && route.provider !== principal.fixedProvider) continue;
    if (route.dialect !== 'chat' && route.dialect !== 'messages') continue;
    const provider = providers.get(route.provider);
    if (!provider || !isAllowedBy(policy, route)) {
      found.hasUnavailable = true;
      continue;
    }
    const missing = missingCapability(request, model, route, provider.quirks(route));
    if (missing === null) found.routes.push({ route, model, provider });
    else found.missing ??= missing;
  }
  return found;
}

function refuse(model: CatalogueModel, found: Survey, principal: KeyPrincipal): never {
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
  throw new ApiError('provider_not_available', { retryAfterSeconds: 5 });
}

/** Open routes leave while a closed one is left; if all are open the first stays, so that a model never vanishes. */
function withoutOpen(routes: PlannedRoute[], isOpen: PlanOptions['isOpen']): PlannedRoute[] {
  const closed = routes.filter(({ route }) => !isOpen(route));
  return closed.length > 0 ? closed : routes.slice(0, 1);
}

/**
 * The routes for a request, in memory and pure. Throws ApiError model_capability_not_supported (400, or 501 on messages
 * and responses), unsupported_operation, model_not_available_on_pinned_provider or provider_not_available.
 */
export function planRoutes(options: PlanOptions): Plan {
  const { request, model, principal, index } = options;
  requireEndpoint(request, model);
  const policy = principal.routingPolicy ?? {};
  const found = survey(model, options);
  const canFallBack = (policy.allow_fallbacks ?? true) && principal.fixedProvider === null;
  const routes = canFallBack
    ? found.routes
    : found.routes.filter(({ route }) => route.provider === found.routes[0]?.route.provider);
  for (const id of canFallBack ? (policy.fallback_models ?? []).slice(0, 5) : []) {
    const other = index.snapshot.models.find((candidate) => candidate.record.id === id);
    if (!other || accessOf(principal.access, id) !== 'allowed' || !other.record.supports_completions_api)
      continue;
    routes.push(...survey(other, options).routes);
  }
  if (routes.length === 0) refuse(model, found, principal);
  return { model, routes: withoutOpen(routes, options.isOpen).slice(0, LONGEST_PLAN) };
}
