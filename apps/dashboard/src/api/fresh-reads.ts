import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect } from 'react';

/** Time for which the gateway may answer a person's read of usage from its cache. */
const KEPT_MS = 60_000;
/** The reads that a request of one's own changes, by the noun of their key. */
const NOUNS = new Set<unknown>(['series', 'events', 'rejections', 'spend-trend', 'balance', 'keys']);

let askedAt = Number.NEGATIVE_INFINITY;

/** Makes reads pass the cache for as long as it may be stale. */
export function passCache(nowMs: number): void {
  askedAt = nowMs;
}

/** Returns the member that a read of usage sends beside its filter. */
export function freshness(nowMs: number): { refresh?: true } {
  return nowMs - askedAt < KEPT_MS ? { refresh: true } : {};
}

/** Reads usage, balance and keys anew. */
export function useReadAnew(): () => Promise<void> {
  const cache = useQueryClient();
  return useCallback(() => {
    passCache(Date.now());
    return cache.invalidateQueries({ predicate: ({ queryKey }) => NOUNS.has(queryKey[1]) });
  }, [cache]);
}

/** Makes earlier reads old once a request of one's own is in the ledger. */
export function useReadAnewAfter(isInBooks: boolean): void {
  const readAnew = useReadAnew();
  useEffect(() => {
    if (isInBooks) void readAnew();
  }, [isInBooks, readAnew]);
}
