import {
  environmentCredentialId,
  type CatalogueModel,
  type KeyPrincipal,
  type ModelRecord,
  type ProviderKeyGrant,
  type Route,
  type RoutingPolicy,
} from '@gateway/contracts';
import { Unsupported, type Translation } from '@gateway/dialects';
import type { Asked, Endpoint, Need } from '@gateway/endpoints';
import { priceAt, servesTier } from '@gateway/money';
import type { Provider } from '@gateway/providers';
import type { CatalogueIndex } from './catalogue-index.js';
import { matchesModel } from './model-access.js';
import type { CredentialPools, PooledChoice } from './credential-pools.js';
import { narrowed } from './route-choice.js';
import { inOrder, isAllowedBy, orderOf } from './route-order.js';
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
  /** Choice among several credentials of the platform; absent where the provider has one. */
  pooled?: PooledChoice;
  translation: Translation;
}

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
  /** Credentials of providers that have several; absent = none has. */
  pools?: CredentialPools;
  stats: RouteStats;
  nowMs: number;
  /** Draws the target of an alias: the same number, from 0 to below 1, for one request. Absent: 0. */
  point?: () => number;
}

export const NO_POLICY: RoutingPolicy = {};

interface Lacked {
  param: string;
  value?: string;
  what?: string;
  flag?: string;
  input?: readonly string[];
  isTenants?: true;
}

export interface Survey {
  routes: PlannedRoute[];
  /** Reasons why routes were dropped, for the rejection when none is left. */
  missing: Lacked | null;
  /** A route has no credential, neither the platform's nor the account's own: it may have one tomorrow. */
  isUnconfigured: boolean;
  /** A route is left out by the key's routing policy. */
  isExcluded: boolean;
  /** A provider key that could serve the model, or is not allowed to, forbids the platform's credentials. */
  isPlatformOff: boolean;
  /** Earliest end of the cool-downs that have left a route out, in milliseconds since the epoch; null for none. */
  readyAtMs: number | null;
  /** The member of the request that has left no route; null for none. */
  emptiedBy: string | null;
}

const NOTHING = {
  missing: null,
  isUnconfigured: false,
  isExcluded: false,
  isPlatformOff: false,
  readyAtMs: null,
  emptiedBy: null,
};
const NO_KEYS: readonly ProviderKeyGrant[] = [];

/**
 * The routes of one model that can serve the request, in order, each with its translation: first those of the account's
 * own provider keys, then the platform's.
 */
export function survey(model: CatalogueModel, options: PlanOptions): Survey {
  const { asked, endpoint, principal, providers, byok, stats, nowMs } = options;
  const policy = principal.routingPolicy ?? NO_POLICY;
  const lacked = asked.requires.find((requirement) => !has(model.record, requirement));
  const found: Survey = { ...NOTHING, routes: [] };
  const own: PlannedRoute[] = [];
  const order = orderOf(policy, asked);
  for (const route of inOrder(model.routes, { asked, policy: order, principal, stats, nowMs })) {
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
    const ofKeys = keys.length === 0 ? null : asKeysCall({ route, model, provider, translation }, options);
    for (const providerKey of keys) {
      if (!providerKey.allowPlatformFallback) found.isPlatformOff = true;
      if (ofKeys === null || !isServedBy(providerKey, model.record.id)) continue;
      const terms = byokTerms(route, asked.tier, byok.feePct);
      own.push({ route, model, ...ofKeys, terms, providerKey });
    }
    const atProvider = asked.atProvider ?? translation.atProvider;
    if (platform && atProvider !== undefined) {
      found.missing ??= { param: atProvider, isTenants: true };
    } else if (platform && asked.unpriced !== undefined) {
      found.missing ??= asked.unpriced;
    } else if (platform) {
      const readyAtMs = options.pools?.readyAtMs(route, nowMs) ?? null;
      if (readyAtMs !== null && readyAtMs > nowMs) {
        if (readyAtMs === Infinity) found.isUnconfigured = true;
        else found.readyAtMs = Math.min(found.readyAtMs ?? Infinity, readyAtMs);
        continue;
      }
      const terms = platformTerms(route, asked.tier, principal.discount);
      const plannedRoute: PlannedRoute = { route, model, provider, terms, translation };
      if (readyAtMs !== null) plannedRoute.pooled = { key: cacheKeyOf(options, model.record.id), id: null };
      found.routes.push(plannedRoute);
    }
  }
  if (own.length > 0 || found.isPlatformOff)
    found.routes = found.isPlatformOff ? own : own.concat(found.routes);
  const staying = asked.credential == null ? [] : stayingOn(found.routes, asked.credential, options.pools);
  if (staying.length > 0) found.routes = staying;
  return asked.choice === undefined
    ? found
    : Object.assign(found, narrowed(found.routes, asked.choice, nowMs));
}

