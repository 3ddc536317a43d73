import { runClockBehind } from './clock-behind.js';
import { runFullDisk } from './full-disk.js';
import { runKeysAway } from './keys-away.js';
import { runLongWork } from './long-work.js';
import { runManyStreams } from './many-streams.js';
import { runMinute } from './minute.js';
import { runRevokes } from './revokes.js';
import type { Run, SeedResult } from './run-seed.js';

/** A case that is not a load with faults by a schedule. */
export type Course = (run: Run, seed: number, notes: string[]) => Promise<SeedResult>;

export const COURSES: Readonly<Record<string, Course | undefined>> = {
  B08: runFullDisk,
  K04: runRevokes,
  K07: runKeysAway,
  R01: runMinute,
  W01: runLongWork,
  clock: runClockBehind,
  streams: runManyStreams,
};
