import { Injectable } from '@nestjs/common';
import { WindowRollup } from '../projection/window-rollup.js';
import { MonthPartitions } from '../partitions/month-partitions.js';
import { DayRollup } from '../posting/day-rollup.js';
import { ProviderRollup } from '../posting/provider-rollup.js';
import { TagRollup } from '../posting/tag-rollup.js';
import { TagSumsRollup } from '../posting/tag-sums-rollup.js';
import type { Job } from './job.js';

const everyMs = 60_000;

/** Jobs that add events up for reads and for the 30-day window, and make room for those of coming months. */
@Injectable()
export class RollupJobs {
  readonly jobs: readonly Job[] = [
    { everyMs, what: 'the 30-day window', run: () => this.window.roll() },
    { everyMs, what: 'days of usage', run: () => this.days.roll() },
    { everyMs, what: 'tags of usage', run: () => this.tags.roll() },
    { everyMs, what: 'sums of tags', run: () => this.tagSums.roll() },
    { everyMs, what: 'what providers are owed', run: () => this.providers.roll() },
    { everyMs, what: 'months of events', run: () => this.months.advance() },
  ];

  constructor(
    private readonly window: WindowRollup,
    private readonly days: DayRollup,
    private readonly tags: TagRollup,
    private readonly tagSums: TagSumsRollup,
    private readonly providers: ProviderRollup,
    private readonly months: MonthPartitions,
  ) {}
}
