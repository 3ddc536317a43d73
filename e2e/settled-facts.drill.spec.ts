import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startUpstreamSim, type UpstreamSim } from '@gateway/simulator';
import { eventually } from '@gateway/testing';
import { startFleet, type Fleet } from './harness/fleet.js';
import { START_MS } from './harness/modes.js';
import { ask, pico, usd } from './harness/requests.js';
import { logIn, type PersonSession } from './harness/session.js';
import { withoutRates } from './harness/without-rates.js';

/** Request without max_tokens: it holds hundreds of times what it costs. */
const chat = { model: 'simulator/chat', messages: [{ role: 'user', content: 'Hello' }] };
/** Number of paid requests of each of four ways, one after the other; 2,500 are 10,000 in all. */
const PAID = Number(process.env.DRILL_REQUESTS ?? '500');
/** Number of requests of each way once the money is gone: a tenth. */
const BEYOND = Math.ceil(PAID / 10);
/** Number of paid requests of each of two ways that have a failed one before them. */
const AFTER_FAILURES = Number(process.env.DRILL_AFTER_FAILURES ?? '40');
const TEST_MS = 1_800_000;

/** A model at the price of simulator/chat whose provider refuses each request. */
const configOf = (url: string): string => `
providers:
  - { slug: failing, dialect: chat, base_url: '${url}/v1', api_key_env: FAILING_KEY }
models:
  - id: failing/refused
    context_length: 128000
    max_output_tokens: 16384
    supports: [completions_api]
    routes:
      - provider: failing
        upstream_model: sim-chat:error=400-model
        prices: { prompt_usd_per_1m: '0.5', completion_usd_per_1m: '2' }
`;

/** Requests of one caller go to both edges in turn, the next as soon as the answer before it is in. */
describe('money of one caller, one request after the other over two edges', () => {
  const folder = mkdtempSync(join(tmpdir(), 'settled-facts-'));
  let upstream: UpstreamSim;
  let fleet: Fleet;
  let person: PersonSession;
  beforeAll(async () => {
    upstream = await startUpstreamSim({ record: 0 });
    const file = join(folder, 'gateway.yaml');
    writeFileSync(file, configOf(upstream.url));
    const all = { EDGE_REPLICAS: '2', GATEWAY_CONFIG: file, FAILING_KEY: 'sk-stand-in' };
    fleet = await startFleet({ edges: 2, env: { all } });
  }, START_MS);
  // A login lasts a quarter of an hour, and so may a case on a busy machine.
  beforeEach(async () => {
    person = await logIn(fleet);
  });
  afterAll(async () => {
    await fleet?.stop();
    await upstream?.close();
    rmSync(folder, { recursive: true, force: true });
  }, START_MS);

  const send = async (key: string, n: number, more: object): Promise<number> => {
    const target = { url: fleet.edges[n % 2].url, key };
    return (await ask(target, 'POST', '/v1/chat/completions', { body: { ...chat, ...more } })).status;
  };

  /** A key for which money alone decides. */
  const unlimited = async ({ id, key }: { id: string; key: string }): Promise<string> => {
    await withoutRates(fleet, id);
    return key;
  };

  const costOfOne = async (more: object): Promise<bigint> => {
    const key = await unlimited(await person.createKey('one'));
    expect(await send(key, 0, more)).toBe(200);
    const one = await eventually(async () => {
      const asked = { body: { org_id: 'mine', limit: 1 }, key };
      const { events } = (await ask(fleet, 'POST', '/v1/usage/events', asked)).body;
      return (events as { cost_usd: string }[]).find(({ cost_usd }) => cost_usd !== null);
    });
    return pico(one.cost_usd);
  };

  /** A key with a cap of the organization's money, or one that pays from the person's own balance. */
  const keyWith = async (limit: 'cap' | 'balance', money: string): Promise<string> => {
    if (limit === 'cap') return unlimited(await person.createKey('a cap', { spend_cap_usd: money }));
    const key = await unlimited(await person.createKey('a balance', { org_id: undefined }));
    const me = (await (await person.call('GET', '/auth/me')).json()) as { user: { id: string } };
    const credit = { user_id: me.user.id, amount_usd: money, reason: 'a drill' };
    expect((await person.call('POST', '/v1/admin/credits', credit)).status).toBe(201);
    return key;
  };

  it.each([
    ['cap', 'plain', {}],
    ['cap', 'streamed', { stream: true }],
    ['balance', 'plain', {}],
    ['balance', 'streamed', { stream: true }],
  ] as const)(
    'LIM-31 LIM-32 under a %s, %s, all that is paid for are served, and none of those after it',
    async (limit, _form, more) => {
      const key = await keyWith(limit, usd((await costOfOne(more)) * BigInt(PAID)));
      const refused: number[] = [];
      for (let n = 0; n < PAID; n += 1) if ((await send(key, n, more)) !== 200) refused.push(n);
      expect(refused).toEqual([]);
      const served: number[] = [];
      for (let n = 0; n < BEYOND; n += 1) if ((await send(key, n, more)) !== 402) served.push(n);
      expect(served).toEqual([]);
    },
    TEST_MS,
  );

  it.each([
    ['cap', 'plain', {}],
    ['balance', 'streamed', { stream: true }],
  ] as const)(
    'LIM-31 LIM-32 under a %s, %s, all that is paid for are served right after a request that failed at its provider',
    async (limit, _form, more) => {
      const failing = { ...more, model: 'failing/refused' };
      const key = await keyWith(limit, usd((await costOfOne(more)) * BigInt(AFTER_FAILURES)));
      const unlike: unknown[] = [];
      for (let n = 0; n < AFTER_FAILURES; n += 1) {
        const seen = [await send(key, n, failing), await send(key, n + 1, more)];
        if (seen[0] !== 502 || seen[1] !== 200) unlike.push([n, ...seen]);
      }
      expect(unlike).toEqual([]);
      expect(await send(key, 0, more)).toBe(402);
      expect(await send(key, 1, failing)).toBe(402);
    },
    TEST_MS,
  );
});
