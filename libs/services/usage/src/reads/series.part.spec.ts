import { sessionPrincipal, usageRecord } from '@gateway/testing';
import { mintSecret, SystemRandom } from '@gateway/platform';
import type { SeriesValues, UsageRecord } from '@gateway/contracts';
import { limitedKey } from '../usage.fixture.js';
import { app, reads } from './all-reads.fixture.js';

const random = new SystemRandom();
const secret = mintSecret('rsk_', random);
const personal = mintSecret('rsk_', random);
const tokenOf = (name: string): string => `eyJ${name}.eyJ${name}.${name}`;
const ORG = { org_id: 'org_1' };
const NOVEMBER = { since: '2026-11-01', until: '2026-11-04' };

const series = (body: object, as = tokenOf('owner')) =>
  app.call('POST', '/v1/usage/series?refresh=true', as, { ...ORG, ...NOVEMBER, granularity: 'day', ...body });
const at = (created_at: string, more: Partial<UsageRecord> = {}) => usageRecord({ created_at, ...more });
const requestsOf = (values: Record<string, SeriesValues>) =>
  Object.fromEntries(Object.entries(values).map(([group, { requests }]) => [group, requests]));

function prepare(): void {
  const { principals } = app;
  principals.add(secret, limitedKey());
  principals.add(personal, limitedKey({ keyId: 'key_9', accountId: 'acct_9', orgId: null, teamId: null }));
  const membership = { orgId: 'org_1', accountId: 'acct_1', teams: ['team_2'] };
  for (const role of ['owner', 'member'] as const)
    principals.add(
      tokenOf(role),
      sessionPrincipal({
        userId: role === 'owner' ? 'usr_9' : 'usr_2',
        memberships: [{ ...membership, role }],
      }),
    );
  principals.add(tokenOf('outsider'), sessionPrincipal({ userId: 'usr_8' }));
}

