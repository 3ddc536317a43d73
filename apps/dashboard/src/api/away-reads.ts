import { useQueryClient, type Query, type QueryClient } from '@tanstack/react-query';
import { useCallback, useSyncExternalStore } from 'react';
import { asProblem } from './problem.js';
import { againMs } from './query-client.js';

/** True for a read that is shown and found no gateway. */
function isAway(query: Query): boolean {
  const { error } = query.state;
  return query.isActive() && error !== null && asProblem(error).code === 'unreachable';
}

/** Returns the time at which the reads that found no gateway are tried again; null where all were answered. */
function nextTryOf(client: QueryClient): number | null {
  const times = client
    .getQueryCache()
    .getAll()
    .filter(isAway)
    .map(({ state }) => state.errorUpdatedAt + Number(againMs(state.error)));
  return times.length === 0 ? null : Math.min(...times);
}

/** Tells when the reads that found no gateway are tried again, and tries them at once. */
export function useAwayReads(): { nextTry: number | null; retry: () => void } {
  const client = useQueryClient();
  const subscribe = useCallback((changed: () => void) => client.getQueryCache().subscribe(changed), [client]);
  const nextTry = useSyncExternalStore(subscribe, () => nextTryOf(client));
  return { nextTry, retry: () => void client.refetchQueries({ predicate: isAway }) };
}
