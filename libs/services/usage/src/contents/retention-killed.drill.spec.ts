import { join } from 'node:path';
import { SystemRandom } from '@gateway/platform';
import {
  DirectoryDouble,
  eventually,
  FixedClock,
  repository,
  startProgram,
  testDatabase,
  type Program,
  type TestDatabase,
} from '@gateway/testing';
import { UsageDatabase } from '../postgres/usage-database.js';
import type { View } from '../reads/view.js';
import { MIGRATED } from '../usage.fixture.js';
import { unitContent } from './contents.fixture.js';
import { ContentsStore } from './contents.store.js';
import { emptyTables } from '../postgres/emptied-tables.fixture.js';

/** A dozen processes, on a box that may be busy. */
const SLOW_MS = 240_000;
const START_MS = 60_000;
const PROGRAM = join(repository, 'dist/libs/services/usage/src/contents/remove-contents.fixture.js');
const NOW = '2026-11-23T12:00:00.000Z';
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const VIEW: View = { kind: 'org', accountId: 'acct_1', orgId: 'org_1' };
/** Parts of a thousand, the last one not full. */
const OLD = 2_500;
const YOUNG = ['req_young_1', 'req_young_2', 'req_young_3'];
/** Number of kills: in the second part of three, and in the one that is then the next. */
const KILLS = 2;
const REMOVES = `FROM pg_stat_activity WHERE datname = current_database() AND state = 'active'
  AND query LIKE 'DELETE FROM request_content%'`;

let place: TestDatabase;
let database: UsageDatabase;
let store: ContentsStore;
const children: Program[] = [];

beforeAll(async () => {
  place = await testDatabase(MIGRATED);
  database = new UsageDatabase({ url: place.url, maxConnections: 3, onIdleError: () => undefined });
  const directory = new DirectoryDouble();
  const keks: [Buffer] = [Buffer.alloc(32, 5)];
  const [clock, random] = [new FixedClock(NOW), new SystemRandom()];
  store = new ContentsStore(database, keks, directory, clock, random);
});
afterAll(async () => {
  await Promise.all(children.map((child) => child.kill()));
  await database.onApplicationShutdown();
  await place.drop();
});

const before = (ms: number): string => new Date(Date.parse(NOW) - ms).toISOString();
const countOf = async (sql: string): Promise<number> =>
  Number((await database.pool.query<{ n: string }>(`SELECT count(*) AS n ${sql}`)).rows[0].n);
const oldLeft = (): Promise<number> => countOf(`FROM request_content WHERE request_id LIKE 'req_old_%'`);

/** Fills rows that have to go, and rows that stay. */
async function fill(orgOfOld: string): Promise<void> {
  await emptyTables(database.pool, 'request_content, content_purge');
  const retention_days = 10;
  const old = unitContent({
    request_id: 'req_old_0',
    org_id: orgOfOld,
    created_at: before(3 * DAY_MS),
    retention_days,
  });
  const young = YOUNG.map((request_id) =>
    unitContent({ request_id, created_at: before(HOUR_MS), retention_days }),
  );
  await store.keep([old, ...young]);
  await database.pool.query(
    `INSERT INTO request_content SELECT r.* FROM request_content c, generate_series(1, $1::int) AS n,
       LATERAL jsonb_populate_record(c, jsonb_build_object('request_id', 'req_old_' || n,
         'created_at', c.created_at + n * interval '1 second')) AS r
     WHERE c.request_id = 'req_old_0'`,
    [OLD - 1],
  );
}

async function removal(orgId: string): Promise<Program> {
  const child = await startProgram({
    command: process.execPath,
    args: ['--enable-source-maps', PROGRAM, place.url, NOW, orgId],
    cwd: repository,
    readyWhen: /begun/,
    timeoutMs: START_MS,
  });
  children.push(child);
  return child;
}

/** Holds the nth of the old rows, so that its removal waits. */
async function holding(nth: number, work: () => Promise<void>): Promise<void> {
  const client = await database.pool.connect();
  try {
    await client.query('BEGIN');
    await client.query(
      `SELECT 1 FROM request_content WHERE request_id LIKE 'req_old_%' ORDER BY created_at OFFSET $1 LIMIT 1 FOR UPDATE`,
      [nth],
    );
    await work();
  } finally {
    await client.query('ROLLBACK');
    client.release();
  }
}

const CAUSES: Record<string, [orgOfOld: string, cause: () => Promise<unknown>]> = {
  'a shorter retention': ['org_1', () => Promise.resolve()],
  'a removal by its organization': [
    'org_2',
    () => database.pool.query(`INSERT INTO content_purge VALUES ('org_2', $1)`, [before(0)]),
  ],
  'their own end': [
    'org_2',
    () =>
      database.pool.query(`UPDATE request_content SET expires_at = $1 WHERE org_id = 'org_2'`, [before(0)]),
  ],
};

describe('contents that go', () => {
  it.each(Object.entries(CAUSES))(
    'by %s are gone after kill -9 of the removal at any part, each whole, and no other is',
    async (_, [orgOfOld, cause]) => {
      await fill(orgOfOld);
      await cause();
      for (let kills = 0; kills < KILLS; kills += 1) {
        await holding(kills === 0 ? 1_200 : 0, async () => {
          const child = await removal('org_1');
          // It waits for the row that is held, or has ended where that part has gone before.
          const isOver = async (): Promise<boolean> =>
            (await countOf(`${REMOVES} AND wait_event_type = 'Lock'`)) > 0 || child.output().includes('done');
          await eventually(isOver, { timeoutMs: START_MS });
          await child.kill();
        });
        // PostgreSQL notices only after its statement that nobody is there any more.
        await eventually(async () => (await countOf(REMOVES)) === 0, { timeoutMs: START_MS });
        expect([OLD, OLD - 1_000, OLD - 2_000, 0]).toContain(await oldLeft());
        expect(await countOf('FROM request_content')).toBe((await oldLeft()) + YOUNG.length);
      }
      const child = await removal('org_1');
      expect(await child.ended).toBe(0);
      expect(await oldLeft()).toBe(0);
      for (const id of YOUNG) {
        const found = await store.find([VIEW], id);
        expect(store.opened(found).map(({ request }) => request)).toEqual([
          expect.objectContaining({ messages: expect.anything() }),
        ]);
      }
    },
    SLOW_MS,
  );
});
