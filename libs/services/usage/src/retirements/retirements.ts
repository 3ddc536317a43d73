import { Inject, Injectable, Optional } from '@nestjs/common';
import { CatalogueReader, type Clock } from '@gateway/contracts';
import { OutboxRelay } from '@gateway/event-log';
import { CLOCK } from '@gateway/platform';
import { RetirementsStore } from './retirements.store.js';
import { retiringModels } from './retiring-models.js';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** Hour of UTC in which organizations are told. */
const HOUR = 8;

/**
 * Tells organizations of models that they used in the last 30 days and that are retired soon: once for each mark. A day
 * that no process was up is made good on the next, with the mark that is nearest to the day then.
 */
@Injectable()
export class Retirements {
  /** Day that this process has finished. */
  private finished = -1;

  constructor(
    private readonly store: RetirementsStore,
    @Inject(OutboxRelay) private readonly outbox: Pick<OutboxRelay, 'wake'>,
    @Inject(CLOCK) private readonly clock: Pick<Clock, 'now'>,
    /** Days of retirement are known only where a catalogue is at hand. */
    @Optional()
    @Inject(CatalogueReader)
    private readonly catalogue: Pick<CatalogueReader, 'snapshot'> | null = null,
  ) {}

  /** Does the work of the day, once, in its hour. Answers how many events were added. */
  async advance(): Promise<number> {
    const nowMs = this.clock.now();
    const day = Math.floor(nowMs / DAY_MS);
    const isHour = Math.floor((nowMs % DAY_MS) / HOUR_MS) === HOUR;
    if (!isHour || day === this.finished || this.catalogue === null) return 0;
    const models = retiringModels(this.catalogue.snapshot(), nowMs);
    let told = 0;
    if (models.length > 0)
      for (let orgs = await this.store.organizationsAfter(''); orgs.length > 0;) {
        told += await this.store.tell(orgs, models);
        orgs = await this.store.organizationsAfter(orgs[orgs.length - 1]);
      }
    await this.store.forgetOld();
    this.finished = day;
    if (told > 0) this.outbox.wake();
    return told;
  }
}
