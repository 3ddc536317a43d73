import { SystemClock, SystemRandom } from '@gateway/platform';
import { eventually, LimitStoreDouble, testDatabase, usageRecord, type TestDatabase } from '@gateway/testing';
import { Erasures } from '../erasures/erasures.js';
import { Projections } from '../projection/projections.js';
import type { Finding } from '../reconcile/finding.js';
import { ledgerFindings } from '../reconcile/ledger-proof.js';
import { repair } from '../reconcile/repair.js';
import { MIGRATED, startUsageApp, type UsageApp } from '../usage.fixture.js';
import { CarriedScopes } from './carried-scopes.js';
import { PostingStore } from './posting.store.js';

const clock = new SystemClock();
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const HASH = 'hash_of_alice';

let place: TestDatabase;
let app: UsageApp;

beforeEach(async () => {
  place = await testDatabase(MIGRATED);
  app = await startUsageApp(place.url, {
    limits: new LimitStoreDouble({ clock, random: new SystemRandom() }),
  });
});
afterEach(async () => {
  await app.close();
  await place.drop();
});

const now = (): number => Math.floor(clock.now() / HOUR_MS) * HOUR_MS;
const post = (ms: number, cost_usd: string, more: object = {}): Promise<void> =>
  app.post(usageRecord({ cost_usd, created_at: new Date(ms).toISOString(), ...more }));
/** The answer once all is summed: until then it is 503. */
const spent = (...asked: Parameters<UsageApp['funds']['spent']>): Promise<string[]> =>
  eventually(() => app.funds.spent(...asked));
const kept = async (): Promise<number> => {
  const { rows } = await app.database.pool.query<{ n: number }>(
    'SELECT count(*)::int AS n FROM carried_hour',
  );
  return rows[0].n;
};

const tagFindings = async (): Promise<Finding[]> =>
  (await ledgerFindings(app.database.pool, ['acct_1'])).filter(({ scope }) =>
    /^(tag|end_user):/.test(scope ?? ''),
  );

