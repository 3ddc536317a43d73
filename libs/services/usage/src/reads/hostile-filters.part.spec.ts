import { rejectionRecord, usageRecord } from '@gateway/testing';
import type { UsageEventRecord } from '@gateway/contracts';
import { ORG, otherSecret, secret, tokenOf } from './reads.fixture.js';
import { app, reads } from './all-reads.fixture.js';

/** Some hundreds of requests, on a box that may be busy. */
const SLOW_MS = 120_000;
const OWNER = tokenOf('owner');
const READS = [
  '/v1/usage',
  '/v1/usage/events',
  '/v1/usage/rejections',
  '/v1/usage/series',
  '/v1/usage/exports',
];
const NUL = '\0';
const HALF_PAIR = '\ud800';
const LONG = 'x'.repeat(10_000);

const ask = (path: string, as: string, body: object) =>
  app.call('POST', path, as, {
    ...ORG,
    ...(path.endsWith('series') ? { granularity: 'day' } : {}),
    ...body,
  });
const codeOf = ({ status, body }: Awaited<ReturnType<typeof ask>>): [number, string | undefined] => [
  status,
  body.error?.code,
];
const idsOf = ({ body }: Awaited<ReturnType<typeof ask>>): string[] =>
  body.events.map(({ id }: UsageEventRecord) => id);

const WRONG: Record<string, unknown> = {
  'since with NUL': { since: NUL },
  'since of the year 0': { since: '0000-01-01' },
  'since before Christ': { since: '-2026-01-01' },
  'since with a sign': { since: '+2026-01-01' },
  'since that is no day': { since: '2026-02-30T10:00:00Z' },
  'since as a week': { since: '2026-W10' },
  'since as a list': { since: ['2026-01-01'] },
  'until as a number': { until: 1_763_900_000_000 },
  'until with an operator': { until: { lt: '2026-01-01' } },
  'a model that is no list': { model: 'acme/swift' },
  'models as an object': { model: { 0: 'acme/swift', length: 1 } },
  'models with an operator': { model: { contains: 'a' } },
  'models in a list': { model: [['acme/swift']] },
  'a model that is null': { model: [null] },
  'a long model': { model: [LONG] },
  'a model with NUL': { model: [NUL] },
  'a model with half a pair': { model: [HALF_PAIR] },
  'too many models': { model: Array(101).fill('acme/swift') },
  'a status with an operator': { status: [{ in: ['success'] }] },
  'a key with an operator': { key_id: { not: 'key_1' } },
  'a long key': { key_id: LONG },
  'a member with NUL': { member_id: `usr_1${NUL}` },
  'a list of teams': { team_id: ['team_1'] },
  'a long endpoint': { endpoint: LONG },
  'an unknown outcome': { outcome: ['served', 'lost'] },
  'a tag without a name': { tag: '=x' },
  'a long tag': { tag: `job=${LONG}` },
  'a tag with half a pair': { tag: `job=${HALF_PAIR}` },
  'a request id with an operator': { request_id: { not: 'req_1' } },
  'a long request id': { request_id: LONG },
  'a request id with NUL': { request_id: NUL },
  'a negative offset': { offset: -1 },
  'half an offset': { offset: 0.5 },
  'an endless offset': { offset: 1e10 },
  'a limit in words': { limit: '5' },
  'no limit': { limit: 0 },
  'an unknown field': { where: {} },
};

describe('filters of usage reads', () => {
  beforeEach(() => reads.clear());

  it.each(Object.entries(WRONG))('ERR-35 422 for %s, on every read', async (_, filter) => {
    for (const path of READS)
      expect([path, ...codeOf(await ask(path, OWNER, filter as object))]).toEqual([
        path,
        422,
        'validation_error',
      ]);
  });

  it(
    'READ-30 take any well-formed text as a value, of which the reads find the same events',
    async () => {
      const names = [
        'a,b',
        '{',
        '"',
        '\\',
        '0',
        "it's",
        '%s $1',
        'a\nb',
        'NULL',
        'é😀',
        "'; DROP TABLE usage_event; --",
      ];
      for (const name of names) {
        await reads.clear();
        await app.post(
          usageRecord({ request_tags: { [name]: name }, model: name, endpoint: name }),
          usageRecord({ request_tags: { job: name }, model: 'acme/other' }),
          rejectionRecord({ request_tags: { [name]: name }, model: name, endpoint: name }),
        );
        for (const filter of [
          { tag: name },
          { tag: `${name}=${name}` },
          { model: [name] },
          { endpoint: name },
        ]) {
          const of = async (path: string) => (await ask(path, OWNER, { ...filter, refresh: true })).body;
          expect([
            (await of('/v1/usage')).total_requests,
            (await of('/v1/usage/events')).events.length,
            (await of('/v1/usage/events')).total,
            (await of('/v1/usage/rejections')).rejections.length,
            (await of('/v1/usage/series')).total.requests,
            (await of('/v1/usage/exports')).rows,
          ]).toEqual([1, 1, 1, 1, 1, 1]);
        }
      }
    },
    SLOW_MS,
  );

  it('READ-24 READ-25 cover everything from the first day to the last', async () => {
    await app.post(usageRecord(), rejectionRecord());
    const always = { since: '1000-01-01', until: '9999-12-31' };
    expect((await ask('/v1/usage', OWNER, always)).body.total_requests).toBe(1);
    expect((await ask('/v1/usage/events', OWNER, always)).body.events).toHaveLength(1);
    expect((await ask('/v1/usage/rejections', OWNER, always)).body.rejections).toHaveLength(1);
    expect((await ask('/v1/usage/exports', OWNER, always)).body.rows).toBe(1);
    expect(codeOf(await ask('/v1/usage/series', OWNER, always))).toEqual([422, 'validation_error']);
    for (const path of READS) {
      const { status } = await ask(path, OWNER, { since: '9999-12-31T23:59:59Z' });
      expect([path, status]).toEqual([path, path.endsWith('exports') ? 201 : 200]);
    }
  });

  it('READ-54 422 for what is no zone of IANA, in series and exports alike', async () => {
    const statuses = async (time_zone: unknown): Promise<number[]> => [
      (await ask('/v1/usage/series', OWNER, { time_zone })).status,
      (await ask('/v1/usage/exports', OWNER, { time_zone })).status,
    ];
    for (const zone of [
      'Mars/Olympus',
      'XYZ+5',
      'Etc/GMT+14',
      'IST',
      'ist',
      'z',
      '+05:30',
      '../UTC',
      LONG,
      ['UTC'],
      {},
    ])
      expect([zone, ...(await statuses(zone))]).toEqual([zone, 422, 422]);
    for (const zone of ['UTC', 'utc', 'Asia/Kolkata', 'America/Argentina/Buenos_Aires', 'Etc/GMT+12'])
      expect([zone, ...(await statuses(zone))]).toEqual([zone, 200, 201]);
  });
});

