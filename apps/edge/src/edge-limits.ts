import type { EdgeLimits } from '@gateway/fleet';
import { ToNumber } from '@gateway/platform';
import { IsInt, Max, Min } from 'class-validator';

/** Settings of an edge that shares its limits with others. Names are the environment's. */
export class EdgeLimitsConfig {
  /**
   * Edges of the fleet. While Redis is away each lets in its share of every limit, so there is no default: too small a
   * number would pass limits then.
   */
  @ToNumber() @IsInt() @Min(1) @Max(10_000) EDGE_REPLICAS!: number;
  /** The least bound of one Redis command: later the local share decides. It grows by itself where Redis is slow. */
  @ToNumber() @IsInt() @Min(5) @Max(5_000) REDIS_COMMAND_TIMEOUT_MS = 25;
}

/** Redis with this process's local share of the limits. */
export function edgeLimits(config: Readonly<EdgeLimitsConfig>): EdgeLimits {
  return {
    edges: config.EDGE_REPLICAS,
    commandTimeoutMs: config.REDIS_COMMAND_TIMEOUT_MS,
  };
}
