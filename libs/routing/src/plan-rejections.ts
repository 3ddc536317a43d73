import { ApiError, type CatalogueModel, type RoutingPolicy } from '@gateway/contracts';
import type { Asked } from '@gateway/endpoints';
import { objectRefused } from './object-refused.js';
import { isAllowedBy } from './route-order.js';
import { NO_POLICY, type PlanOptions, type Survey } from './survey.js';

/** Retry-After of a state that waiting does not end: the contract has the header with the code. */
const LASTING_SECONDS = 300;
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
/** Callers' text that a rejection repeats: a name, and no more. */
const NAMEABLE = /^[\w.-]{1,64}$/;

/** Throws the ApiError that says why no route of the model can serve. */
export function refuse(model: CatalogueModel, found: Survey, options: PlanOptions): never {
  const { principal, asked } = options;
  if (
    principal.fixedProvider !== null &&
    !model.routes.some((route) => route.provider === principal.fixedProvider)
  ) {
    throw new ApiError('model_not_available_on_pinned_provider', { param: 'model' });
  }
  if (found.emptiedBy !== null)
    throw new ApiError('bad_request', {
      message: `${found.emptiedBy} leaves no provider of ${model.record.id}.`,
      param: found.emptiedBy,
    });
  if (found.isPlatformOff) throw new ApiError('byok_model_not_allowed', { param: 'model' });
  if (found.readyAtMs !== null)
    throw new ApiError('provider_not_available', {
      message: `No provider of ${model.record.id} is ready: its credentials are at a limit or refused, or its health check fails.`,
      param: 'model',
      retryAfterSeconds: Math.max(1, Math.ceil((found.readyAtMs - options.nowMs) / 1_000)),
      shouldRetry: true,
    });
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

/** Returns the rejection of a lasting state, which SDKs must not wait for: only the operator, or a provider key, ends it. */
function withoutCredential({ record: { id }, routes }: CatalogueModel, options: PlanOptions): ApiError {
  const { principal, providers, nowMs } = options;
  const policy = principal.routingPolicy ?? NO_POLICY;
  const slugs = routes
    .filter((route) => (route.retiresAtMs ?? Infinity) > nowMs && isAllowedBy(policy, route, nowMs))
    .map(({ provider }) => provider)
    .filter((slug) => !providers.has(slug) && [null, slug].includes(principal.fixedProvider));
  const needed = `${id} has no credential here: it needs one of ${[...new Set(slugs)].join(' or ')}.`;
  return new ApiError('provider_not_available', {
    // Those that are there may not call it, or their resource has no deployment of it.
    message: slugs.length === 0 ? `No credential here serves ${id}.` : needed,
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

/** Returns the rejection of a model that does not serve the endpoint. */
export function cannotServe(
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
