import { Injectable } from '@nestjs/common';
import { WindowRoller } from '../mirror/window-roller.js';
import { DayRoller } from '../posting/day-roller.js';
import { TagRoller } from '../posting/tag-roller.js';
import { TagSumsRoller } from '../posting/tag-sums-roller.js';
import type { Job } from './job.js';

const everyMs = 60_000;

/** Jobs that add events up for reads and for the 30-day window. */
@Injectable()
export class RollupJobs {
  readonly jobs: readonly Job[] = [
    { everyMs, what: 'the 30-day window', run: () => this.window.roll() },
    { everyMs, what: 'days of usage', run: () => this.days.roll() },
    { everyMs, what: 'tags of usage', run: () => this.tags.roll() },
    { everyMs, what: 'sums of tags', run: () => this.tagSums.roll() },
  ];

  constructor(
    private readonly window: WindowRoller,
    private readonly days: DayRoller,
    private readonly tags: TagRoller,
    private readonly tagSums: TagSumsRoller,
  ) {}
}