describe('spend of tags and end users', () => {
  it.each([
    ['whole hours', 0],
    ['hours that the period cuts', 20 * 60_000],
  ])(
    '%s: what was posted before the first question counts, and what comes after it, each once',
    async (_, cutMs) => {
      const [startMs, endMs] = [now() - 3 * DAY_MS + cutMs, now() + DAY_MS + cutMs];
      const scopes = [
        { kind: 'tag' as const, id: `project=a=b/b:${startMs}-${endMs}.7` },
        { kind: 'end_user' as const, id: `${HASH}/b:${startMs}-${endMs}.7` },
      ];
      const tagged = { request_tags: { project: 'a=b', other: 'x' }, end_user_hash: HASH };
      await post(startMs - 1, '100', tagged);
      await post(startMs, '1', tagged);
      await post(startMs + DAY_MS, '0.5', { request_tags: { project: 'a=c' }, end_user_hash: HASH });
      await post(now(), '0.25', tagged);
      expect(await kept()).toBe(0);
      expect(await spent(scopes, 'acct_1')).toEqual(['1.25', '1.75']);
      await post(now() + 1, '2', tagged);
      await post(startMs + 2 * DAY_MS, '4', tagged);
      await post(endMs, '100', tagged);
      expect(await spent(scopes, 'acct_1')).toEqual(['7.25', '7.75']);
      expect(await spent(scopes, 'acct_of_nobody')).toEqual(['0', '0']);
    },
  );

  it('an earlier period sums what lies before, and no hour twice', async () => {
    const tagged = { request_tags: { project: 'a' } };
    const tag = (days: number): { kind: 'tag'; id: string } => ({
      kind: 'tag',
      id: `project=a/b:r${days}.7`,
    });
    for (const days of [0, 1, 5, 20]) await post(now() - days * DAY_MS, '1', tagged);
    expect(await spent([tag(2)], 'acct_1')).toEqual(['2']);
    expect(await spent([tag(30), tag(2), tag(6)], 'acct_1')).toEqual(['4', '2', '3']);
  });

  it('a question while postings go on counts each unit once', async () => {
    const tagged = { request_tags: { project: 'a' } };
    const tag = { kind: 'tag' as const, id: 'project=a/b:r30.7' };
    const units = Array.from({ length: 12 }, (_, n) => post(now() - (n % 6) * DAY_MS, '1', tagged));
    const asked = spent([tag], 'acct_1');
    await Promise.all([...units, asked]);
    expect(await spent([tag], 'acct_1')).toEqual(['12']);
  });

  it('one statement sums a bounded part behind the lock of the account, and the next question goes on with it', async () => {
    const tag = { kind: 'tag' as const, id: 'project=a/b:r30.7' };
    await post(now(), '1', { request_tags: { project: 'a' } });
    const { rowCount } = await app.database.pool.query(
      `INSERT INTO usage_event SELECT (jsonb_populate_record(e, jsonb_build_object('id', 'use_' || n, 'request_id', 'req_' || n,
         'seq', n + 1000, 'created_at', e.created_at - n * interval '1 minute'))).* FROM usage_event e, generate_series(1, 6000) AS n`,
    );
    expect(rowCount).toBe(6_000);
    const sums = new CarriedScopes(app.database, clock);
    await sums.begin([{ accountId: 'acct_1', ...tag }]);
    // It ends after the part that is under way.
    await sums.onModuleDestroy();
    const { rows } = await app.database.pool.query<{ sum: number }>(
      'SELECT sum(amount)::int AS sum FROM carried_hour',
    );
    expect([rows[0].sum >= 5_000, rows[0].sum < 5_100]).toEqual([true, true]);
    expect(await spent([tag], 'acct_1')).toEqual(['6001']);
    expect(await tagFindings()).toEqual([]);
  });

  it('the proof finds an hour that is not the sum of its events, names no tag, and the repair makes it so', async () => {
    const scopes = [
      { kind: 'tag' as const, id: 'project=secret/b:r2.7' },
      { kind: 'tag' as const, id: 'of=key/b:r2.7' },
      { kind: 'end_user' as const, id: `${HASH}/b:r2.7` },
    ];
    const counts = { rpm: 0, rpm_limit: null, rpd: 0, rpd_limit: null };
    const limits = [{ scope: 'tag' as const, scope_id: 'of=key/b:r2.7', ...counts }];
    const carried = { request_tags: { project: 'secret', of: 'other' }, end_user_hash: HASH, limits };
    await post(now() - HOUR_MS, '1', carried);
    expect(await spent(scopes, 'acct_1')).toEqual(['1', '1', '1']);
    await post(now(), '2', carried);
    expect(await tagFindings()).toEqual([]);
    await app.database.pool.query('DELETE FROM carried_hour WHERE amount = 1');
    await app.database.pool.query('UPDATE carried_hour SET amount = 7');
    const found = await tagFindings();
    expect(found).toHaveLength(6);
    expect(JSON.stringify(found)).not.toMatch(/secret|hash_of_alice/);
    const of = <T>(kind: new (...args: never[]) => T): T => app.app.get<T>(kind, { strict: false });
    const [store, projections] = [of(PostingStore), of(Projections)];
    const random = new SystemRandom();
    await repair(found, [], { database: app.database, store, projections, clock, random });
    expect(await tagFindings()).toEqual([]);
    expect(await spent(scopes, 'acct_1')).toEqual(['3', '3', '3']);
  });

  it('values of tags without a budget are kept nowhere', async () => {
    for (let n = 0; n < 50; n += 1) await post(now(), '1', { request_tags: { id: `v${n}` } });
    await spent([{ kind: 'tag', id: 'id=v7/b:r1.7' }], 'acct_1');
    await post(now(), '1', { request_tags: { id: 'v8' } });
    expect(await kept()).toBe(1);
  });

  it('a tag of the key counts though the request had another value of its name', async () => {
    const tag = { kind: 'tag' as const, id: 'project=a/b:r1.7' };
    await spent([tag], 'acct_1');
    const counts = { rpm: 0, rpm_limit: null, rpd: 0, rpd_limit: null };
    const limits = [{ scope: 'tag' as const, scope_id: tag.id, ...counts }];
    await post(now(), '1', { request_tags: { project: 'b' }, limits });
    expect(await spent([tag], 'acct_1')).toEqual(['1']);
  });

  it('an erasure leaves neither the hours of an end user nor their budget in what their requests were counted on, nor does a late one', async () => {
    const endUser = { kind: 'end_user' as const, id: `${HASH}/b:r1.7` };
    await spent([endUser], 'acct_1');
    const counts = { rpm: 0, rpm_limit: null, rpd: 0, rpd_limit: null };
    const limits = [
      { scope: 'key' as const, scope_id: 'key_1', ...counts },
      { scope: endUser.kind, scope_id: endUser.id, ...counts },
    ];
    await post(now(), '1', { end_user_hash: HASH, limits });
    expect(await kept()).toBe(1);
    await app.database.pool.query(
      `INSERT INTO erasure (id, account_id, org_id, end_user_hash, status, requested_by, created_at)
       VALUES ('era_1', 'acct_1', 'org_1', $1, 'running', 'key_1', $2)`,
      [HASH, new Date(clock.now())],
    );
    await app.database.pool.query(`INSERT INTO erased_end_user VALUES ('acct_1', $1, now())`, [HASH]);
    await app.app.get(Erasures, { strict: false }).advance();
    expect(await kept()).toBe(0);
    // A unit of before the erasure that comes late.
    await post(now(), '1', { end_user_hash: HASH, limits });
    const { rows } = await app.database.pool.query<{ text: string }>(
      'SELECT e::text AS text FROM usage_event e',
    );
    expect(rows).toHaveLength(2);
    for (const { text } of rows) expect([text.includes(HASH), text.includes('key_1')]).toEqual([false, true]);
  });
});
