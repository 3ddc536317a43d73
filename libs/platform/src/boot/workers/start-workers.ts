import cluster from 'node:cluster';
import { createLogger, type LogLevel } from '../../logging/logger.js';
import { SystemClock } from '../../time/system-clock.js';
import { Workers } from './workers.js';

/** True in a process that has been forked by startWorkers and does the work. */
export function isWorker(): boolean {
  return cluster.isWorker;
}

/** Starts so many processes of this same program; they share the port. */
export function startWorkers(options: {
  service: string;
  count: number;
  environmentOf: (worker: number) => Record<string, string>;
  drainGraceMs: number;
  logLevel: LogLevel;
}): Workers {
  const { service, logLevel, ...rest } = options;
  // Workers accept from one socket that they share. Handed out by the primary, connections that go to a worker which is
  // killed in that moment are held open by the primary for ever, and nobody answers them.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  return new Workers({
    ...rest,
    clock: new SystemClock(),
    logger: createLogger({ service, level: logLevel }),
    onGivenUp: () => process.exit(1),
  });
}
