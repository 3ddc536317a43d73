import {
  DIALECTS,
  type EncodedRequest,
  type ModelRequest,
  type RouteTarget,
  type UpstreamDialect,
} from '@gateway/dialects';
import type { PlannedRoute } from '@gateway/routing';

export function targetOf({ route, model, provider }: PlannedRoute): RouteTarget {
  return {
    upstreamModel: route.upstreamModel,
    maxOutputTokens: route.maxOutputTokens,
    contextLength: route.contextLength,
    reasoning: model.reasoning,
    fixesSampling: model.fixesSampling,
    quirks: provider.quirks(route),
  };
}

export function upstreamDialect({ route }: PlannedRoute): UpstreamDialect {
  const dialect = DIALECTS.get(route.dialect);
  if (!dialect) throw new TypeError(`no dialect ${route.dialect}`);
  return dialect.upstream;
}

/** The body for one route, from the decoded original. Throws ApiError where the route's dialect cannot say it. */
export function encode(request: ModelRequest, planned: PlannedRoute): EncodedRequest {
  return upstreamDialect(planned).encodeRequest(request, targetOf(planned));
}
