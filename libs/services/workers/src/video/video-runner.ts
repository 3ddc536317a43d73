import { Inject, Injectable } from '@nestjs/common';
import type { Clock, Random } from '@gateway/contracts';
import { CLOCK, LOGGER, RANDOM } from '@gateway/platform';
import type { Logger } from 'pino';
import { LeasedRunner } from '../leased/leased-runner.js';
import { WorkersConfig } from '../workers.config.js';
import { VideoWork } from './video-work.js';
import { VideoStore, type VideoTask } from './video.store.js';

/** Waits for videos, most of the time for their providers. */
@Injectable()
export class VideoRunner extends LeasedRunner<VideoTask> {
  constructor(
    tasks: VideoStore,
    work: VideoWork,
    config: WorkersConfig,
    @Inject(CLOCK) clock: Clock,
    @Inject(RANDOM) random: Random,
    @Inject(LOGGER) logger: Logger,
  ) {
    super(
      {
        noun: 'video task',
        atOnce: 500,
        claim: (...by) => tasks.claim(...by),
        renew: ({ id }, worker, leaseMs) => tasks.renew(id, worker, leaseMs),
        release: (id, worker) => tasks.release(id, worker),
        run: (task, _worker, signal) => work.run(task, signal),
      },
      config,
      clock,
      random,
      logger,
    );
  }
}
