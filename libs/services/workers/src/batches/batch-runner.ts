import { Inject, Injectable } from '@nestjs/common';
import type { Clock, Random } from '@gateway/contracts';
import { CLOCK, LOGGER, RANDOM } from '@gateway/platform';
import type { Logger } from 'pino';
import { LeasedRunner } from '../leased/leased-runner.js';
import { WorkersConfig } from '../workers.config.js';
import { BatchStore, type Batch } from './batches.store.js';
import { BatchWork } from './batch-work.js';

/** Runs batches; a worker that finds one cancelled leaves it, and it is claimed again to be ended. */
@Injectable()
export class BatchRunner extends LeasedRunner<Batch> {
  constructor(
    batches: BatchStore,
    work: BatchWork,
    config: WorkersConfig,
    @Inject(CLOCK) clock: Clock,
    @Inject(RANDOM) random: Random,
    @Inject(LOGGER) logger: Logger,
  ) {
    super(
      {
        noun: 'batch',
        atOnce: 4,
        claim: (worker, leaseMs) => batches.claim(worker, leaseMs, false),
        renew: async ({ id, status }, worker, leaseMs) => {
          const now = await batches.renew(id, worker, leaseMs);
          return now !== null && (now !== 'cancelling' || status === 'cancelling');
        },
        release: (id, worker) => batches.release(id, worker),
        run: (batch, worker, signal) => work.run(batch, worker, signal),
      },
      config,
      clock,
      random,
      logger,
    );
  }
}
