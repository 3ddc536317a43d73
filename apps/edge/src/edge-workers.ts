import type { EdgeConfig } from '@gateway/edge';
import { ConfigError, isWorker, startWorkers, type FleetConfig } from '@gateway/platform';

/** Of a journal's name; the producer is a folder's name and a column of the ledger. */
const PRODUCER_MAX_LENGTH = 64;

/**
 * How to start the edge's workers; null in a worker, and where there is one process only. Each has a journal of its own
 * under a name that it keeps over restarts, so that a new worker finds what the one before it left.
 * @throws ConfigError where the workers' names would be too long.
 */
export function primaryOf(
  config: Readonly<EdgeConfig>,
  fleet: Readonly<FleetConfig>,
): (() => Promise<{ close(): Promise<void> }>) | null {
  const { EDGE_WORKERS: count, JOURNAL_PRODUCER } = config;
  if (count === 1 || isWorker()) return null;
  const producerOf = (worker: number): string => `${JOURNAL_PRODUCER}-worker-${worker}`;
  if (producerOf(count - 1).length > PRODUCER_MAX_LENGTH)
    throw new ConfigError([`JOURNAL_PRODUCER has to leave room for -worker-${count - 1} in 64 characters`]);
  const workers = {
    service: 'edge',
    count,
    environmentOf: (worker: number) => ({ JOURNAL_PRODUCER: producerOf(worker) }),
    drainGraceMs: fleet.DRAIN_GRACE_MS,
    logLevel: fleet.LOG_LEVEL,
  };
  return () => Promise.resolve(startWorkers(workers));
}
