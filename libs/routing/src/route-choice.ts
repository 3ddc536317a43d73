import { ApiError, type Route } from '@gateway/contracts';
import type { Translation } from '@gateway/dialects';
import type { RouteChoice } from '@gateway/endpoints';
import { isAllowedBy } from './route-order.js';

interface Narrowed<T> {
  routes: T[];
  /** The member that leaves none of them; null where one is left, or none was there. */
  emptiedBy: string | null;
}

/** Members that the gateway itself keeps or has no use for: that a provider ignores them is no loss. */
const NO_LOSS: ReadonlySet<string> = new Set(['metadata', 'route', 'transforms', 'usage']);

/** Leaves out the routes that the request's own members exclude. What is left keeps its order. */
export function narrowed<T extends { route: Route; translation: Translation }>(
  all: T[],
  choice: RouteChoice,
  nowMs: number,
): Narrowed<T> {
  if (all.length === 0) return { routes: all, emptiedBy: null };
  let routes = all;
  for (const { param, policy } of choice.limits) {
    routes = routes.filter(({ route }) => isAllowedBy(policy, route, nowMs));
    if (routes.length === 0) return { routes, emptiedBy: param };
  }
  if (choice.requiresHints) routes = routes.filter(({ translation }) => ignoresNothing(translation));
  return { routes, emptiedBy: routes.length === 0 ? 'provider.require_parameters' : null };
}

/** True if the route is sent every parameter. A route that refuses the request itself says so when its turn comes. */
function ignoresNothing(translation: Translation): boolean {
  try {
    translation.prepare?.();
  } catch (error) {
    if (error instanceof ApiError) return true;
    throw error;
  }
  return translation.ignored.every((name) => NO_LOSS.has(name));
}

/** Runs a check of a model, whose rejection names the member that named the model. Throws what it throws. */
export function naming<T>(param: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (param === 'model' || !(error instanceof ApiError) || error.options.param !== 'model') throw error;
    const { message, status, options } = error;
    // The envelope of messages has no param.
    throw new ApiError(error.code, { ...options, message: `${param}: ${message}`, status, param });
  }
}
