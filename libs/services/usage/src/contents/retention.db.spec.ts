import { promisesAfter, type ContentPromise } from '@gateway/contracts';
import { SystemRandom } from '@gateway/platform';
import { DirectoryDouble, FixedClock, seededRandom, testDatabase, type TestDatabase } from '@gateway/testing';
import { UsageDatabase } from '../postgres/usage-database.js';
import type { View } from '../reads/view.js';
import { MIGRATED } from '../usage.fixture.js';
import { unitContent } from './contents.fixture.js';
import { ContentsStore } from './contents.store.js';
import { emptyTables } from '../postgres/emptied-tables.fixture.js';

/** Hundreds of statements, on a box that may be busy. */
const SLOW_MS = 120_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const START = '2026-11-01T00:00:00Z';
const VIEW: View = { kind: 'org', accountId: 'acct_1', orgId: 'org_1' };

let place: TestDatabase;
let database: UsageDatabase;
let directory: DirectoryDouble;
let clock: FixedClock;

beforeAll(async () => {
  place = await testDatabase(MIGRATED);
  database = new UsageDatabase({ url: place.url, maxConnections: 3, onIdleError: () => undefined });
});
afterAll(async () => {
  await database.onApplicationShutdown();
  await place.drop();
});
beforeEach(async () => {
  directory = new DirectoryDouble();
  clock = new FixedClock(START);
  await emptyTables(database.pool, 'request_content, content_purge, erased_end_user');
});

/** Returns a store as after a start: nothing is in memory. */
const store = (): ContentsStore =>
  new ContentsStore(database, [Buffer.alloc(32, 5)], directory, clock, new SystemRandom());
const at = (ms: number): string => new Date(ms).toISOString();
const kept = async (): Promise<string[]> => {
  const { rows } = await database.pool.query<{ request_id: string }>(
    'SELECT request_id FROM request_content ORDER BY 1',
  );
  return rows.map(({ request_id }) => request_id);
};
const isShown = async (id: string): Promise<boolean> => (await store().find([VIEW], id)).length > 0;

/** An organization that sets its retention as the keys service keeps it, and what has to be kept of its contents. */
class Organization {
  private past: ContentPromise[] = [];
  private readonly settings: { fromMs: number; days: number }[];
  private readonly made: { id: string; madeMs: number; days: number }[] = [];
  private purgedMs = 0;

  constructor(days: number) {
    this.settings = [{ fromMs: clock.now(), days }];
    this.say();
  }

  private get days(): number {
    return this.settings[this.settings.length - 1].days;
  }

  set(next: number): void {
    const { days } = this;
    if (next === days) return;
    this.past = promisesAfter(this.past, { days, next, atMs: clock.now() });
    this.settings.push({ fromMs: clock.now(), days: next });
    this.say();
  }

  async purge(): Promise<void> {
    await store().purge('org_1');
    this.purgedMs = clock.now();
  }

  /** Logs a request of some time ago, with the setting of then: an edge may be late. */
  async log(agoMs: number): Promise<void> {
    const madeMs = clock.now() - agoMs;
    const { days } = this.settings.findLast(({ fromMs }) => fromMs <= madeMs) ?? this.settings[0];
    const id = `req_${String(this.made.length).padStart(4, '0')}`;
    const content = unitContent({ request_id: id, created_at: at(madeMs), retention_days: days });
    await store().keep([content, content]);
    if (madeMs > this.purgedMs) this.made.push({ id, madeMs, days });
    else this.made.push({ id, madeMs: -Infinity, days });
  }

  /**
   * Returns the rows that live by the rule alone: the shortest retention set at their creation or since, and nothing
   * from before a removal.
   */
  alive(): string[] {
    return this.made
      .filter(({ madeMs, days: own }) => {
        const inForce = this.settings.filter(
          (_, n) => n === this.settings.length - 1 || this.settings[n + 1].fromMs > madeMs,
        );
        const days = Math.min(own, ...inForce.map((setting) => setting.days));
        return madeMs > this.purgedMs && madeMs + days * DAY_MS > clock.now();
      })
      .map(({ id }) => id);
  }

  private say(): void {
    directory.promises['org_1'] = [...this.past, { until: null, days: this.days }];
  }
}

describe('how long contents are kept', () => {
  it.each([1, 2, 3, 4])(
    'is the shortest time that was set since they were made, nothing longer and nothing shorter (%i)',
    async (seed) => {
      const random = seededRandom(seed);
      const below = (end: number): number => Math.floor(random.fraction() * end);
      const organization = new Organization(1 + below(30));
      for (let step = 0; step < 120; step += 1) {
        const what = below(12);
        if (what < 5) await organization.log(below(4) * 20 * 60_000);
        else if (what < 7) organization.set(1 + below(12));
        else if (what < 10) await clock.advance(below(5 * 24) * HOUR_MS);
        else if (what === 10) await store().removeOld();
        else if (below(8) === 0) await organization.purge();
        if (step % 10 !== 9) continue;
        const alive = organization.alive();
        for (const id of await kept()) expect([id, await isShown(id)]).toEqual([id, alive.includes(id)]);
        await store().removeOld();
        expect(await kept()).toEqual(alive);
      }
    },
    SLOW_MS,
  );

  it('shows until when: the time that is set now, where it is shorter', async () => {
    const organization = new Organization(30);
    await organization.log(0);
    organization.set(7);
    const [{ expires_at }] = await store().find([VIEW], 'req_0000');
    expect(expires_at.toISOString()).toBe(at(Date.parse(START) + 7 * DAY_MS));
    await clock.advance(7 * DAY_MS);
    expect(await isShown('req_0000')).toBe(false);
  });

  it('is asked of each organization that has contents, and one that nobody knows keeps its own', async () => {
    const orgs = Array.from({ length: 1_003 }, (_, n) => `org_${String(n).padStart(4, '0')}`);
    const created_at = at(clock.now() - 2 * DAY_MS);
    for (const part of [orgs.slice(0, 500), orgs.slice(500)])
      await store().keep(
        part.map((org_id) => unitContent({ request_id: `req_${org_id}`, org_id, created_at })),
      );
    for (const id of orgs.slice(0, 1_001)) directory.promises[id] = [{ until: null, days: 1 }];
    await store().removeOld();
    expect(await kept()).toEqual(['req_org_1001', 'req_org_1002']);
  });

  it('a directory that is away keeps what it would have shortened hidden, and the rest goes as ever', async () => {
    const organization = new Organization(1);
    await organization.log(0);
    organization.set(30);
    await organization.log(0);
    await clock.advance(DAY_MS);
    directory.isUnavailable = true;
    await expect(isShown('req_0001')).rejects.toThrow();
    await expect(store().removeOld()).rejects.toThrow();
    expect(await kept()).toEqual(['req_0001']);
    directory.isUnavailable = false;
    expect(await isShown('req_0001')).toBe(true);
  });
});
