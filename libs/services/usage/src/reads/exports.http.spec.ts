import { sessionPrincipal, testDatabase, usageRecord, type TestDatabase } from '@gateway/testing';
import { mintSecret, SystemRandom } from '@gateway/platform';
import { limitedKey, MIGRATED, startUsageApp, type UsageApp } from '../usage.fixture.js';
import { emptyTables } from '../postgres/emptied-tables.fixture.js';

const secret = mintSecret('rsk_', new SystemRandom());
const OWNER = 'eyJowner.eyJowner.owner';
const MEMBER = 'eyJmember.eyJmember.member';
const HEADER =
  'id,request_id,model,prompt_tokens,completion_tokens,total_tokens,cost_usd,latency_ms,status,created_at,' +
  'routing_fallback,request_tags,key_id,key_label,user_id,endpoint,ttft_ms,cached_tokens';

let place: TestDatabase;
let app: UsageApp;

beforeAll(async () => {
  place = await testDatabase(MIGRATED);
  app = await startUsageApp(place.url);
  app.principals.add(secret, limitedKey());
  const membership = { orgId: 'org_1', accountId: 'acct_1', teams: [] };
  app.principals.add(
    OWNER,
    sessionPrincipal({ userId: 'usr_9', memberships: [{ ...membership, role: 'owner' }] }),
  );
  app.principals.add(
    MEMBER,
    sessionPrincipal({ userId: 'usr_2', memberships: [{ ...membership, role: 'member' }] }),
  );
});
afterAll(async () => {
  await app.close();
  await place.drop();
});

beforeEach(() =>
  emptyTables(app.database.pool, 'usage_slot, usage_hour, usage_day, usage_event, usage_export, producer'),
);

const download = (query = '', as = OWNER) =>
  app.call('GET', `/v1/usage/events/export?org_id=org_1${query}`, as);
const linesOf = (csv: string): string[] => csv.split('\r\n').slice(0, -1);

