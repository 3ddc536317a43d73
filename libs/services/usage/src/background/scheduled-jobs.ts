import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import type { Clock } from '@gateway/contracts';
import { CLOCK, LOGGER, repeat, type Repeated } from '@gateway/platform';
import type { Logger } from 'pino';
import { Recharges } from '../payments/recharges.js';
import { Reconciler } from '../reconcile/reconciler.js';
import { Retirements } from '../retirements/retirements.js';
import type { Job } from './job.js';
import { ProjectionJobs } from './projection-jobs.js';
import { RetentionJobs } from './retention-jobs.js';
import { RollupJobs } from './rollup-jobs.js';

const RECHARGE_EVERY_MS = 5_000;
const PROVE_EVERY_MS = 60_000;
const RETIREMENTS_EVERY_MS = 300_000;

/** Scheduled jobs of the service. They start once the process is up and end before the drivers close. */
@Injectable()
export class ScheduledJobs implements OnApplicationBootstrap, OnModuleDestroy {
  private running: Repeated[] = [];

  constructor(
    private readonly projections: ProjectionJobs,
    private readonly rollups: RollupJobs,
    private readonly retention: RetentionJobs,
    private readonly recharges: Recharges,
    private readonly reconciler: Reconciler,
    private readonly retirements: Retirements,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    const jobs: Job[] = [
      ...this.projections.jobs,
      ...this.rollups.jobs,
      { everyMs: RECHARGE_EVERY_MS, what: 'recharges', run: () => this.recharges.advance() },
      ...this.retention.jobs,
      { everyMs: PROVE_EVERY_MS, what: 'the proof of the books', run: () => this.reconciler.advance() },
      {
        everyMs: RETIREMENTS_EVERY_MS,
        what: 'notices of models that retire',
        run: () => this.retirements.advance(),
      },
    ];
    this.running = jobs.map((job) => this.repeated(job));
  }

  async onModuleDestroy(): Promise<void> {
    await this.stop();
  }

  async stop(): Promise<void> {
    await Promise.all(this.running.map((round) => round.stop()));
  }

  private repeated({ everyMs, what, run }: Job): Repeated {
    const task = async (): Promise<void> => void (await run());
    return repeat(this.clock, everyMs, task, (failure) =>
      this.logger.warn({ err: failure, what }, 'a round failed and will be tried again'),
    );
  }
}
