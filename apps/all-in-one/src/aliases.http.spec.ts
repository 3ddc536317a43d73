import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually, testPostgres, type TestDatabase } from '@gateway/testing';
import pg from 'pg';
import { readSettings } from './all-in-one.config.js';
import { startAllInOne, type AllInOne } from './all-in-one.js';

type Json = Record<string, unknown>;

interface Answer {
  status: number;
  body: Json;
  requestId: string | null;
}

const [FIRST, SECOND] = ['simulator/chat', 'simulator/claude'];
const REQUESTS = 120;
/** Requests that are under way at once. */
const AT_ONCE = 4;
/** Standard deviations by which a share may differ: one run in a million differs by more. */
const DEVIATIONS = 5;

let folder: string;
let database: TestDatabase;
let gateway: AllInOne;
let token: string;
let orgId: string;
let key: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'aliases-'));
  database = await testPostgres();
  gateway = await startAllInOne(
    readSettings({ PORT: '0', GATEWAY_DATA_DIR: folder, DATABASE_URL: database.url, LOG_LEVEL: 'warn' }),
  );
  const { admin } = JSON.parse(readFileSync(join(folder, 'first-run.json'), 'utf8')) as { admin: Json };
  token = String((await call('POST', '/auth/login', undefined, admin)).body.token);
  const me = await call('GET', '/auth/me', token);
  [{ org_id: orgId }] = me.body.memberships as { org_id: string }[];
  key = String((await call('POST', '/v1/keys', token, { org_id: orgId, rpm: 1_000 })).body.key);
});
afterAll(async () => {
  await gateway?.close();
  await database?.drop();
  rmSync(folder, { recursive: true, force: true });
});

async function call(method: string, path: string, as?: string, sent?: unknown): Promise<Answer> {
  const answer = await fetch(`${gateway.url}${path}`, {
    method,
    headers: {
      ...(as === undefined ? {} : { authorization: `Bearer ${as}` }),
      ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
    },
    body: sent === undefined ? undefined : JSON.stringify(sent),
  });
  const body = (await answer.json().catch(() => ({}))) as Json;
  return { status: answer.status, body, requestId: answer.headers.get('x-request-id') };
}

const chat = (model: string): Promise<Answer> => {
  const messages = [{ role: 'user', content: 'Hello' }];
  return call('POST', '/v1/chat/completions', key, { model, max_tokens: 5, messages });
};

const weights = (second: number): Json[] => [
  { model: FIRST, weight: 100 - second },
  { model: SECOND, weight: second },
];

describe('an alias that is moved from one model to another', () => {
  it('at 5, 50 and 100 % under load: no request fails, shares hold, and usage has both names', async () => {
    const made = await call('POST', '/v1/aliases', token, {
      org_id: orgId,
      name: 'team/prod',
      targets: weights(0),
    });
    expect(made.status).toBe(201);
    const path = `/v1/aliases/${String(made.body.id)}`;
    let isOver = false;
    const beside: number[] = [];
    const load = async (): Promise<void> => {
      while (!isOver) beside.push((await chat('team/prod')).status);
    };
    const running = load();
    for (const second of [5, 50, 100]) {
      expect((await call('PATCH', path, token, { targets: weights(second) })).status).toBe(200);
      let asked = 0;
      const models: unknown[] = [];
      const worker = async (): Promise<void> => {
        while (asked++ < REQUESTS) {
          const { status, body } = await chat('team/prod');
          models.push(status === 200 ? body.model : status);
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, worker));
      const share = models.filter((model) => model === SECOND).length / REQUESTS;
      expect(models.filter((model) => model !== FIRST && model !== SECOND)).toEqual([]);
      const part = second / 100;
      const bound = DEVIATIONS * Math.sqrt((part * (1 - part)) / REQUESTS);
      expect(Math.abs(share - part)).toBeLessThanOrEqual(bound);
    }
    isOver = true;
    await running;
    expect(new Set(beside)).toEqual(new Set([200]));
    const last = await chat('team/prod');
    const event = await eventually(async () => {
      const { body } = await call('POST', '/v1/usage/events', key, { org_id: 'mine', limit: 200 });
      return (body.events as Json[]).find(({ request_id }) => request_id === last.requestId);
    });
    expect(event).toMatchObject({ model: SECOND, requested_model: 'team/prod' });
  });

  it('shows in lists of models with what it stands for, and is gone once it is deleted', async () => {
    const made = await call('POST', '/v1/admin/aliases', token, { name: 'house', targets: weights(50) });
    const listed = async (): Promise<Json | undefined> => {
      const answer = await fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
      return ((await answer.json()) as Json[]).find(({ id }) => id === 'house');
    };
    const { body: first } = await call('GET', `/v1/models/${FIRST}`, key);
    const { body: second } = await call('GET', `/v1/models/${SECOND}`, key);
    const record = await listed();
    expect(record).toMatchObject({
      ...{ id: 'house', brand: 'alias', is_alias: true, is_composite: false, resolves_to: weights(50) },
      context_length: Math.min(Number(first.context_length), Number(second.context_length)),
      supports_tools: first.supports_tools === true && second.supports_tools === true,
    });
    expect((await call('GET', '/v1/models/house', key)).body).toEqual(record);
    expect((await chat('house')).status).toBe(200);
    await call('DELETE', `/v1/admin/aliases/${String(made.body.id)}`, token);
    expect(await listed()).toBeUndefined();
    // A process that the machine leaves no time sheds with 503.
    await eventually(async () => (await chat('house')).status === 404);
  });
});