describe('GET /v1/usage/events/export', () => {
  it('READ-40 READ-55 answers a session the events of its filters as CSV with a header row, newest first', async () => {
    app.directory.known.keys = { key_1: 'Batch "jobs", nightly' };
    await app.post(
      usageRecord({
        request_id: 'req_b',
        created_at: '2026-07-01T10:00:00.250Z',
        cost_usd: '0.000000000001',
        request_tags: { a: 'b' },
      }),
      usageRecord({ request_id: 'req_a', created_at: '2026-07-01T09:00:00Z', cost_usd: null, ttft_ms: null }),
      usageRecord({ model: 'acme/other' }),
    );
    const { status, headers, body } = await download('&model=acme/swift&time_zone=Asia/Kolkata');
    expect([status, headers['content-type']]).toEqual([200, 'text/csv; charset=utf-8; header=present']);
    expect(headers['content-disposition']).toMatch(/^attachment; filename="usage-\d{4}-\d\d-\d\d\.csv"$/);
    const label = '"Batch ""jobs"", nightly"';
    expect(linesOf(body)).toEqual([
      HEADER,
      `use_req_b_0,req_b,acme/swift,100,50,150,0.000000000001,120,success,2026-07-01T15:30:00.250+05:30,false,"{""a"":""b""}",key_1,${label},usr_1,/v1/chat/completions,80,0`,
      `use_req_a_0,req_a,acme/swift,100,50,150,,120,success,2026-07-01T14:30:00.000+05:30,false,{},key_1,${label},usr_1,/v1/chat/completions,,0`,
    ]);
    expect(linesOf((await download('&model=acme/none')).body)).toEqual([HEADER]);
    expect((await download('&time_zone=Mars/Olympus')).status).toBe(422);
    expect((await download('&refresh=true')).status).toBe(200);
    const page = await download('&limit=10');
    expect([page.status, page.body.error.details]).toMatchObject([
      422,
      [{ type: 'unknown_field', loc: ['limit'] }],
    ]);
  });

  it('READ-40 S04 each export, sent at once or prepared, stands in the audit log of its organization', async () => {
    const { pool } = app.database;
    const exported = async (): Promise<string[]> =>
      (
        await pool.query<{ entry: string }>(
          `SELECT concat_ws(' ', org_id, actor_id) AS entry FROM audit_log WHERE action = 'usage.export' ORDER BY 1`,
        )
      ).rows.map(({ entry }) => entry);
    const before = await exported();
    expect((await download()).status).toBe(200);
    const prepare = { org_id: 'org_1', time_zone: 'UTC' };
    expect((await app.call('POST', '/v1/usage/exports', MEMBER, prepare)).status).toBe(201);
    expect(await exported()).toEqual([...before, 'org_1 usr_2', 'org_1 usr_9'].toSorted());
  });

  it('READ-41 refuses an API key, here and where an address is asked for', async () => {
    expect((await download('', secret)).status).toBe(403);
    expect((await app.call('POST', '/v1/usage/exports', secret, { org_id: 'org_1' })).status).toBe(403);
  });

  it('READ-55 writes no cell that a spreadsheet would run', async () => {
    for (const label of ['=cmd()', '+1', '-1', '@sum', '\tx', ' =1+1', '|x', '%x']) {
      await emptyTables(app.database.pool, 'usage_event, usage_slot, usage_hour, usage_day');
      const key_id = `key_${Buffer.from(label).toString('hex')}`;
      app.directory.known.keys[key_id] = label;
      await app.post(usageRecord({ key_id, model: label }));
      const [, row] = linesOf((await download()).body);
      expect(row.split(',')[2]).toBe(`'${label}`);
      expect(row).toContain(`,'${label},usr_1`);
    }
  });

  it('a member gets their own events, part after part, of any filter, each with the name of its key', async () => {
    await app.post(usageRecord());
    // Three to a moment, of more keys than the directory names at once.
    const own = Array.from({ length: 4_100 }, (_, n) =>
      usageRecord({
        key_id: `key_of_${n % 700}`,
        member_id: 'usr_2',
        model: n % 1_024 === 3 ? 'acme/rare' : 'acme/swift',
        request_tags: n % 2 === 0 ? {} : { job: n % 1_025 === 7 ? 'rare' : 'often' },
        created_at: new Date(Date.UTC(2026, 5, 1) + Math.floor(n / 3)).toISOString(),
      }),
    );
    for (let n = 0; n < 700; n += 1) app.directory.known.keys[`key_of_${n}`] = `Key ${n}`;
    await app.post(...own);
    const newestFirst = own.toSorted((a, b) =>
      a.created_at === b.created_at ? (a.id < b.id ? 1 : -1) : a.created_at < b.created_at ? 1 : -1,
    );
    const expected = (isAsked: (event: (typeof own)[number]) => boolean): string[] =>
      newestFirst.filter(isAsked).map(({ id, key_id }) => `${id} Key ${key_id.slice('key_of_'.length)}`);
    const found = async (query: string): Promise<string[]> =>
      linesOf((await download(query, MEMBER)).body)
        .slice(1)
        .map((row) => `${row.split(',')[0]} ${/,(Key \d+),/.exec(row)?.[1]}`);
    expect(await found('')).toEqual(expected(() => true));
    expect(await found('&model=acme/rare')).toEqual(expected(({ model }) => model === 'acme/rare'));
    expect(await found('&tag=job')).toEqual(expected(({ request_tags }) => 'job' in request_tags));
    const rare = expected(({ request_tags }) => request_tags['job'] === 'rare');
    expect(rare.length).toBeGreaterThan(1);
    expect(await found('&tag=job%3Drare')).toEqual(rare);
    expect(await found('&tag=job%3Dnever')).toEqual([]);
  });
});

describe('POST /v1/usage/exports', () => {
  it('answers an address that gives the CSV once, without a credential, and how many rows it has', async () => {
    await app.post(usageRecord(), usageRecord({ endpoint: '/v1/embeddings' }));
    const filter = { org_id: 'org_1', endpoint: '/v1/embeddings', time_zone: 'Europe/Berlin' };
    const { status, body } = await app.call('POST', '/v1/usage/exports', OWNER, filter);
    expect([status, body.rows]).toEqual([201, 1]);
    const fetched = await app.call('GET', body.url, null);
    expect([fetched.status, linesOf(fetched.body).length]).toEqual([200, 2]);
    expect((await app.call('GET', body.url, null)).status).toBe(404);
    expect(await app.call('POST', '/v1/usage/exports', OWNER, { ...filter, time_zone: null })).toMatchObject({
      status: 201,
    });
  });

  it('the address ends after a minute', async () => {
    const { body } = await app.call('POST', '/v1/usage/exports', OWNER, { org_id: 'org_1' });
    const left = Date.parse(body.expires_at) - Date.now();
    expect(left).toBeLessThanOrEqual(60_000);
    await app.database.pool.query(`UPDATE usage_export SET expires_at = expires_at - interval '61 s'`);
    expect((await app.call('GET', body.url, null)).status).toBe(404);
  });
});
