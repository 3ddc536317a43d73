import { attemptRecord, rejectionRecord, usageRecord } from '@gateway/testing';
import type { AttemptView, UsageEventRecord } from '@gateway/contracts';
import { ORG, secret, tokenOf } from './reads.fixture.js';
import { app, reads } from './all-reads.fixture.js';

const DAY_MS = 86_400_000;

const KEY_SEEN = { scope: 'key', scope_id: 'key_1', team_id: null, counter: null };
/** B4: by the user's own id, the team beside it. */
const MEMBER_SEEN = { scope: 'team_member', scope_id: 'usr_1', team_id: 'team_1', counter: null };

describe('POST /v1/usage', () => {
  beforeEach(() => reads.clear());

  it('READ-01 READ-02 READ-03 READ-05 EDGE-03 sums requests, tokens and costs exactly, as decimal strings', async () => {
    await app.post(
      usageRecord({ cost_usd: '0.1' }),
      usageRecord({ cost_usd: '0.2', model: 'acme/deep' }),
      usageRecord({ cost_usd: '0.000000000001' }),
      usageRecord({ status: 'error', outcome: 'failed', cost_usd: null, usage: {}, attempts: [] }),
    );
    const { status, body } = await reads.summary(secret);
    expect(status).toBe(200);
    expect(body).toEqual({
      total_requests: 4,
      successful_requests: 3,
      error_requests: 1,
      prompt_tokens: 300,
      completion_tokens: 150,
      total_tokens: 450,
      total_cost_usd: '0.300000000001',
      by_model_total: 2,
      by_model: [
        { model: 'acme/swift', requests: 3, total_tokens: 300, cost_usd: '0.100000000001' },
        { model: 'acme/deep', requests: 1, total_tokens: 150, cost_usd: '0.2' },
      ],
    });
  });

  it('READ-04 READ-28 limit and offset page by_model alone: the totals and by_model_total stay whole', async () => {
    await app.post(...['a', 'b', 'c'].map((name) => usageRecord({ model: `acme/${name}`, cost_usd: '1' })));
    const { body } = await reads.summary(secret, { ...ORG, limit: 1, offset: 1 });
    expect(body).toMatchObject({ total_requests: 3, total_cost_usd: '3', by_model_total: 3 });
    expect(body.by_model).toEqual([{ model: 'acme/b', requests: 1, total_tokens: 150, cost_usd: '1' }]);
  });

  it.each(['/v1/usage', '/v1/usage/events'])(
    'READ-29 %s takes a limit of 200 and refuses 201 with 422',
    async (path) => {
      expect((await app.call('POST', path, secret, { ...ORG, limit: 200 })).status).toBe(200);
      const refused = await app.call('POST', path, secret, { ...ORG, limit: 201 });
      expect([refused.status, refused.body.error.details[0].loc]).toEqual([422, ['limit']]);
    },
  );

  it('READ-24 READ-25 since and until take times, and a bare date covers its whole day', async () => {
    const at = (time: string) => usageRecord({ created_at: time });
    await app.post(
      at('2026-11-09T23:59:59.999Z'),
      at('2026-11-10T00:00:00.000Z'),
      at('2026-11-10T23:59:59.999Z'),
      at('2026-11-11T00:00:00.000Z'),
    );
    const count = async (filter: object) =>
      (await reads.summary(secret, { ...ORG, ...filter })).body.total_requests;
    expect(await count({ since: '2026-11-10', until: '2026-11-10' })).toBe(2);
    expect(await count({ until: '2026-11-10' })).toBe(3);
    expect(await count({ since: '2026-11-10T23:59:59.999Z' })).toBe(2);
    expect(await count({ since: '2026-11-11T01:00:00+01:00' })).toBe(1);
    expect(await count({ until: '2026-11-10T00:00:00Z' })).toBe(2);
    expect((await reads.summary(secret, { ...ORG, since: 'yesterday' })).status).toBe(422);
  });

  it('ERR-22 400 bad_request for a since after its until, in summary, events and rejections', async () => {
    const moment = '2026-11-10T10:00:00Z';
    for (const path of ['/v1/usage', '/v1/usage/events', '/v1/usage/rejections']) {
      const ask = (since: string, until: string) => app.call('POST', path, secret, { ...ORG, since, until });
      for (const swapped of [
        await ask('2026-11-11', '2026-11-10'),
        await ask('2026-11-10T10:00:01Z', moment),
      ]) {
        expect(swapped.status).toBe(400);
        expect(swapped.body.error).toMatchObject({ code: 'bad_request', param: 'since' });
      }
      expect((await ask(moment, moment)).status).toBe(200);
    }
  });

  it('READ-26 READ-27 model and status filter summary and events', async () => {
    await app.post(
      usageRecord({ model: 'acme/a' }),
      usageRecord({ model: 'acme/b', status: 'error', outcome: 'failed', cost_usd: null }),
      usageRecord({ model: 'acme/c' }),
    );
    const filter = { ...ORG, model: ['acme/a', 'acme/b'], status: ['success'] };
    expect((await reads.summary(secret, filter)).body.total_requests).toBe(1);
    expect(
      (await reads.events(secret, filter)).body.events.map(({ model }: UsageEventRecord) => model),
    ).toEqual(['acme/a']);
  });

  it('LIM-17 shows an event of two years ago in summary and events', async () => {
    await app.post(usageRecord({ created_at: '2024-11-20T10:00:00Z' }));
    expect((await reads.summary(secret)).body.total_requests).toBe(1);
    expect((await reads.events(secret)).body.total).toBe(1);
  });
});

