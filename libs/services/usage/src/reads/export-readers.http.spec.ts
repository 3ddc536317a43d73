import { jest } from '@jest/globals';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import type { Clock } from '@gateway/contracts';
import { CLOCK } from '@gateway/platform';
import { eventually, sessionPrincipal, testDatabase, usageRecord, type TestDatabase } from '@gateway/testing';
import { MIGRATED, startUsageApp, type UsageApp } from '../usage.fixture.js';

/** Some 15 MB of CSV for each of four accounts, on a box that may be busy. */
const SLOW_MS = 120_000;
/** More than the kernel takes for a reader that takes nothing. */
const ROWS = 5_000;
const WIDE = 'w'.repeat(3_000);
const PATH = '/v1/usage/events/export?org_id=';
const tokenOf = (org: string): string => `eyJ${org}.eyJ${org}.${org}`;
const END_USER = 'hash-of-one-end-user';

let place: TestDatabase;
let app: UsageApp;

beforeAll(async () => {
  place = await testDatabase(MIGRATED);
  app = await startUsageApp(place.url);
  for (const org of ['org_1', 'org_2', 'org_3', 'org_4', 'org_5']) {
    const membership = { orgId: org, accountId: `acct_${org.slice(-1)}`, teams: [], role: 'owner' as const };
    app.principals.add(tokenOf(org), sessionPrincipal({ userId: `usr_${org}`, memberships: [membership] }));
  }
  const model = usageRecord({ request_tags: { wide: WIDE }, end_user_hash: END_USER });
  await app.post(model, usageRecord({ account_id: 'acct_5', org_id: 'org_5' }));
  for (const account of ['1', '2', '3', '4'])
    await app.database.pool.query(
      `INSERT INTO usage_event SELECT r.* FROM usage_event e, generate_series(1, $2::int) AS n,
         LATERAL jsonb_populate_record(e, jsonb_build_object('id', 'use_' || $3::text || n, 'request_id', 'req_' || $3 || n,
           'account_id', 'acct_' || $3, 'org_id', 'org_' || $3, 'epoch', 'many' || $3, 'seq', n)) AS r
       WHERE e.id = $1`,
      [model.id, ROWS, account],
    );
}, SLOW_MS);
afterAll(async () => {
  await app.close();
  await place.drop();
});

/** An export whose reader has its beginning, and takes no more until it is asked to. */
async function asked(org: string): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${tokenOf(org)}` };
  const [answer] = (await once(get(`${app.url}${PATH}${org}`, { headers, agent: false }), 'response')) as [
    IncomingMessage,
  ];
  answer.on('error', () => undefined).pause();
  return answer;
}

/** An export whose reader has its beginning, and takes no more until it is asked to. One before it may be ending still. */
function begun(org = 'org_1'): Promise<IncomingMessage> {
  return eventually(async () => {
    const answer = await asked(org);
    if (answer.statusCode === 200) return answer;
    answer.destroy();
    return null;
  });
}

/** An address that does not end while this box is busy. */
async function prepared(org: string): Promise<string> {
  const { body } = await app.call('POST', '/v1/usage/exports', tokenOf(org), { org_id: org });
  await app.database.pool.query(`UPDATE usage_export SET expires_at = expires_at + interval '1 day'`);
  return body.url as string;
}

async function textOf(answer: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of answer.setEncoding('utf8')) text += String(chunk);
  return text;
}

const statusOf = async (org: string): Promise<number> =>
  (await app.call('GET', `${PATH}${org}`, tokenOf(org))).status;
const isFree = async (): Promise<boolean> => (await statusOf('org_1')) === 200;

describe('readers of exports', () => {
  it(
    'READ-40 429 for a fifth export at once of an account, which keeps nobody else from theirs; those who leave make room',
    async () => {
      const readers = [await begun(), await begun(), await begun(), await begun()];
      const refused = await app.call('GET', `${PATH}org_1`, tokenOf('org_1'));
      expect([refused.status, refused.body.error.code]).toEqual([429, 'rate_limit_exceeded']);
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
      expect(await statusOf('org_5')).toBe(200);
      for (const reader of readers) reader.destroy();
      await eventually(isFree);
    },
    SLOW_MS,
  );

  it(
    'READ-40 an address whose export was refused stays good',
    async () => {
      const readers = [await begun(), await begun(), await begun(), await begun()];
      const url = await prepared('org_1');
      const fetched = async (): Promise<number> => (await app.call('GET', url, null)).status;
      expect(await fetched()).toBe(429);
      for (const reader of readers) reader.destroy();
      await eventually(async () => (await fetched()) === 200);
      expect(await fetched()).toBe(404);
    },
    SLOW_MS,
  );

  it(
    'READ-40 a fifth account has a place beside four with slow readers: one of those is broken off, never taken for whole',
    async () => {
      const clock = app.app.get<Clock>(CLOCK, { strict: false });
      const elapsed = jest.spyOn(clock, 'monotonic').mockReturnValue(0);
      const orgs = ['org_1', 'org_1', 'org_1', 'org_1', 'org_2', 'org_2', 'org_3', 'org_4'];
      const readers: IncomingMessage[] = [];
      for (const org of orgs) readers.push(await begun(org));
      const refused = await app.call('GET', `${PATH}org_5`, tokenOf('org_5'));
      expect([refused.status, Number(refused.headers['retry-after']) > 0]).toEqual([503, true]);
      elapsed.mockReturnValue(600_000);
      expect(await statusOf('org_5')).toBe(200);
      elapsed.mockRestore();
      const texts = await Promise.allSettled(readers.map(textOf));
      expect(texts.filter(({ status }) => status === 'rejected')).toHaveLength(1);
      await eventually(isFree);
    },
    SLOW_MS,
  );

  it('READ-40 an address gives its file to one of two who ask at once, and none to who only looks', async () => {
    const url = await prepared('org_5');
    const look = async (): Promise<[number, string]> => {
      const { statusCode, body } = await app.app.inject({ method: 'HEAD', url });
      return [statusCode, body];
    };
    expect(await look()).toEqual([200, '']);
    const answers = await Promise.all([1, 2].map(() => app.call('GET', url, null)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 404]);
    expect((await look())[0]).toBe(404);
  });

  it(
    'READ-40 a file that cannot be written to its end is broken off, never taken for whole',
    async () => {
      const reader = await begun();
      await app.database.pool.query('ALTER TABLE usage_event RENAME TO usage_event_away');
      try {
        await expect(textOf(reader)).rejects.toThrow();
      } finally {
        await app.database.pool.query('ALTER TABLE usage_event_away RENAME TO usage_event');
      }
      await eventually(isFree);
    },
    SLOW_MS,
  );

  it(
    'S04 an end user who is erased while an export is written is in no part of it, and the file is whole',
    async () => {
      const reader = await begun();
      await app.database.pool.query(`INSERT INTO erased_end_user VALUES ('acct_1', $1, now())`, [END_USER]);
      await app.database.pool.query('UPDATE usage_event SET end_user_hash = NULL WHERE end_user_hash = $1', [
        END_USER,
      ]);
      const text = await textOf(reader);
      expect(text.split('\r\n')).toHaveLength(ROWS + 3);
      expect(text).not.toContain(END_USER);
    },
    SLOW_MS,
  );
});
