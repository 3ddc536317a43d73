import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually, startUpstreamDouble, type ScriptedAnswer, type UpstreamDouble } from '@gateway/testing';
import pg from 'pg';
import { startFleet, type Fleet } from './harness/fleet.js';
import { metric } from './harness/load.js';
import { START_MS } from './harness/modes.js';
import { findingsOf } from './harness/reconcile.js';
import { ask, askOnce, pico, usd, type Body } from './harness/requests.js';
import { logIn, type PersonSession } from './harness/session.js';

const [FIRST, SECOND] = ['first/one', 'second/two'];
/** Answers over which a share is counted: three points are four deviations at least of each. */
const COUNTED: Readonly<Record<number, number>> = { 5: 1_200, 50: 4_500, 100: 300 };
/** Newest answers of one edge that show that it has a change, and how many of them have to be of the second. */
const WINDOW = 40;
const SHOWN: Readonly<Record<number, number>> = { 5: 1, 50: 12, 100: WINDOW };
/** Requests for an alias with a shadow of 10 %, each beside one for an alias without. */
const SHADOWED = 1_602;
/** Callers of one edge at a time. */
const LANES = 3;
const TEST_MS = 1_200_000;
const USAGE = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 };
/** Cost of such an answer of the first model and of the second, in 10^-12 USD. */
const [FIRST_COST, SECOND_COST] = [30_000_000n, 300_000_000n];

const configOf = (first: string, second: string): string =>
  JSON.stringify({
    providers: [
      { slug: 'first', dialect: 'chat', base_url: `${first}/v1`, api_key_env: 'FIRST_KEY', discover: false },
      {
        slug: 'second',
        dialect: 'chat',
        base_url: `${second}/v1`,
        api_key_env: 'SECOND_KEY',
        discover: false,
      },
    ],
    models: [[FIRST, '1', '2'] as const, [SECOND, '10', '20'] as const].map(
      ([id, prompt_usd_per_1m, completion_usd_per_1m]) => ({
        ...{ id, context_length: 128_000, max_output_tokens: 1_000, supports: ['completions_api'] },
        routes: [
          {
            provider: id.split('/')[0],
            upstream_model: 'sim',
            prices: { prompt_usd_per_1m, completion_usd_per_1m },
          },
        ],
      }),
    ),
  });

const PLAIN: ScriptedAnswer = {
  json: {
    ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'sim', usage: USAGE },
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
  },
};
const frame = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;
const [OPENING, REST] = [
  frame({ choices: [{ index: 0, delta: { role: 'assistant', content: 'Hi' } }] }),
  `${frame({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}${frame({ choices: [], usage: USAGE })}data: [DONE]\n\n`,
];
const EVENTS = { 'content-type': 'text/event-stream' };
const markOf = ({ body }: { body: Buffer }): string => /mark-\w+/.exec(body.toString())?.[0] ?? '';
const median = (all: readonly number[]): number => all.toSorted((one, two) => one - two)[all.length >> 1];

interface Seen {
  edge: number;
  status: number;
  model: unknown;
  requestId: string;
}

