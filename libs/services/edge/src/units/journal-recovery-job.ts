import { Inject, Injectable } from '@nestjs/common';
import type { Clock, Random } from '@gateway/contracts';
import { Journal } from '@gateway/journal';
import { CLOCK, LOGGER, RANDOM, repeat, type Repeated } from '@gateway/platform';
import type { Logger } from 'pino';
import { crashRecord } from './crash-record.js';

const RECOVER_EVERY_MS = 60_000;

/** Takes over journals of dead processes, at the start and once a minute. */
@Injectable()
export class JournalRecoveryJob {
  private loop: Repeated | null = null;

  constructor(
    private readonly journal: Journal,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Resolves after the first look. */
  async start(): Promise<void> {
    await this.recover();
    this.loop = repeat(
      this.clock,
      RECOVER_EVERY_MS,
      () => this.recover(),
      (error) => this.logger.error({ err: error }, 'taking over dead journals failed'),
      RECOVER_EVERY_MS,
    );
  }

  /** Begins no further look. One under way is not waited for: a large journal takes longer than a shutdown may. */
  stop(): void {
    void this.loop?.stop();
  }

  private async recover(): Promise<void> {
    const found = await this.journal.recover((intent, isLost) =>
      crashRecord(intent, isLost, this.clock, this.random),
    );
    if (found.epochs.length > 0)
      this.logger.info(
        { epochs: found.epochs.length, crashed: found.crashed },
        'took over journals of dead processes',
      );
  }
}