describe('cursors of usage events', () => {
  beforeEach(() => reads.clear());

  const AT = '2026-11-20T10:00:00.000Z';
  const text = (place: string): string => Buffer.from(place).toString('base64url');

  it('READ-31 422 for one that is forged or cut short', async () => {
    await app.post(usageRecord({ created_at: AT }), usageRecord({ created_at: AT }));
    const { next_cursor: cursor } = (await reads.events(secret, { ...ORG, limit: 1 })).body;
    const at = Date.parse(AT);
    const forged = [
      ...Array.from({ length: cursor.length - 1 }, (_, n) => cursor.slice(0, n + 1)),
      cursor.toLowerCase(),
      `${cursor}AAAA`,
      ...[`${at}.use_1`, `${at}.${NUL}`, `999999999999999.use_1.AAAAAAAAAAA`, `${at}.${NUL}.AAAAAAAAAAA`].map(
        text,
      ),
      ...[NUL, HALF_PAIR, LONG, '', 7, [cursor], { gt: cursor }],
    ];
    for (const broken of forged)
      expect([broken, ...codeOf(await ask('/v1/usage/events', secret, { cursor: broken }))]).toEqual([
        broken,
        422,
        'validation_error',
      ]);
    expect((await reads.events(secret, { ...ORG, limit: 1, cursor })).body.events).toHaveLength(1);
  });

  it('READ-31 AUTH-08 422 for one of other filters or of another caller, who never sees what it passed', async () => {
    const foreign = { account_id: 'acct_2', org_id: 'org_2', key_id: 'key_9' };
    const own = [0, 1, 2].map(() => usageRecord({ created_at: AT, request_tags: { env: 'prod' } }));
    await app.post(
      ...own,
      usageRecord({ created_at: AT, ...foreign }),
      usageRecord({ key_id: 'key_2', created_at: AT }),
    );
    const filter = { since: '2026-11-01', model: ['acme/swift'], tag: 'env=prod' };
    const first = await ask('/v1/usage/events', secret, { ...filter, limit: 1 });
    const { next_cursor: cursor } = first.body;
    const others: [string, object][] = [
      [secret, {}],
      [secret, { ...filter, since: '2026-11-02' }],
      [secret, { ...filter, model: ['acme/other'] }],
      [secret, { ...filter, tag: 'env' }],
      [otherSecret, filter],
      [OWNER, filter],
    ];
    for (const [as, asked] of others)
      expect(codeOf(await ask('/v1/usage/events', as, { ...asked, cursor }))).toEqual([
        422,
        'validation_error',
      ]);
    // Another length of the page, and a place that is ignored beside a cursor, are the same events.
    const rest = await ask('/v1/usage/events', secret, { ...filter, cursor, limit: 200, offset: 5 });
    expect([...idsOf(first), ...idsOf(rest)].toSorted()).toEqual(own.map(({ id }) => id).toSorted());
  });

  it('READ-31 meet every event once while others come in before, among and after them', async () => {
    const at = (n: number): string => new Date(Date.parse(AT) + n).toISOString();
    const records = Array.from({ length: 30 }, (_, n) =>
      usageRecord({ created_at: at(Math.floor(n / 4) * 10) }),
    );
    await app.post(...records);
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page = await ask('/v1/usage/events', secret, { limit: 4, cursor });
      seen.push(...idsOf(page));
      cursor = page.body.next_cursor;
      // Newer than everything, as old as something, and older than everything.
      await app.post(...[1_000, 0, -1_000].map((n) => usageRecord({ created_at: at(n) })));
      expect(seen.length).toBeLessThan(200);
    } while (cursor !== null && !records.every(({ id }) => seen.includes(id)));
    expect(new Set(seen).size).toBe(seen.length);
    expect(records.every(({ id }) => seen.includes(id))).toBe(true);
  });
});