describe('an alias with a shadow', () => {
  it('is answered and charged as without one; the platform pays for the shadow, and shows both side by side', async () => {
    const own = String((await call('POST', '/v1/keys', token, { org_id: orgId, rpm: 1_000 })).body.key);
    const shadow = { model: SECOND, sample_pct: 100 };
    const made = await call('POST', '/v1/admin/aliases', token, {
      ...{ name: 'tried', shadow, targets: [{ model: FIRST, weight: 1 }] },
    });
    expect([made.status, made.body.shadow]).toEqual([201, shadow]);
    const read = `/v1/admin/aliases/${String(made.body.id)}/shadow`;
    const answered: unknown[] = [];
    // A machine that is busy drops shadows first, and then sheds requests with 503: so it is asked until some have come.
    const page = await eventually(
      async () => {
        const answer = await call('POST', '/v1/chat/completions', own, {
          ...{ model: 'tried', max_tokens: 5, messages: [{ role: 'user', content: 'Hello' }] },
        });
        if (answer.status === 200) answered.push(answer.body.model);
        const { body } = await call('GET', read, token);
        const { primary, shadow: sums } = body.totals as Record<string, Json>;
        return Number(primary.requests) >= 3 && primary.requests === sums.requests ? body : null;
      },
      { timeoutMs: 60_000 },
    );
    expect(new Set(answered)).toEqual(new Set([FIRST]));
    const events = await eventually(async () => {
      const { body } = await call('POST', '/v1/usage/events', own, { org_id: 'mine', limit: 200 });
      return (body.events as Json[]).length === answered.length ? (body.events as Json[]) : null;
    });
    expect(events.map(({ model, requested_model: name }) => [model, name])).toEqual(
      events.map(() => [FIRST, 'tried']),
    );
    const [{ primary, shadow: second }] = page.data as Record<string, Json>[];
    expect([primary, second]).toMatchObject([
      { model: FIRST, outcome: 'served', http_status: 200 },
      { model: SECOND, outcome: 'served', http_status: 200 },
    ]);
    const pool = new pg.Client({ connectionString: database.url });
    await pool.connect();
    const booked = `SELECT trim_scale(a.posted)::text AS posted, (SELECT sum(cost) > 0 FROM usage.usage_event WHERE account_id = a.id) AS costs,
        (SELECT trim_scale(sum(CASE WHEN debit = a.id THEN amount ELSE -amount END))::text FROM usage.transfer WHERE a.id IN (debit, credit)) AS moved
      FROM usage.account AS a WHERE a.id = 'acct_shadow'`;
    const { rows } = await pool.query(booked).finally(() => pool.end());
    expect(rows).toEqual([{ posted: '0', costs: true, moved: '0' }]);
  });
});
