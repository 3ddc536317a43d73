import { Inject, Injectable } from '@nestjs/common';
import type { Clock, Random } from '@gateway/contracts';
import { CLOCK, LOGGER, RANDOM } from '@gateway/platform';
import type { Logger } from 'pino';
import { LeasedRunner } from '../leased/leased-runner.js';
import { WorkersConfig } from '../workers.config.js';
import { BatchStore, type Batch } from './batches.store.js';
import { UpstreamWork } from './upstream-work.js';

/** Polls batches that a provider runs, each when it is due. */
@Injectable()
export class UpstreamRunner extends LeasedRunner<Batch> {
  constructor(
    batches: BatchStore,
    work: UpstreamWork,
    config: WorkersConfig,
    @Inject(CLOCK) clock: Clock,
    @Inject(RANDOM) random: Random,
    @Inject(LOGGER) logger: Logger,
  ) {
    super(
      {
        noun: 'upstream batch',
        atOnce: 16,
        claim: (worker, leaseMs, served) => batches.claim(worker, leaseMs, true, served),
        renew: async ({ id }, worker, leaseMs) => (await batches.renew(id, worker, leaseMs)) !== null,
        release: (id, worker) => batches.release(id, worker),
        run: (batch, worker) => work.pollStep(batch, worker),
      },
      config,
      clock,
      random,
      logger,
    );
  }
}
