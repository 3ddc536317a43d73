import { QueryCache, QueryClient } from '@tanstack/react-query';
import { asProblem, isRetryable } from './problem.js';
import type { SessionToken } from './session-token.js';

const RETRIES = 2;
const AGAIN_MIN_S = 5;
const AGAIN_S = 15;
/**
 * A browser without a network may still reach a gateway beside it. What it does not reach fails and says so. Held back
 * until the network comes, a read would show its skeleton for ever. A change would be made when nobody thinks of it any
 * more.
 */
const ALSO_WITHOUT_NETWORK = { networkMode: 'always' } as const;

export function newQueryClient(): QueryClient {
  return new QueryClient({
    queryCache: keepingFailures(),
    defaultOptions: {
      queries: {
        staleTime: 30_000,
        ...ALSO_WITHOUT_NETWORK,
        refetchOnReconnect: true,
        retry: (failures, failure) => failures < RETRIES && mayRetry(failure),
        refetchInterval: ({ state }) => againMs(state.error),
      },
      mutations: { retry: false, ...ALSO_WITHOUT_NETWORK },
    },
  });
}

/** Returns false for a failure with a wait, which is shown with its countdown instead. */
function mayRetry(failure: unknown): boolean {
  const problem = asProblem(failure);
  return isRetryable(problem) && problem.retryAfterSeconds === null;
}

/** Returns the wait until a failed read is tried again: a part of the gateway that was away comes back without a reload. */
export function againMs(failure: Error | null): number | false {
  if (failure === null) return false;
  const problem = asProblem(failure);
  if (problem.code === 'dashboard_fault') return false;
  // What was asked to wait is read after that, also where programs are asked to give up: they wait a minute at most.
  if (problem.retryAfterSeconds === null && !isRetryable(problem)) return false;
  return 1_000 * Math.max(AGAIN_MIN_S, problem.retryAfterSeconds ?? AGAIN_S);
}

/**
 * Separates the reads of people who use this tab: sign-out, here or in another tab, drops all of them, and a page of
 * another person is left.
 */
export function keepToPerson(
  client: QueryClient,
  session: Pick<SessionToken, 'get' | 'subscribe'>,
  leave: () => void,
): void {
  let known: string | null = null;
  session.subscribe(() => {
    const current = session.get();
    if (current.state === 'out') {
      known = null;
      client.clear();
    }
    if (current.state !== 'in') return;
    const { id } = current.person;
    if (known !== null && known !== id) leave();
    known = id;
  });
}

/**
 * The card of a failure stands while the same is read again: it would vanish for a moment each time. A read that has
 * succeeded since, or was begun anew, has no failure of before.
 */
function keepingFailures(): QueryCache {
  const cache = new QueryCache();
  const failures = new WeakMap<object, Error>();
  cache.subscribe((event) => {
    if (event.type !== 'updated') return;
    const { query, action } = event;
    if (action.type === 'error') failures.set(query, action.error as Error);
    const isForgotten = action.type === 'setState' && action.state.status === 'pending';
    if (action.type === 'success' || isForgotten) failures.delete(query);
    const error = failures.get(query);
    if (action.type === 'fetch' && query.state.status === 'pending' && error !== undefined)
      query.setState({ status: 'error', error });
  });
  return cache;
}
