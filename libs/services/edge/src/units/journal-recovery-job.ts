import { Inject, Injectable } from '@nestjs/common';
import { Funds, type Clock, type Random } from '@gateway/contracts';
import { Journal } from '@gateway/journal';
import { CLOCK, LOGGER, RANDOM, repeat, type Repeated } from '@gateway/platform';
import type { Logger } from 'pino';
import { crashRecord } from './crash-record.js';

const RECOVER_EVERY_MS = 60_000;

/**
 * Takes over journals of dead processes, at the start and once a minute. Then tells the ledger that this process lives
 * and which journals have ended: so a process lost with its disk is noticed.
 */
@Injectable()
export class JournalRecoveryJob {
  private loop: Repeated | null = null;
  private telling: Promise<void> = Promise.resolve();
  private hasEnded = false;

  constructor(
    private readonly journal: Journal,
    private readonly funds: Funds,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Resolves after the first look. */
  async start(): Promise<void> {
    await this.recover();
    // Not awaited: an edge starts without the ledger.
    void this.tell();
    this.loop = repeat(
      this.clock,
      RECOVER_EVERY_MS,
      async () => {
        await this.recover();
        await this.tell();
      },
      (error) => this.logger.error({ err: error }, 'taking over dead journals failed'),
      RECOVER_EVERY_MS,
    );
  }

  /** Begins no further look. One under way is not waited for: a large journal takes longer than a shutdown may. */
  stop(): void {
    void this.loop?.stop();
  }

  /** Tells that the journal of this process has ended, with all of it sent. Resolves whatever becomes of it. */
  ended(): Promise<void> {
    this.hasEnded = true;
    return this.tell();
  }

  /** One after the other, so that a word of life never comes behind the end. */
  private tell(): Promise<void> {
    const { journal, funds, logger } = this;
    this.telling = this.telling.then(async () => {
      try {
        await funds.heard(journal.producer, journal.epoch, this.hasEnded);
        for (const epoch of journal.ended) {
          await funds.heard(epoch.producer, epoch.epoch, true);
          journal.ended.delete(epoch);
        }
      } catch (error) {
        logger.warn({ err: error }, 'the ledger could not be told which journals live');
      }
    });
    return this.telling;
  }

  private async recover(): Promise<void> {
    const found = await this.journal.recover((intent, isUnreadable) =>
      crashRecord(intent, isUnreadable, this.clock, this.random),
    );
    if (found.epochs.length > 0)
      this.logger.info(
        { epochs: found.epochs.length, crashed: found.crashed },
        'took over journals of dead processes',
      );
  }
}