describe('POST /v1/usage/series', () => {
  beforeAll(prepare);
  beforeEach(() => reads.clear());

  it('keeps the order and the sum of groups whose names callers choose: numbers, other, __proto__', async () => {
    const names = ['42', '7', 'other', '__proto__', 'acme', 'zeta'];
    await app.post(
      ...names.map((customer, n) =>
        at(`2026-11-01T10:0${n}:00Z`, { request_tags: { customer }, cost_usd: String(10 - n) }),
      ),
    );
    const spent = async (top: number): Promise<unknown[]> => {
      const { body } = await series({ group_by: 'tag:customer', top });
      const ids = body.groups.map(({ id }: { id: string }) => id);
      const costs = new Map(
        Object.entries<SeriesValues>(body.totals).map(([id, { cost_usd }]) => [id, cost_usd]),
      );
      expect(body.total.cost_usd).toBe('45');
      expect(Object.keys(body.buckets[0].values).toSorted()).toEqual(ids.toSorted());
      return ids.map((id: string) => [id, costs.get(id)]);
    };
    expect(await spent(20)).toEqual([
      ['42', '10'],
      ['7', '9'],
      ['__proto__', '7'],
      ['acme', '6'],
      ['zeta', '5'],
      ['other', '8'],
    ]);
    expect(await spent(3)).toEqual([
      ['42', '10'],
      ['7', '9'],
      ['__proto__', '7'],
      ['other', '19'],
    ]);
  });

  it('sums buckets by group, the dearest first, the rest as other, so that groups add up', async () => {
    await app.post(
      at('2026-11-01T10:00:00Z', { model: 'acme/a', cost_usd: '3' }),
      at('2026-11-01T11:00:00Z', { model: 'acme/b', cost_usd: '1' }),
      at('2026-11-03T10:00:00Z', {
        model: 'acme/b',
        cost_usd: '1',
        usage: { prompt_tokens: 5, cached_tokens: 4 },
      }),
      at('2026-11-03T10:01:00Z', { model: 'acme/c', status: 'error', outcome: 'failed', cost_usd: null }),
      at('2026-11-03T10:02:00Z', { model: 'acme/d', cost_usd: '0.000000000001' }),
    );
    const { status, body } = await series({ group_by: 'model', top: 2 });
    expect(status).toBe(200);
    expect(body.groups).toEqual(['acme/a', 'acme/b', 'other'].map((id) => ({ id, label: null })));
    expect(body.buckets.map(({ start }: { start: string }) => start)).toEqual(
      ['01', '02', '03', '04'].map((day) => `2026-11-${day}T00:00:00.000Z`),
    );
    expect(
      body.buckets.map(({ values }: { values: Record<string, SeriesValues> }) => requestsOf(values)),
    ).toEqual([{ 'acme/a': 1, 'acme/b': 1 }, {}, { 'acme/b': 1, other: 2 }, {}]);
    expect(body.totals['acme/b']).toMatchObject({
      requests: 2,
      prompt_tokens: 105,
      cached_tokens: 4,
      cost_usd: '2',
    });
    expect(body.totals.other).toMatchObject({ requests: 2, errors: 1, cost_usd: '0.000000000001' });
    expect(body.total).toMatchObject({ requests: 5, errors: 1, cost_usd: '5.000000000001' });
  });

  it.each(['UTC', 'Asia/Kolkata', 'America/Los_Angeles', 'Australia/Lord_Howe'])(
    'the days of %s add up to the range, over the changes of its clock',
    async (time_zone) => {
      const hours = Array.from(
        { length: 24 * 16 },
        (_, n) => new Date(Date.UTC(2026, 9, 25) + n * 3_540_000),
      );
      await app.post(...hours.map((moment) => at(moment.toISOString(), { cost_usd: '0.01' })));
      const range = { since: '2026-10-27T06:07:08.009Z', until: '2026-11-07T05:00:00Z' };
      const whole = await app.call('POST', '/v1/usage?refresh=true', tokenOf('owner'), { ...ORG, ...range });
      const inside = hours.filter(
        (moment) => moment >= new Date(range.since) && moment <= new Date(range.until),
      ).length;
      expect(whole.body.total_requests).toBe(inside);
      for (const granularity of ['hour', 'day', 'week', 'month']) {
        const { body } = await series({ ...range, granularity, time_zone });
        const counts = body.buckets.map(
          ({ values }: { values: Record<string, SeriesValues> }) => values.all?.requests ?? 0,
        ) as number[];
        expect(counts.reduce((sum, n) => sum + n, 0)).toBe(inside);
        expect(body.total.requests).toBe(inside);
      }
    },
  );

  it('groups by key, member, team, endpoint, status and tag, with the names that are known', async () => {
    app.directory.known.keys = { key_1: 'Batch jobs' };
    app.directory.known.users = { usr_2: 'Ada' };
    app.directory.known.teams = { team_1: 'Search' };
    await app.post(
      at('2026-11-02T10:00:00Z', { request_tags: { env: 'prod' } }),
      at('2026-11-02T10:00:00Z', { key_id: 'key_2', member_id: 'usr_2', team_id: null, cost_usd: '0.0001' }),
    );
    const groups = async (group_by: string) =>
      Object.fromEntries(
        (await series({ group_by })).body.groups.map(({ id, label }: { id: string; label: string }) => [
          id,
          label,
        ]),
      );
    expect(await groups('key')).toEqual({ key_1: 'Batch jobs', key_2: null });
    expect(await groups('member')).toEqual({ usr_1: null, usr_2: 'Ada' });
    expect(await groups('team')).toEqual({ team_1: 'Search', none: null });
    expect(await groups('endpoint')).toEqual({ '/v1/chat/completions': null });
    expect(await groups('status')).toEqual({ success: null });
    expect(await groups('tag:env')).toEqual({ prod: null, none: null });
  });

  it('counts a died process until its real outcome comes, then that alone', async () => {
    const crash = {
      status: 'error',
      outcome: 'failed',
      error_code: 'gateway_crash',
      cost_usd: null,
    } as const;
    const died = at('2026-11-02T10:00:00Z', { ...crash, usage: {}, attempts: [] });
    await app.post(died);
    expect((await series({})).body.total).toMatchObject({ requests: 1, errors: 1, cost_usd: '0' });
    const real = at('2026-11-02T10:00:00Z', { request_id: died.request_id, cost_usd: '2' });
    await app.post(real);
    await app.post(real);
    expect((await series({})).body.total).toMatchObject({ requests: 1, errors: 0, cost_usd: '2' });
  });

  it('estimates durations within a power of two', async () => {
    const slow = [100, 110, 120, 130, 4_000].map((latency_ms) => at('2026-11-02T10:00:00Z', { latency_ms }));
    await app.post(...slow);
    const { latency_p50_ms: half, latency_p95_ms: most, ttft_p50_ms: first } = (await series({})).body.total;
    expect(half).toBeGreaterThanOrEqual(64);
    expect(half).toBeLessThan(128);
    expect(most).toBeGreaterThanOrEqual(2_048);
    expect(most).toBeLessThanOrEqual(4_096);
    expect(first).toBeGreaterThanOrEqual(64);
  });

  it('200 takes null for what an absent member does, as the other reads', async () => {
    const absent = await series({});
    const nulls = await series({ time_zone: null, top: null, group_by: null });
    expect([nulls.status, nulls.body.time_zone]).toEqual([200, 'UTC']);
    expect(nulls.body.buckets).toEqual(absent.body.buckets);
  });

  it('shows a member their own usage, an outsider 403, a key 403, and refuses unknown zones and endless ranges', async () => {
    await app.post(
      at('2026-11-02T10:00:00Z'),
      at('2026-11-02T10:00:00Z', { key_id: 'key_2', member_id: 'usr_2' }),
    );
    expect((await series({}, tokenOf('member'))).body.total.requests).toBe(1);
    expect((await series({}, tokenOf('outsider'))).status).toBe(403);
    expect((await series({}, secret)).status).toBe(403);
    expect((await series({ time_zone: 'Mars/Olympus' })).body.error.details[0].loc).toEqual(['time_zone']);
    expect((await series({ granularity: 'hour', since: '2020-01-01' })).status).toBe(422);
    expect((await series({ group_by: 'provider' })).status).toBe(422);
  });
});