describe('an alias under load on two edges', () => {
  const folder = mkdtempSync(join(tmpdir(), 'shadow-'));
  /** Requests whose callers have read the opening of their answers. */
  const opened = new Map<string, () => void>();
  /** Requests whose answers the first provider has sent whole, and those that a shadow came of before that. */
  const ended = new Set<string>();
  const early: string[] = [];
  /** Requests that have reached the second provider. */
  let atSecond = 0;
  let first: UpstreamDouble;
  let second: UpstreamDouble;
  let fleet: Fleet;
  let person: PersonSession;
  let database: pg.Client;
  let keys: string[];

  beforeAll(async () => {
    first = await startUpstreamDouble((request) => {
      if (!request.body.includes('"stream":true')) return PLAIN;
      const mark = markOf(request);
      const isRead = new Promise<void>((resolve) => opened.set(mark, resolve));
      return {
        headers: EVENTS,
        pieces: (async function* () {
          yield OPENING;
          await isRead;
          ended.add(mark);
          yield REST;
        })(),
      };
    });
    second = await startUpstreamDouble((request) => {
      atSecond += 1;
      if (!request.body.includes('"stream":true')) return PLAIN;
      if (!ended.has(markOf(request))) early.push(markOf(request));
      return { headers: EVENTS, pieces: [OPENING, REST] };
    });
    const file = join(folder, 'gateway.yaml');
    writeFileSync(file, configOf(first.url, second.url));
    const all = { EDGE_REPLICAS: '2', GATEWAY_CONFIG: file, FIRST_KEY: 'sk-first', SECOND_KEY: 'sk-second' };
    fleet = await startFleet({ edges: 2, env: { all } });
    database = new pg.Client({ connectionString: fleet.databaseUrl });
    await database.connect();
    person = await logIn(fleet);
    const made = await Promise.all(['moved', 'with', 'without'].map((name) => person.createKey(name)));
    keys = made.map(({ key }) => key);
    const raise = 'UPDATE keys.api_key SET rpm_limit = 1000000, rpd_limit = 1000000 WHERE id = ANY($1)';
    await database.query(raise, [made.map(({ id }) => id)]);
  }, START_MS);
  // A login lasts a quarter of an hour, and so may a case on a busy machine.
  beforeEach(async () => {
    person = await logIn(fleet);
  });
  afterAll(async () => {
    await database?.end();
    await fleet?.stop();
    await Promise.all([first?.close(), second?.close()]);
    rmSync(folder, { recursive: true, force: true });
  }, START_MS);

  const make = async (name: string, more: object = {}): Promise<string> => {
    const sent = { name, targets: [{ model: FIRST, weight: 1 }], ...more };
    const answer = await person.call('POST', '/v1/admin/aliases', sent);
    expect(answer.status).toBe(201);
    return ((await answer.json()) as { id: string }).id;
  };
  const chat = (model: string, mark = 'hello', more = {}): object => ({
    ...{ model, max_tokens: 10, messages: [{ role: 'user', content: mark }] },
    ...more,
  });
  /** Every edge has a name once it answers a request for it. */
  const known = (name: string, key: string): Promise<unknown> =>
    eventually(
      async () => {
        const answers = fleet.edges.map(({ url }) =>
          askOnce({ url, key }, 'POST', '/v1/chat/completions', { body: chat(name) }),
        );
        return (await Promise.all(answers)).every(({ status }) => status === 200);
      },
      { timeoutMs: 60_000 },
    );
  const eventsOf = async (key: string, limit = 200): Promise<Body[]> =>
    (await ask({ url: fleet.url, key }, 'POST', '/v1/usage/events', { body: { org_id: 'mine', limit } })).body
      .events;

  let marks = 0;
  /** Reads one streamed answer to its end; returns the time that it took. */
  const streamedMs = async (edge: number, name: string, key: string): Promise<number> => {
    const mark = `mark-${(marks += 1)}`;
    const startedMs = performance.now();
    const answer = await fetch(`${fleet.edges[edge].url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(chat(name, mark, { stream: true })),
    });
    expect(answer.status).toBe(200);
    const parts: string[] = [];
    const decoder = new TextDecoder();
    for await (const part of answer.body as AsyncIterable<Uint8Array>) {
      parts.push(decoder.decode(part, { stream: true }));
      // The provider sends the rest once its caller has the opening.
      opened.get(mark)?.();
    }
    opened.delete(mark);
    expect(parts.join('')).toMatch(/data: \[DONE\]\n\n$/);
    return performance.now() - startedMs;
  };
  /** Shadows that both edges have counted. */
  const drawn = async (): Promise<number> => {
    const counts = await Promise.all(fleet.edges.map(({ url }) => metric(url, 'gateway_shadows_total')));
    return counts.reduce((a, b) => a + b);
  };
  const booked = async (account: string): Promise<Record<'posted' | 'cost' | 'models', string>> => {
    const text = `SELECT a.posted::text AS posted, coalesce(sum(e.cost), 0)::text AS cost, count(DISTINCT e.model)::text AS models
      FROM usage.account AS a LEFT JOIN usage.usage_event AS e ON e.account_id = a.id WHERE a.id = $1 GROUP BY 1`;
    const { rows } = await database.query<Record<'posted' | 'cost' | 'models', string>>(text, [account]);
    return rows[0] ?? { posted: '0', cost: '0', models: '0' };
  };

  it(
    'that moves at 5, 50 and 100 %: no request fails, shares hold to three points, usage has both names',
    async () => {
      const [key] = keys;
      const id = await make('prod');
      await known('prod', key);
      const seen: Seen[] = [];
      let isOver = false;
      const lane = async (edge: number): Promise<void> => {
        while (!isOver) {
          const to = { url: fleet.edges[edge].url, key };
          const { status, body, requestId } = await askOnce(to, 'POST', '/v1/chat/completions', {
            body: chat('prod'),
          });
          seen.push({ edge, status, model: body.model, requestId });
        }
      };
      const running = [0, 1].flatMap((edge) => Array.from({ length: LANES }, () => lane(edge)));
      for (const part of [5, 50, 100]) {
        const from = seen.length;
        const targets = [
          { model: FIRST, weight: 100 - part },
          { model: SECOND, weight: part },
        ];
        expect((await person.call('PATCH', `/v1/admin/aliases/${id}`, { targets })).status).toBe(200);
        const isThere = (edge: number): boolean =>
          seen
            .slice(from)
            .filter((one) => one.edge === edge)
            .slice(-WINDOW)
            .filter(({ model }) => model === SECOND).length >= SHOWN[part];
        await eventually(() => isThere(0) && isThere(1), { timeoutMs: 120_000 });
        const begun = seen.length;
        await eventually(() => seen.length >= begun + COUNTED[part], { timeoutMs: TEST_MS / 4 });
        const counted = seen.slice(begun, begun + COUNTED[part]);
        const share = (counted.filter(({ model }) => model === SECOND).length / counted.length) * 100;
        expect([part, Math.abs(share - part) < 3]).toEqual([part, true]);
      }
      isOver = true;
      await Promise.all(running);
      expect(seen.filter(({ status }) => status !== 200)).toEqual([]);
      const { requestId } = seen[seen.length - 1];
      const event = await eventually(
        async () => (await eventsOf(key)).find(({ request_id }) => request_id === requestId),
        { timeoutMs: 60_000 },
      );
      expect(event).toMatchObject({ model: SECOND, requested_model: 'prod' });
    },
    TEST_MS,
  );

  it(
    'with a shadow of 10 %: callers pay nothing for it to the digit, and none begins before an answer has ended',
    async () => {
      const earlier = atSecond;
      const shadow = { model: SECOND, sample_pct: 10 };
      const id = await make('with', { shadow });
      await make('without');
      const [, with_, without] = keys;
      await known('with', with_);
      await known('without', without);
      const before = await drawn();
      const took = { with: [] as number[], without: [] as number[] };
      const turns = async (edge: number): Promise<void> => {
        for (let n = 0; n < SHADOWED / (2 * LANES); n += 1) {
          took.with.push(await streamedMs(edge, 'with', with_));
          took.without.push(await streamedMs(edge, 'without', without));
        }
      };
      await Promise.all([0, 1].flatMap((edge) => Array.from({ length: LANES }, () => turns(edge))));
      const ratio = median(took.with) / median(took.without);
      process.stdout.write(
        `shadow: p50 of ${took.with.length} streams with a shadow of 10 % ${median(took.with).toFixed(1)} ms, without ${median(took.without).toFixed(1)} ms, ratio ${ratio.toFixed(3)}\n`,
      );
      const share = (((await drawn()) - before) / SHADOWED) * 100;
      expect([Math.abs(share - 10) < 3, early]).toEqual([true, []]);

      const path = `/v1/admin/aliases/${id}/shadow?limit=1`;
      // Those that have found the edges to know the alias are counted, too: one in ten of them was drawn.
      const page = await eventually(
        async () => {
          const found = (await (await person.call('GET', path)).json()) as Body;
          const { primary, shadow: other } = found.totals as Record<string, { requests: number }>;
          const isWhole = other.requests === atSecond - earlier && primary.requests === other.requests;
          const { cost } = await booked('acct_shadow');
          return isWhole && pico(cost) === SECOND_COST * BigInt(other.requests) ? found : null;
        },
        { timeoutMs: 120_000 },
      );
      const { requests } = page.totals.shadow as { requests: number };
      const sums = { requests, errors: 0 };
      expect(page.totals).toMatchObject({
        primary: { ...sums, cost_usd: trimmed(usd(FIRST_COST * BigInt(requests))) },
        shadow: { ...sums, cost_usd: trimmed(usd(SECOND_COST * BigInt(requests))) },
      });
      const { posted, models } = await booked('acct_shadow');
      expect([pico(posted), models]).toEqual([0n, '1']);
      const callers =
        'SELECT count(*)::int AS count, sum(cost)::text AS cost FROM usage.usage_event WHERE key_id = ANY($1) AND model = $2';
      const ids = 'SELECT id FROM keys.api_key WHERE label = ANY($1)';
      const { rows: own } = await database.query<{ id: string }>(ids, [['with', 'without']]);
      const keyIds = own.map(({ id: keyId }) => keyId);
      const served = await eventually(
        async () => {
          const { rows } = await database.query<{ count: number; cost: string }>(callers, [keyIds, FIRST]);
          return rows[0].count >= 2 * SHADOWED ? rows[0] : null;
        },
        { timeoutMs: 120_000 },
      );
      expect(pico(served.cost)).toBe(FIRST_COST * BigInt(served.count));
      const { rows: others } = await database.query<{ count: number }>(callers, [keyIds, SECOND]);
      expect(others[0].count).toBe(0);
      expect(await eventsOf(with_)).toEqual(
        expect.not.arrayContaining([expect.objectContaining({ model: SECOND })]),
      );
    },
    TEST_MS,
  );

  it(
    'with an edge killed under its shadows: callers keep what they were answered, and the books are exact',
    async () => {
      const name = 'killed';
      const id = await make(name, { shadow: { model: SECOND, sample_pct: 100 } });
      const [, key] = keys;
      await known(name, key);
      const { answer } = second;
      let held = 0;
      // Shadows of the requests that made the alias known come here as well.
      second.answer = (request) => {
        if (markOf(request) === 'mark-killed') held += 1;
        return { fault: 'silence' };
      };
      const to = { url: fleet.edges[1].url, key };
      const { requestId, status } = await askOnce(to, 'POST', '/v1/chat/completions', {
        body: chat(name, 'mark-killed'),
      });
      expect(status).toBe(200);
      await eventually(() => held > 0);
      await fleet.edges[1].kill();
      second.answer = answer;
      await fleet.edges[1].restart();
      const path = `/v1/admin/aliases/${id}/shadow`;
      const pair = await eventually(
        async () => {
          const { data } = (await (await person.call('GET', path)).json()) as Body;
          return (data as Body[]).find(
            ({ request_id, primary, shadow }) =>
              request_id === requestId && primary !== null && shadow !== null,
          );
        },
        { timeoutMs: 120_000 },
      );
      expect(pair).toMatchObject({
        primary: { outcome: 'served' },
        shadow: { outcome: 'failed', cost_usd: null },
      });
      const event = (await eventsOf(key)).find(({ request_id }) => request_id === requestId);
      expect(event).toMatchObject({ model: FIRST, cost_usd: trimmed(usd(FIRST_COST)) });
      const redis = { REDIS_URL: fleet.redisUrl };
      await eventually(async () => (await findingsOf(fleet, redis)).length === 0, { timeoutMs: 120_000 });
    },
    TEST_MS,
  );
});

/** An amount as the API writes it. */
function trimmed(amount: string): string {
  return amount.replace(/\.?0+$/, '');
}
