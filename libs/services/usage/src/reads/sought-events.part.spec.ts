import type { UsageEventRecord } from '@gateway/contracts';
import { usageRecord } from '@gateway/testing';
import { app, reads } from './all-reads.fixture.js';
import { ORG, secret, tokenOf } from './reads.fixture.js';
import { refuseMany } from './sought-events.js';

const OWNER = tokenOf('owner');
const at = (second: number): string => `2026-11-20T10:00:${String(second).padStart(2, '0')}.000Z`;
const find = async (filter: object, as = OWNER) => {
  const { status, body } = await reads.events(as, { ...ORG, refresh: true, ...filter });
  const ids: string[] = (body.events ?? []).map(({ id }: UsageEventRecord) => id);
  return { status, ids, total: body.total as number, cursor: body.next_cursor as string | null };
};

describe('usage events in another order than that of time', () => {
  beforeEach(() => reads.clear());

  it('issue 41 come by cost, latency and tokens in both directions, those without a value last', async () => {
    const cheap = usageRecord({ latency_ms: 900, created_at: at(1) });
    const slow = usageRecord({ latency_ms: 9_000, created_at: at(2) });
    const free = usageRecord({ latency_ms: 10, created_at: at(3), outcome: 'cached' });
    await app.post(cheap, slow, free);
    const { database } = app;
    const price = (id: string, cost: string | null): Promise<unknown> =>
      database.pool.query('UPDATE usage_event SET cost = $2::numeric WHERE id = $1', [id, cost]);
    await price(cheap.id, '0.000000000002');
    await price(slow.id, '0.00000000001');
    await price(free.id, null);
    expect((await find({ sort: '-cost_usd' })).ids).toEqual([slow.id, cheap.id, free.id]);
    expect((await find({ sort: 'cost_usd' })).ids).toEqual([cheap.id, slow.id, free.id]);
    expect((await find({ sort: '-latency_ms' })).ids).toEqual([slow.id, cheap.id, free.id]);
    expect((await find({ sort: 'created_at' })).ids).toEqual([cheap.id, slow.id, free.id]);
    expect((await find({ min_cost_usd: '0.000000000005' })).ids).toEqual([slow.id]);
    expect((await find({ min_latency_ms: 900 })).ids).toEqual([slow.id, cheap.id]);
  });

  it('are paged by offset without a repeat or a loss, equal ones too, and counted as they are listed', async () => {
    const records = Array.from({ length: 7 }, (_, n) =>
      usageRecord({ latency_ms: n % 2, stream: n % 3 === 0, created_at: at(n) }),
    );
    await app.post(...records);
    const pages = [];
    for (const offset of [0, 3, 6]) pages.push(await find({ sort: 'latency_ms', limit: 3, offset }));
    const ids = pages.flatMap((page) => page.ids);
    expect([ids.length, new Set(ids).size]).toEqual([7, 7]);
    expect(pages.map(({ total, cursor }) => [total, cursor])).toEqual(Array(3).fill([7, null]));
    const streams = await find({ stream: true });
    expect([streams.ids.length, streams.total]).toEqual([3, 3]);
    expect((await find({ stream: false, sort: '-latency_ms' })).total).toBe(4);
  });

  it('are those of the view and of every other filter', async () => {
    const mine = usageRecord({ latency_ms: 5, request_tags: { env: 'prod' }, created_at: at(1) });
    const other = usageRecord({ latency_ms: 6, key_id: 'key_2', member_id: 'usr_2', created_at: at(2) });
    await app.post(mine, other);
    expect((await find({ sort: '-latency_ms' }, secret)).ids).toEqual([mine.id]);
    expect((await find({ sort: '-latency_ms', tag: 'env=prod' })).ids).toEqual([mine.id]);
    expect((await find({ sort: '-latency_ms', since: at(2) })).ids).toEqual([other.id]);
    expect((await find({ sort: '-latency_ms', key_id: 'key_2' })).ids).toEqual([other.id]);
  });

  it.each([
    { sort: 'cost' },
    { sort: 'cost_usd; DROP TABLE usage_event' },
    { min_cost_usd: '1e3' },
    { min_latency_ms: -1 },
    { stream: 'yes' },
  ])('422 for %j', async (filter) => expect((await find(filter)).status).toBe(422));

  it('422 beside a cursor, and 400 for a range of more than 100,000', async () => {
    await app.post(usageRecord({ created_at: at(1) }), usageRecord({ created_at: at(2) }));
    const { cursor } = await find({ limit: 1 });
    expect((await find({ limit: 1, cursor, sort: 'created_at' })).status).toBe(422);
    expect(() => refuseMany(100_001)).toThrow(/at most 100,000; this range has 100,001/);
    expect(() => refuseMany(100_000)).not.toThrow();
  });
});
