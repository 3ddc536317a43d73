import type { EdgeConfig } from '@gateway/edge';
import type { EdgeLimits } from '@gateway/fleet';

/** Redis with this process's local share of the limits. */
export function edgeLimits(config: Readonly<EdgeConfig>): EdgeLimits {
  return {
    edges: config.EDGE_REPLICAS,
    commandTimeoutMs: config.REDIS_COMMAND_TIMEOUT_MS,
  };
}
