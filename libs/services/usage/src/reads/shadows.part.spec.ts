import type { UsageRecord } from '@gateway/contracts';
import { usageRecord } from '@gateway/testing';
import { app, reads } from './all-reads.fixture.js';
import { secret, tokenOf } from './reads.fixture.js';

const NOW = Date.now();
let made = 0;

const at = (minutes: number): string => new Date(NOW - minutes * 60_000).toISOString();
const path = (alias: string, query = ''): string => `/v1/admin/aliases/${alias}/shadow${query}`;
const read = (alias: string, query?: string) => app.call('GET', path(alias, query), tokenOf('superAdmin'));

/** A caller's unit, and the shadow of it. */
function pair(alias: string, minutes: number, shadow: Partial<UsageRecord> = {}): [UsageRecord, UsageRecord] {
  const primary = usageRecord({
    created_at: at(minutes),
    latency_ms: 100,
    ttft_ms: 10,
    requested_model: 'prod',
  });
  const { request_id } = primary;
  return [
    primary,
    usageRecord({
      ...{
        account_id: 'acct_shadow',
        org_id: null,
        team_id: null,
        member_id: 'usr_shadow',
        key_id: 'key_shadow',
      },
      ...{ request_id: `${request_id}s`, model: 'acme/next', requested_model: 'prod', billing: 'off' },
      ...{ created_at: at(minutes), latency_ms: 300, ttft_ms: 30, cost_usd: '0.000000000001' },
      ...{ shadow_of: { alias_id: alias, request_id } },
      ...shadow,
    }),
  ];
}

const alias = (): string => `alias_${(made += 1)}`;

describe('GET /v1/admin/aliases/{id}/shadow', () => {
  beforeEach(() => reads.clear());

  it('shows each request beside its shadow, newest first, and the sums of both', async () => {
    const id = alias();
    const failed = {
      status: 'error',
      outcome: 'failed',
      http_status: 502,
      cost_usd: null,
      ttft_ms: null,
    } as const;
    const pairs = [pair(id, 3), pair(id, 2, { ...failed, latency_ms: 500 }), pair(id, 1)];
    await app.post(...pairs.flat());
    const { status, body } = await read(id);
    const side = { prompt_tokens: 100, completion_tokens: 50 };
    const primary = { ...side, model: 'acme/swift', outcome: 'served', http_status: 200, latency_ms: 100 };
    const shadow = {
      ...primary,
      model: 'acme/next',
      latency_ms: 300,
      ttft_ms: 30,
      cost_usd: '0.000000000001',
    };
    expect([status, body.total, body.limit, body.offset]).toEqual([200, 3, 50, 0]);
    expect(body.data.map(({ request_id: one }: { request_id: string }) => one)).toEqual(
      pairs.map(([{ request_id: one }]) => one).toReversed(),
    );
    expect(body.data[0]).toEqual({
      ...{ request_id: pairs[2][0].request_id, created_at: at(1) },
      primary: { ...primary, ttft_ms: 10, cost_usd: '0.0015' },
      shadow,
    });
    expect(body.data[1].shadow).toMatchObject({
      outcome: 'failed',
      http_status: 502,
      ttft_ms: null,
      cost_usd: null,
    });
    expect(body.totals).toEqual({
      primary: {
        ...{ requests: 3, errors: 0, latency_ms: 100, ttft_ms: 10 },
        ...{ prompt_tokens: 300, completion_tokens: 150, cost_usd: '0.0045' },
      },
      shadow: {
        ...{ requests: 3, errors: 1, latency_ms: 300, ttft_ms: 30 },
        ...{ prompt_tokens: 300, completion_tokens: 150, cost_usd: '0.000000000002' },
      },
    });
    expect(JSON.stringify(body)).not.toMatch(/hosty|provider|usr_|key_/);
  });

  it('pages, and keeps to its time, of which both ends are part', async () => {
    const id = alias();
    await app.post(...[4, 3, 2, 1].flatMap((minutes) => pair(id, minutes)));
    const second = await read(id, '?limit=1&offset=1');
    expect([
      second.body.total,
      second.body.data.map(({ created_at: one }: { created_at: string }) => one),
    ]).toEqual([...[4, [at(2)]]]);
    const between = await read(id, `?since=${at(3)}&until=${at(1)}`);
    expect([between.body.total, between.body.totals.primary.requests]).toEqual([3, 3]);
  });

  it('shows a pair of which one half is not there yet, and nothing twice of what comes again', async () => {
    const id = alias();
    const [primary, shadow] = pair(id, 1);
    await app.post(shadow);
    expect((await read(id)).body.data).toMatchObject([{ primary: null, shadow: { model: 'acme/next' } }]);
    await app.post(primary, { ...shadow, seq: shadow.seq + 100_000 });
    const { body } = await read(id);
    expect([body.total, body.data[0].primary.model]).toEqual([1, 'acme/swift']);
  });

  it('shows the real end of a shadow whose process died, once', async () => {
    const id = alias();
    const [primary, shadow] = pair(id, 1);
    const died = { status: 'error', outcome: 'failed', error_code: 'gateway_crash', cost_usd: null } as const;
    await app.post(primary, { ...shadow, ...died, seq: shadow.seq + 200_000 });
    await app.post(shadow);
    expect((await read(id)).body).toMatchObject({ total: 1, data: [{ shadow: { outcome: 'served' } }] });
  });

  it('is empty for an alias without shadows, and for super admins alone', async () => {
    const { status, body } = await read(alias());
    expect([status, body.data, body.total, body.totals.primary]).toEqual([
      ...[200, [], 0],
      {
        ...{ requests: 0, errors: 0, latency_ms: null, ttft_ms: null },
        ...{ prompt_tokens: 0, completion_tokens: 0, cost_usd: '0' },
      },
    ]);
    const statuses = [tokenOf('owner'), secret, null].map((as) => app.call('GET', path('alias_1'), as));
    expect((await Promise.all(statuses)).map((answer) => answer.status)).toEqual([403, 403, 401]);
    expect((await read('alias_1', '?since=yesterday')).status).toBe(422);
  });

  it('leaves the books exact, the account of shadows at 0, and what callers read of their usage as it was', async () => {
    const id = alias();
    const [primary, shadow] = pair(id, 1, { cost_usd: '0.25' });
    await app.post(primary, shadow);
    const { rows } = await app.database.pool.query(
      `SELECT trim_scale(posted)::text AS posted FROM account WHERE id = 'acct_shadow'`,
    );
    expect(rows).toEqual([{ posted: '0' }]);
    // A key reads past the cache, in which a session's answer would wait for the next part.
    const mine = await reads.events(secret);
    expect(JSON.stringify(mine.body)).not.toMatch(/acme\/next|shadow/);
    expect((await reads.lookup(tokenOf('owner'), shadow.request_id)).status).toBe(404);
    expect((await reads.summary(secret)).body.total_cost_usd).toBe('0.0015');
  });
});
