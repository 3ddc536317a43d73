import { Inject, Injectable } from '@nestjs/common';
import type { Clock, Random } from '@gateway/contracts';
import { CLOCK, LOGGER, RANDOM } from '@gateway/platform';
import type { Logger } from 'pino';
import { LeasedRunner } from '../../leased/leased-runner.js';
import { WorkersConfig } from '../../workers.config.js';
import { BackgroundWork } from './background-work.js';
import { BackgroundStore, type BackgroundTask } from './background.store.js';

/** Runs responses that nobody waits for. */
@Injectable()
export class BackgroundRunner extends LeasedRunner<BackgroundTask> {
  constructor(
    tasks: BackgroundStore,
    work: BackgroundWork,
    config: WorkersConfig,
    @Inject(CLOCK) clock: Clock,
    @Inject(RANDOM) random: Random,
    @Inject(LOGGER) logger: Logger,
  ) {
    super(
      {
        noun: 'background response',
        atOnce: 200,
        claim: (...by) => tasks.claim(...by),
        renew: ({ id }, worker, leaseMs) => tasks.renew(id, worker, leaseMs),
        release: (id, worker) => tasks.release(id, worker),
        run: (task, worker, signal) => work.run(task, worker, signal),
      },
      config,
      clock,
      random,
      logger,
    );
    tasks.onBegun = () => this.wake();
  }
}