describe('POST /v1/usage/events', () => {
  beforeEach(() => reads.clear());

  it('READ-06 READ-07 READ-08 READ-09 READ-10 READ-11 READ-12 READ-56 USG-19 shows one event with its cost and tags', async () => {
    const record = usageRecord({
      cost_usd: '0.0450',
      routing_fallback: true,
      request_tags: { team: 'blue' },
      created_at: '2026-11-20T10:00:00.250Z',
      usage: { prompt_tokens: 100, completion_tokens: 50, cached_tokens: 30, requests: 1 },
    });
    const hit = usageRecord({
      outcome: 'cached',
      cache_hit: true,
      cost_usd: null,
      created_at: '2026-11-20T09:00:00Z',
    });
    await app.post(record, hit);
    const { body } = await reads.events(secret);
    expect(body).toMatchObject({ total: 2, limit: 50, offset: 0 });
    expect(body.events[0]).toEqual({
      price_window: null,
      priced_at: null,
      id: record.id,
      request_id: record.request_id,
      model: 'acme/swift',
      requested_model: 'acme/swift',
      prompt_tokens: 100,
      completion_tokens: 50,
      total_tokens: 150,
      cost_usd: '0.045',
      latency_ms: 120,
      status: 'success',
      created_at: '2026-11-20T10:00:00.250Z',
      routing_fallback: true,
      request_tags: { team: 'blue' },
      key_id: 'key_1',
      key_label: 'Batch jobs',
      user_id: 'usr_1',
      endpoint: '/v1/chat/completions',
      ttft_ms: 80,
      cached_tokens: 30,
    });
    expect(body.events[1].cost_usd).toBeNull();
  });

  it('takes null for an absent limit and offset', async () => {
    await app.post(usageRecord());
    const { status, body } = await reads.events(secret, { ...ORG, limit: null, offset: null });
    expect([status, body.limit, body.offset, body.events.length]).toEqual([200, 50, 0, 1]);
  });

  it('READ-30 READ-31 pages newest first and meets every event once', async () => {
    // Three moments for nine events: order has to hold among equals, too.
    const records = Array.from({ length: 9 }, (_, n) =>
      usageRecord({ created_at: `2026-11-20T10:00:0${n % 3}.000Z` }),
    );
    await app.post(...records);
    const seen: { id: string; created_at: string }[] = [];
    for (let offset = 0; offset < 9; offset += 2) {
      seen.push(...(await reads.events(secret, { ...ORG, limit: 2, offset })).body.events);
    }
    expect(new Set(seen.map(({ id }) => id))).toEqual(new Set(records.map(({ id }) => id)));
    expect(seen).toHaveLength(9);
    const times = seen.map(({ created_at }) => created_at);
    expect(times).toEqual(times.toSorted().toReversed());
  });

  it('READ-31 pages by cursor without a repeat or a loss, whatever comes meanwhile', async () => {
    const records = Array.from({ length: 7 }, (_, n) =>
      usageRecord({ created_at: `2026-11-20T10:00:0${n % 2}.000Z` }),
    );
    await app.post(...records);
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const { body } = await reads.events(secret, { ...ORG, limit: 3, cursor });
      expect(body.total).toBe(7 + (seen.length > 0 ? 1 : 0));
      seen.push(...body.events.map(({ id }: UsageEventRecord) => id));
      cursor = body.next_cursor;
      if (seen.length === 3) await app.post(usageRecord({ created_at: '2026-11-20T11:00:00.000Z' }));
    } while (cursor !== null);
    expect(new Set(seen)).toEqual(new Set(records.map(({ id }) => id)));
    expect(seen).toHaveLength(7);
    for (const broken of ['AAAA', '!', 'x'.repeat(201)])
      expect((await reads.events(secret, { ...ORG, cursor: broken })).status).toBe(422);
  });

  it('READ-30 filters by key, person, team, endpoint, outcome and tag, and sums the same rows', async () => {
    await app.post(
      usageRecord({ request_tags: { env: 'prod' } }),
      usageRecord({ request_tags: { env: 'test' }, endpoint: '/v1/embeddings', outcome: 'cached' }),
      usageRecord({ key_id: 'key_2', member_id: 'usr_2', team_id: null, request_tags: { other: 'x' } }),
    );
    const count = async (filter: object): Promise<number> => {
      const body = { ...ORG, ...filter, refresh: true };
      const [page, sums] = [
        await reads.events(tokenOf('owner'), body),
        await reads.summary(tokenOf('owner'), body),
      ];
      expect([page.body.total, sums.body.total_requests]).toEqual(Array(2).fill(page.body.events.length));
      return page.body.events.length;
    };
    expect(await count({ key_id: 'key_2' })).toBe(1);
    expect(await count({ user_id: 'usr_1' })).toBe(2);
    expect(await count({ team_id: 'team_1' })).toBe(2);
    expect(await count({ endpoint: '/v1/embeddings' })).toBe(1);
    expect(await count({ outcome: ['served'] })).toBe(2);
    expect(await count({ tag: 'env=prod' })).toBe(1);
    expect(await count({ tag: 'env' })).toBe(2);
    expect(await count({ tag: 'env', outcome: ['cached'], user_id: 'usr_2' })).toBe(0);
    expect((await reads.events(secret, { ...ORG, outcome: ['lost'] })).status).toBe(422);
  });

  it('READ-13 READ-32 READ-33 READ-34 READ-52 shows a retried request once and its attempts without provider names', async () => {
    const failed = attemptRecord({
      provider: 'secretive',
      status: 'error',
      http_status: 500,
      error_code: 'internal_provider_error',
      error_message: 'it broke',
      served: false,
      house_usd: '0.01',
    });
    const served = attemptRecord({ n: 2, provider: 'hosty', started_at: '2026-11-20T10:00:01.000Z' });
    const record = usageRecord({ attempts: [served, failed], routing_fallback: true });
    await app.post(record);
    const page = (await reads.events(secret)).body;
    expect(page.events).toHaveLength(1);
    const { status, body } = await app.call('GET', `/v1/usage/events/${record.id}/attempts`, secret);
    expect(status).toBe(200);
    expect(body.attempts.map(({ n }: AttemptView) => n)).toEqual([1, 2]);
    expect(body.attempts[0]).toEqual({
      n: 1,
      status: 'error',
      http_status: 500,
      error_code: 'internal_provider_error',
      error_message: 'it broke',
      started_at: '2026-11-20T10:00:00.000Z',
      latency_ms: 100,
      ttft_ms: 80,
      prompt_tokens: 100,
      completion_tokens: 50,
      served: false,
    });
    expect(JSON.stringify([page, body])).not.toMatch(/secretive|hosty|provider"|house/);
  });
});

