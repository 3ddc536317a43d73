import { assertSchemaKnown } from '@gateway/database';
import { attemptRecord, testDatabase, usageRecord, type TestDatabase } from '@gateway/testing';
import type { UsageRecord } from '@gateway/contracts';
import { SCHEMA, SCHEMA_DIR } from '../postgres/usage-database.js';
import { ORG, secret, startReads, tokenOf, type ReadsUnderTest } from '../reads/reads.fixture.js';
import { reconciliationOf } from '../reconcile/full-reconciliation.fixture.js';
import { MIGRATED, startUsageApp, type UsageApp } from '../usage.fixture.js';
import { narrowEvents } from './event-form.js';

const owner = tokenOf('owner');
const printed: string[] = [];
const narrow = ({ database }: UsageApp, isDone = true): Promise<void> =>
  narrowEvents({ database, release: '0.2.0', isDone, print: (line) => printed.push(line) });
const FORMS = `SELECT request_id, error_code, detail IS NOT NULL AS has_detail, usage IS NOT NULL AND attempts IS NOT NULL AS has_columns
  FROM usage_event ORDER BY request_id`;
const crash = (request_id: string): UsageRecord =>
  usageRecord({
    request_id,
    id: `use_crash_${request_id}`,
    status: 'error',
    outcome: 'failed',
    error_code: 'gateway_crash',
    cost_usd: null,
    attempts: [],
    epoch: 'e2',
  });

describe('an event whose JSON is one text', () => {
  let both: ReadsUnderTest[];
  beforeAll(async () => {
    both = await Promise.all([startReads(), startReads()]);
    await narrow(both[1].app);
  });
  afterAll(() => Promise.all(both.map((reads) => reads.close())));

  it('is read, summed and proved as one with columns', async () => {
    const created_at = new Date().toISOString();
    const more = { created_at, request_tags: { team: 'a' } };
    const rates = { rpm: 3, rpm_limit: 10, rpd: 4, rpd_limit: null };
    const failed = attemptRecord({
      status: 'error',
      served: false,
      house_usd: '0.02',
      error_message: 'a\nb',
    });
    const units = [
      usageRecord({
        ...more,
        usage: { prompt_tokens: 100, completion_tokens: 50, cached_tokens: 60, requests: 1 },
        attempts: [failed, attemptRecord({ n: 2 })],
        limits: [
          { scope: 'key', scope_id: 'key_1', ...rates, cap_usd: '5' },
          { scope: 'team_member', scope_id: 'team_1/usr_1', ...rates },
          { scope: 'tag', scope_id: 'team=a/b:r30.1', ...rates },
        ],
      }),
      usageRecord({ ...more, usage: { prompt_tokens: 1, requests: 1, unpriced_counters: { pages: 2 } } }),
      usageRecord({
        ...more,
        request_tags: {},
        cost_usd: null,
        attempts: [],
        status: 'error',
        outcome: 'failed',
      }),
    ];
    const seen = await Promise.all(
      both.map(async ({ app, events, summary, lookup }) => {
        await app.post(...units);
        await app.post(units[0]);
        const ids = units.map(({ request_id }) => request_id);
        return {
          events: (await events(owner)).body,
          ofTag: (await events(owner, { ...ORG, tag: 'team=a' })).body,
          rare: (await events(owner, { ...ORG, model: [units[0].model], limit: 2 })).body,
          lookups: await Promise.all(ids.map(async (id) => (await lookup(secret, id)).body)),
          attempts: (await app.call('GET', `/v1/usage/events/${units[0].id}/attempts`, secret)).body,
          sums: (await summary(owner, { ...ORG, tag: 'team' })).body,
          findings: (await reconciliationOf(app, app.limits).run({ journals: [], isRepair: false })).findings,
        };
      }),
    );
    expect(seen[1]).toEqual(seen[0]);
    expect(seen[1].events).toMatchObject({ total: 3 });
    expect(seen[1].lookups[0]).toMatchObject({ limits_seen: expect.any(Array), attempts: [{}, {}] });
    const { rows } = await both[1].app.database.pool.query(FORMS);
    expect(rows).toMatchObject(units.map(() => ({ has_detail: true, has_columns: false })));
  });

  it('does not name an end user who was erased before', async () => {
    const [, { app }] = both;
    const end_user_hash = 'f'.repeat(64);
    await app.database.pool.query('INSERT INTO erased_end_user VALUES ($1, $2, now())', [
      'acct_1',
      end_user_hash,
    ]);
    const rates = { rpm: 3, rpm_limit: null, rpd: 4, rpd_limit: null };
    const unit = usageRecord({
      end_user_hash,
      limits: [
        { scope: 'end_user', scope_id: `${end_user_hash}/b:r30`, ...rates },
        { scope: 'org', scope_id: 'org_1', ...rates },
      ],
    });
    await app.post(unit);
    const { rows } = await app.database.pool.query<{ text: string }>(
      'SELECT e::text AS text FROM usage_event e WHERE request_id = $1',
      [unit.request_id],
    );
    expect(rows[0].text).not.toContain(end_user_hash);
    expect(rows[0].text).toContain('scope');
  });
});

describe('from one form to the other', () => {
  let place: TestDatabase;
  let before: UsageApp;
  beforeEach(async () => {
    printed.length = 0;
    place = await testDatabase(MIGRATED);
    before = await startUsageApp(place.url);
  });
  afterEach(async () => {
    await before.close();
    await place.drop();
  });

  it('nothing changes without --yes; with it a process writes texts from its next start on, and older releases refuse', async () => {
    await narrow(before, false);
    await before.post(usageRecord({ request_id: 'req_1' }));
    await narrow(before);
    await before.post(usageRecord({ request_id: 'req_2' }));
    const after = await startUsageApp(place.url);
    await after.post(usageRecord({ request_id: 'req_3' }));
    await after.close();
    const { rows } = await before.database.pool.query<{ has_detail: boolean }>(FORMS);
    expect(rows.map(({ has_detail }) => has_detail)).toEqual([false, false, true]);
    const schema = { url: place.url, schemaDir: SCHEMA_DIR, schema: SCHEMA };
    await expect(assertSchemaKnown({ ...schema, release: '0.1.0' })).rejects.toThrow('needs release 0.2.0');
    await assertSchemaKnown({ ...schema, release: '0.2.0' });
    await narrow(before);
    expect(printed.at(-1)).toBe('events are narrow already');
  });

  it('a real outcome replaces a died process of the other form whole', async () => {
    await before.post(crash('req_1'));
    await narrow(before);
    const after = await startUsageApp(place.url);
    await after.post(crash('req_2'), usageRecord({ request_id: 'req_1' }));
    await before.post(usageRecord({ request_id: 'req_2' }));
    await after.close();
    const { rows } = await before.database.pool.query(FORMS);
    expect(rows).toEqual([
      { request_id: 'req_1', error_code: null, has_detail: true, has_columns: false },
      { request_id: 'req_2', error_code: null, has_detail: false, has_columns: true },
    ]);
  });
});