/** True if the catalogue record has the property, checked as the endpoint named it. */
export function has(record: ModelRecord, need: Need): boolean {
  if ('flag' in need) return record[need.flag];
  if ('flags' in need) return need.flags.every((flag) => record[flag]);
  if ('type' in need) return record.model_type === need.type;
  if ('input' in need) return need.input.some((modality) => record.input_modalities.includes(modality));
  return record.output_modalities.includes(need.output);
}

/** Returns provider and request as an account's own key calls them: the platform's deployments are at another resource. */
function asKeysCall(
  { route, model, provider, translation }: Omit<PlannedRoute, 'terms'>,
  { asked, endpoint, byok }: PlanOptions,
): Pick<PlannedRoute, 'provider' | 'translation'> | null {
  const unnamed = byok.providers.get(route.provider);
  if (unnamed === undefined || provider.quirks(route).upstreamName === undefined)
    return { provider, translation };
  const own = translationOf(route, { asked, endpoint, model, provider: unnamed });
  // The name alone differs.
  return own instanceof Unsupported ? null : { provider: unnamed, translation: own };
}

/** Returns the routes that the credential serves, on it alone. One without an id is that of the environment. */
function stayingOn(
  routes: readonly PlannedRoute[],
  credential: string,
  pools: CredentialPools | undefined,
): PlannedRoute[] {
  const [slug, id = environmentCredentialId(slug)] = credential.split('@', 2);
  return routes.flatMap((one) => {
    if (one.pooled === undefined) return isOn(one, credential) ? [one] : [];
    if (one.route.provider !== slug || pools?.has(slug, id) !== true) return [];
    return [{ ...one, pooled: { key: null, id, isFixed: true as const } }];
  });
}

/** True if the route is called with the credential. One without an id is that of the environment. */
export function isOn(
  one: Pick<PlannedRoute, 'route' | 'providerKey' | 'pooled'>,
  credential: string,
): boolean {
  if (one.providerKey !== undefined) return credentialOf(one) === credential;
  const [slug, id = environmentCredentialId(slug)] = credential.split('@', 2);
  return one.route.provider === slug && (one.pooled?.id ?? environmentCredentialId(slug)) === id;
}

/** Keys of other accounts share no cache with this one. */
function cacheKeyOf({ asked, principal }: PlanOptions, model: string): string | null {
  return asked.cacheKey === undefined ? null : `${principal.accountId} ${model} ${asked.cacheKey}`;
}

/**
 * `<provider>` for the platform's only credential, `<provider>@<id>` for one of several, `<provider>#<provider key>` for one
 * of the account's own.
 */
export function credentialOf({
  route,
  providerKey,
  pooled,
}: Pick<PlannedRoute, 'route' | 'providerKey' | 'pooled'>): string {
  if (providerKey) return `${route.provider}#${providerKey.id}`;
  return pooled?.id == null ? route.provider : `${route.provider}@${pooled.id}`;
}

function isServedBy({ allowedModels }: ProviderKeyGrant, modelId: string): boolean {
  return allowedModels === null || matchesModel(allowedModels, modelId);
}
