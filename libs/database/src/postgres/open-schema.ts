import type { Clock, Timer } from '@gateway/contracts';
import { releaseOf, SystemClock } from '@gateway/platform';
import { applyMigrations } from './apply-migrations.js';
import { assertSchemaKnown } from './assert-schema-known.js';

export interface OpenSchemaOptions {
  /** postgresql://… */
  url: string;
  /** Folder with schema.prisma and migrations/. */
  schemaDir: string;
  schema: string;
  /** Applies what is missing first. */
  migrates: boolean;
  /** Gets a line as soon as PostgreSQL is asked and one every 10 s until it has answered. */
  report: (line: string) => void;
  /** Clock for tests. */
  clock?: Pick<Clock, 'setTimer' | 'monotonic'>;
}

const AGAIN_MS = 10_000;

/**
 * Opens a service's schema at its start: it has every migration of this release, and no other but those that this
 * release runs with. @throws Error with one sentence that says what differs and what to do.
 */
export async function openSchema(options: OpenSchemaOptions): Promise<void> {
  const { url, schemaDir, schema, migrates, report, clock = new SystemClock() } = options;
  const place = { url, schemaDir, schema, release: releaseOf(import.meta.dirname) };
  const whileIn = async (step: string, work: () => Promise<unknown>): Promise<void> => {
    const startedMs = clock.monotonic();
    const next: { timer?: Timer } = {};
    const repeat = (): void => {
      const seconds = Math.round((clock.monotonic() - startedMs) / 1_000);
      report(`waiting for PostgreSQL to ${step} schema "${schema}", for ${seconds} s`);
      next.timer = clock.setTimer(AGAIN_MS, repeat);
    };
    repeat();
    try {
      await work();
    } finally {
      next.timer?.cancel();
    }
  };
  if (migrates) await whileIn('migrate', () => applyMigrations(place));
  await whileIn('check', () => assertSchemaKnown(place));
}
