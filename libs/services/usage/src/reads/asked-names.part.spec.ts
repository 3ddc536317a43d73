import type { SeriesValues, UsageEventRecord } from '@gateway/contracts';
import { usageRecord } from '@gateway/testing';
import { app, reads } from './all-reads.fixture.js';
import { ORG, otherSecret, secret, tokenOf } from './reads.fixture.js';

const ALIAS = 'team/prod';
const OWNER = tokenOf('owner');

const find = async (as: string, filter: object) => {
  const { status, body } = await reads.events(as, { ...ORG, refresh: true, ...filter });
  const ids: string[] = (body.events ?? []).map(({ id }: UsageEventRecord) => id);
  return { status, ids, total: body.total as number, cursor: body.next_cursor as string | null };
};
const at = (second: number): string => `2026-11-20T10:00:${String(second).padStart(2, '0')}.000Z`;

describe('usage events of a name that was asked for', () => {
  beforeEach(() => reads.clear());

  it('are found by an alias and by the model before a fallback, newest first, of their view alone', async () => {
    const old = usageRecord({ requested_model: ALIAS, created_at: at(1) });
    const other = usageRecord({ requested_model: ALIAS, model: 'acme/next', created_at: at(2) });
    const fallback = usageRecord({ requested_model: 'acme/big', created_at: at(3) });
    const ofMember = { key_id: 'key_2', member_id: 'usr_2', team_id: null };
    const second = usageRecord({ requested_model: ALIAS, ...ofMember, created_at: at(4) });
    await app.post(old, other, fallback, second, usageRecord({ created_at: at(5) }));
    expect(await find(OWNER, { requested_model: ALIAS })).toMatchObject({
      ids: [second.id, other.id, old.id],
      total: 3,
    });
    expect((await find(OWNER, { requested_model: 'acme/big' })).ids).toEqual([fallback.id]);
    // What was asked for and served is found by `model`.
    expect(await find(OWNER, { requested_model: 'acme/swift' })).toMatchObject({ ids: [], total: 0 });
    expect((await find(secret, { requested_model: ALIAS })).ids).toEqual([other.id, old.id]);
    expect((await find(otherSecret, { requested_model: ALIAS })).ids).toEqual([second.id]);
    expect((await find(tokenOf('outsider'), { requested_model: ALIAS })).status).toBe(403);
  });

  it('are narrowed by every other filter, and counted as they are listed', async () => {
    const tagged = usageRecord({ requested_model: ALIAS, request_tags: { env: 'prod' }, created_at: at(1) });
    const cached = usageRecord({ requested_model: ALIAS, outcome: 'cached', created_at: at(2) });
    const next = usageRecord({ requested_model: ALIAS, model: 'acme/next', created_at: at(3) });
    await app.post(tagged, cached, next, usageRecord({ request_tags: { env: 'prod' } }));
    const found = async (filter: object): Promise<string[]> => {
      const { ids, total } = await find(OWNER, { requested_model: ALIAS, ...filter });
      expect(total).toBe(ids.length);
      return ids;
    };
    expect(await found({ tag: 'env=prod' })).toEqual([tagged.id]);
    expect(await found({ outcome: ['cached'] })).toEqual([cached.id]);
    expect(await found({ model: ['acme/next'], status: ['success'] })).toEqual([next.id]);
    expect(await found({ since: at(2) })).toEqual([next.id, cached.id]);
    expect(await found({ endpoint: '/v1/embeddings' })).toEqual([]);
    expect(await found({ requested_model: null, model: ['acme/next'] })).toEqual([next.id]);
  });

  it('are paged without a repeat or a loss, and a cursor goes with its own name alone', async () => {
    const records = Array.from({ length: 5 }, (_, n) =>
      usageRecord({ requested_model: ALIAS, created_at: at(n % 2) }),
    );
    await app.post(...records, usageRecord({ created_at: at(0) }));
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page = await find(OWNER, { requested_model: ALIAS, limit: 2, cursor });
      seen.push(...page.ids);
      cursor = page.cursor;
      if (cursor !== null)
        expect((await find(OWNER, { requested_model: 'team/test', limit: 2, cursor })).status).toBe(422);
    } while (cursor !== null);
    expect(seen.toSorted()).toEqual(records.map(({ id }) => id).toSorted());
  });

  it('are added up by what served, also for a member and beside another filter', async () => {
    const shown = { requested_model: ALIAS, created_at: at(1) };
    await app.post(
      usageRecord({ ...shown, cost_usd: '1' }),
      usageRecord({ ...shown, model: 'acme/next', cost_usd: '20' }),
      usageRecord({ ...shown, model: 'acme/next', cost_usd: '300', request_tags: { env: 'prod' } }),
      usageRecord({ created_at: at(1), cost_usd: '4000' }),
    );
    const sumsOf = async (more: object): Promise<unknown> => {
      const asked = { ...ORG, since: '2026-11-20', until: '2026-11-21', granularity: 'day', ...more };
      const { status, body } = await app.call('POST', '/v1/usage/series?refresh=true', OWNER, asked);
      const { totals, total } = body as { totals: Record<string, SeriesValues>; total: SeriesValues };
      const groups = Object.entries(totals).map(([id, { requests, cost_usd }]) => [id, requests, cost_usd]);
      return [status, groups, total.cost_usd];
    };
    expect(await sumsOf({ requested_model: ALIAS, group_by: 'model' })).toEqual([
      200,
      [
        ['acme/next', 2, '320'],
        ['acme/swift', 1, '1'],
      ],
      '321',
    ]);
    expect(await sumsOf({ requested_model: ALIAS, tag: 'env=prod' })).toEqual([
      200,
      [['all', 1, '300']],
      '300',
    ]);
    expect(await sumsOf({ requested_model: ALIAS, group_by: 'tag:env' })).toEqual([
      200,
      [
        ['prod', 1, '300'],
        ['none', 2, '21'],
      ],
      '321',
    ]);
    expect(await sumsOf({ requested_model: 'acme/swift' })).toEqual([200, [], '0']);
    expect(await sumsOf({ requested_model: null })).toEqual([200, [['all', 4, '4321']], '4321']);
  });

  it('take no list and no text that the database cannot hold, and the summary does not take the filter', async () => {
    await app.post(usageRecord({ requested_model: ALIAS }), usageRecord());
    for (const wrong of [[ALIAS], { in: [ALIAS] }, 7, 'x'.repeat(257), 'a\0b', '\ud800'])
      for (const [path, more] of [
        ['/v1/usage/events', {}],
        ['/v1/usage/series', { granularity: 'day' }],
      ] as const) {
        const { status } = await app.call('POST', path, OWNER, { ...ORG, ...more, requested_model: wrong });
        expect([path, wrong, status]).toEqual([path, wrong, 422]);
      }
    for (const path of ['/v1/usage', '/v1/usage/rejections']) {
      const { status } = await app.call('POST', path, OWNER, { ...ORG, requested_model: ALIAS });
      expect([path, status]).toEqual([path, 422]);
    }
  });

  it('have an index that no other event is in', async () => {
    const { rows } = await app.database.pool.query<{ indexdef: string }>(
      `SELECT indexdef FROM pg_indexes WHERE indexname = 'usage_event_asked_name_idx'`,
    );
    expect(rows).toHaveLength(1);
    expect(rows[0].indexdef).toMatch(
      /\(account_id, requested_model, created_at DESC, id DESC\).*requested_model <> model/,
    );
  });
});