describe('GET /v1/usage/requests/{id}', () => {
  beforeEach(() => reads.clear());

  it('READ-22 READ-35 READ-53 tells of a served request, with its provider', async () => {
    const record = usageRecord({
      cost_usd: '0.5',
      created_at: '2026-11-20T10:00:00.000Z',
      request_tags: { a: 'b' },
      usage: { prompt_tokens: 100, completion_tokens: 50, unpriced_counters: { novel_tokens: 12 } },
      limits: [
        { scope: 'key', scope_id: 'key_1', rpm: 3, rpm_limit: 100, rpd: 40, rpd_limit: null, cap_usd: '5' },
        { scope: 'team_member', scope_id: 'team_1/usr_1', rpm: 1, rpm_limit: 7, rpd: 2, rpd_limit: 8 },
        {
          scope: 'key',
          scope_id: 'key_1/m:acme/*',
          rpm: 0,
          rpm_limit: null,
          rpd: 0,
          rpd_limit: null,
          cap_usd: '2',
        },
      ],
    });
    await app.post(record);
    const { status, body } = await reads.lookup(secret, record.request_id);
    expect(status).toBe(200);
    expect(body).toEqual({
      price_window: null,
      priced_at: null,
      unpriced_counters: { novel_tokens: 12 },
      request_id: record.request_id,
      created_at: '2026-11-20T10:00:00.000Z',
      endpoint: '/v1/chat/completions',
      model: 'acme/swift',
      requested_model: 'acme/swift',
      provider: 'hosty',
      status: 'success',
      outcome: 'served',
      http_status: 200,
      error_code: null,
      latency_ms: 120,
      ttft_ms: 80,
      prompt_tokens: 100,
      completion_tokens: 50,
      total_tokens: 150,
      cost_usd: '0.5',
      byok_used: false,
      routing_fallback: false,
      cache_hit: false,
      usage_estimated: false,
      attempts: [expect.objectContaining({ n: 1, served: true })],
      request_tags: { a: 'b' },
      retention_days: 90,
      key_id: 'key_1',
      key_label: 'Batch jobs',
      price_lines: null,
      limits_seen: [
        { ...KEY_SEEN, metric: 'rpm', current: 3, limit: 100 },
        { ...KEY_SEEN, metric: 'rpd', current: 40, limit: null },
        { ...KEY_SEEN, metric: 'spend_cap', current: null, limit: '5' },
        { ...MEMBER_SEEN, metric: 'rpm', current: 1, limit: 7 },
        { ...MEMBER_SEEN, metric: 'rpd', current: 2, limit: 8 },
        { ...KEY_SEEN, counter: 'm:acme/*', metric: 'rpm', current: 0, limit: null },
        { ...KEY_SEEN, counter: 'm:acme/*', metric: 'rpd', current: 0, limit: null },
        { ...KEY_SEEN, counter: 'm:acme/*', metric: 'spend_cap', current: null, limit: '2' },
      ],
    });
  });

  it.each(['failed', 'cached', 'cancelled'] as const)('READ-53 tells the outcome %s', async (outcome) => {
    const record = usageRecord({ outcome, cost_usd: null });
    await app.post(record);
    expect((await reads.lookup(secret, record.request_id)).body.outcome).toBe(outcome);
  });

  it('READ-23 READ-35 tells of a request refused before any model as rejected', async () => {
    const record = rejectionRecord();
    await app.post(record);
    const { body } = await reads.lookup(secret, record.request_id);
    expect(body).toMatchObject({
      outcome: 'rejected',
      http_status: 429,
      error_code: 'rate_limit_exceeded',
      cost_usd: null,
    });
  });

  it('READ-36 404 for a request older than 90 days, served or refused', async () => {
    const old = new Date(Date.now() - 90 * DAY_MS - 60_000).toISOString();
    const young = new Date(Date.now() - 90 * DAY_MS + 60_000).toISOString();
    const records = [
      usageRecord({ created_at: old }),
      rejectionRecord({ created_at: old }),
      usageRecord({ created_at: young }),
    ];
    await app.post(...records);
    const answers = await Promise.all(records.map(({ request_id }) => reads.lookup(secret, request_id)));
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 200]);
  });

  it('READ-37 404 for a chat compare and for a line of a batch, served or refused', async () => {
    const endpoints = ['/v1/chat/compare', '/v1/batches'];
    const records = endpoints.flatMap((endpoint) => [
      usageRecord({ endpoint }),
      rejectionRecord({ endpoint }),
    ]);
    await app.post(...records);
    for (const { request_id } of records) expect((await reads.lookup(secret, request_id)).status).toBe(404);
  });
});
