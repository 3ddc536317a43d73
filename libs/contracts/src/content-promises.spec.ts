import fc from 'fast-check';
import { retainedFromMs, retainedUntilMs, promisesAfter, type ContentPromise } from './content-promises.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const BEGIN_MS = Date.parse('2026-01-01T00:00:00Z');

interface Setting {
  fromMs: number;
  days: number;
}

const days = fc.integer({ min: 1, max: 90 });
/** Settings of an organization, the first of which it begins with. */
const history = fc
  .array(fc.record({ afterHours: fc.integer({ min: 0, max: 24 * 40 }), days }), {
    minLength: 1,
    maxLength: 20,
  })
  .map((changes) => {
    let atMs = BEGIN_MS;
    return changes.map((change): Setting => ({
      fromMs: (atMs += change.afterHours * HOUR_MS),
      days: change.days,
    }));
  });

/** Returns promises as the keys service stores them: one for each change. */
function promisesOf(settings: readonly Setting[]): ContentPromise[] {
  let past: ContentPromise[] = [];
  settings.slice(1).forEach(({ fromMs, days: next }, before) => {
    const ended = settings[before].days;
    if (next !== ended) past = promisesAfter(past, { days: ended, next, atMs: fromMs });
  });
  return [...past, { until: null, days: settings[settings.length - 1].days }];
}

/** The rule itself: the shortest that was set at any moment since the content was made. */
function shortestSince(settings: readonly Setting[], madeMs: number): number {
  const inForce = settings.filter((_, at) => at === settings.length - 1 || settings[at + 1].fromMs > madeMs);
  return Math.min(...inForce.map((setting) => setting.days));
}

describe('promises of how long contents are kept', () => {
  it('a content is kept for the shortest that was set since it was made, through any changes', () => {
    fc.assert(
      fc.property(
        history,
        fc.nat(1_000_000),
        fc.nat(24 * 200),
        fc.boolean(),
        (settings, made, laterHours, isAtAChange) => {
          const lastMs = settings[settings.length - 1].fromMs;
          const nowMs = lastMs + laterHours * HOUR_MS;
          const span = lastMs - BEGIN_MS + 1;
          const madeMs = isAtAChange
            ? settings[made % settings.length].fromMs
            : BEGIN_MS + ((made * HOUR_MS) % span);
          const atFirst = settings.filter(({ fromMs }) => fromMs <= madeMs).at(-1) ?? settings[0];
          const content = {
            created_at: new Date(madeMs),
            expires_at: new Date(madeMs + atFirst.days * DAY_MS),
          };
          const promises = promisesOf(settings);
          const expected = madeMs + shortestSince(settings, madeMs) * DAY_MS;
          const until = retainedUntilMs(content, promises);
          // What is past every promise may have been forgotten, and is past its own time then.
          if (expected > nowMs || until > nowMs) expect(until).toBe(expected);
          const isRemoved = content.expires_at.getTime() <= nowMs || madeMs < retainedFromMs(promises, nowMs);
          expect(isRemoved).toBe(expected <= nowMs);
        },
      ),
      { numRuns: 2_000, seed: 15 },
    );
  });

  it('are at most one for each number of days, however often they change', () => {
    fc.assert(
      fc.property(history, (settings) => {
        const kept = promisesOf(settings).map((promise) => promise.days);
        expect(new Set(kept).size).toBe(kept.length);
      }),
      { numRuns: 500, seed: 15 },
    );
  });

  it('lowering acts at once on what is kept, raising on what comes', () => {
    const [lowered, raised] = [BEGIN_MS + 10 * DAY_MS, BEGIN_MS + 11 * DAY_MS];
    const settings = [
      { fromMs: BEGIN_MS, days: 30 },
      { fromMs: lowered, days: 7 },
      { fromMs: raised, days: 90 },
    ];
    const promises = promisesOf(settings);
    expect(promises).toEqual([
      { until: new Date(raised).toISOString(), days: 7 },
      { until: null, days: 90 },
    ]);
    const keptDays = (madeMs: number, own: number): number =>
      (retainedUntilMs(
        { created_at: new Date(madeMs), expires_at: new Date(madeMs + own * DAY_MS) },
        promises,
      ) -
        madeMs) /
      DAY_MS;
    expect([keptDays(BEGIN_MS, 30), keptDays(raised - 1, 7), keptDays(raised, 90)]).toEqual([7, 7, 90]);
  });
});
