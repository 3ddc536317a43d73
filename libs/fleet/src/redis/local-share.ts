import { LocalShareLimitStore } from '@gateway/limits';
import { ConnectedLimitStore } from './connect-redis.js';
import type { LimitStoreFactory } from './connect-redis.js';

export interface EdgeLimits {
  /** Edge processes of the fleet. */
  edges: number;
  commandTimeoutMs: number;
}

/** The limit store of an edge: Redis, and its own share of the limits where Redis is away (money-and-limits 3). */
export function withLocalShare({ edges, commandTimeoutMs }: EdgeLimits): LimitStoreFactory {
  return (options) => {
    const store = new ConnectedLimitStore({ ...options, commandTimeoutMs });
    const isAway = (accountId: string): boolean => store.isAway(accountId);
    return new LocalShareLimitStore({ store, isAway, clock: options.clock, edges });
  };
}