describe('GET /v1/usage/spend-trend', () => {
  beforeAll(prepare);
  beforeEach(() => reads.clear());

  const trend = (query: string, as = tokenOf('owner')) =>
    app.call('GET', `/v1/usage/spend-trend?${query}`, as);
  const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString();

  it('READ-42 READ-54 answers spend per bucket, its average over three buckets, and the total of the window', async () => {
    await app.post(
      at(daysAgo(0), { cost_usd: '1' }),
      at(daysAgo(1), { cost_usd: '0.5' }),
      at(daysAgo(2), { cost_usd: '0.000000000001' }),
      at(daysAgo(2), { cost_usd: null, cache_hit: true, outcome: 'cached' }),
      at(daysAgo(60), { cost_usd: '100' }),
    );
    const { status, body } = await trend('org_id=org_1&granularity=day&force_refresh=true');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      org_id: 'org_1',
      team_id: null,
      granularity: 'day',
      total_usd: '1.500000000001',
    });
    expect(body.buckets).toHaveLength(30);
    expect(body.buckets.slice(-3)).toEqual([
      { start: expect.any(String), spend_usd: '0.000000000001', requests: 2, moving_average_usd: '0' },
      { start: expect.any(String), spend_usd: '0.5', requests: 1, moving_average_usd: '0.166666666667' },
      { start: expect.any(String), spend_usd: '1', requests: 1, moving_average_usd: '0.5' },
    ]);
    expect(body.buckets[0].start).toBe(body.since);
    expect(Date.parse(body.as_of)).not.toBeNaN();
  });

  it('READ-43 READ-44 requires org_id, takes the granularities, and reads again with force_refresh', async () => {
    expect((await trend('granularity=day')).status).toBe(422);
    expect((await trend('', secret)).status).toBe(422);
    expect((await trend('org_id=org_1&granularity=year')).status).toBe(422);
    expect((await trend('org_id=org_1', tokenOf('outsider'))).status).toBe(403);
    const lengths = { hour: 48, day: 30, week: 12, month: 12 };
    for (const [granularity, buckets] of Object.entries(lengths)) {
      const query = `org_id=org_1&granularity=${granularity}`;
      const first = await trend(`${query}&force_refresh=true`);
      expect([first.status, first.body.buckets.length]).toEqual([200, buckets]);
      await app.post(usageRecord({ cost_usd: '1' }));
      expect((await trend(query)).body.total_usd).toBe(first.body.total_usd);
      expect((await trend(`${query}&force_refresh=true`)).body.total_usd).not.toBe(first.body.total_usd);
    }
  });

  it('READ-45 covers the whole organization for a key and for every member; of a personal key its account', async () => {
    await app.post(
      usageRecord({ cost_usd: '1' }),
      usageRecord({ cost_usd: '2', key_id: 'key_2', member_id: 'usr_2' }),
      usageRecord({ cost_usd: '4', account_id: 'acct_9', org_id: null, team_id: null, key_id: 'key_9' }),
    );
    for (const as of [secret, tokenOf('member')]) {
      const { body } = await trend('org_id=org_1&force_refresh=true', as);
      expect([body.org_id, body.total_usd]).toEqual(['org_1', '3']);
    }
    const { body } = await trend('org_id=whatever', personal);
    expect([body.org_id, body.total_usd]).toEqual([null, '4']);
  });

  it("READ-46 refuses a team that the key's owner is not in, and that a member is not in", async () => {
    await app.post(usageRecord({ cost_usd: '1' }), usageRecord({ cost_usd: '2', team_id: 'team_2' }));
    expect((await trend('org_id=org_1&team_id=team_2', secret)).status).toBe(403);
    app.directory.teams.set('org_1/usr_1', ['team_2']);
    expect((await trend('org_id=org_1&team_id=team_2', secret)).body.total_usd).toBe('2');
    const as = tokenOf('member');
    expect((await trend('org_id=org_1&team_id=team_1', as)).status).toBe(403);
    expect((await trend('org_id=org_1&team_id=team_2', as)).body.total_usd).toBe('2');
    expect((await trend('org_id=org_1&team_id=team_1')).body.total_usd).toBe('1');
    app.directory.isUnavailable = true;
    expect((await trend('org_id=org_1&team_id=team_2', secret)).status).toBe(503);
    app.directory.isUnavailable = false;
  });
});
