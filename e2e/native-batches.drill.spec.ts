import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RedisLimitStore } from '@gateway/limits';
import { startUpstreamSim, type UpstreamSim } from '@gateway/simulator';
import { eventually, redisScripts, seededRandom, type RedisScripts } from '@gateway/testing';
import pg from 'pg';
import { startFleet, type Fleet } from './harness/fleet.js';
import { START_MS } from './harness/modes.js';
import { answered, ask, pico, type Body } from './harness/requests.js';
import { logIn, type PersonSession } from './harness/session.js';

const SLOWLY = { timeoutMs: 90_000 };
/** Less than a hold lasts that nobody renews. */
const SOON = { timeoutMs: 20_000 };
const TEST_MS = 900_000;

/** Lines are more than run at once, so that money is held for those that wait; a job at Amazon takes a hundred at least. */
const PROVIDERS = [
  { model: 'openai/gpt-4.1-mini', endpoint: '/v1/chat/completions', rates: ['0.2', '0.8'], lines: 24 },
  { model: 'anthropic/claude-haiku-4-5', endpoint: '/v1/messages', rates: ['0.5', '2.5'], lines: 24 },
  {
    model: 'google/gemini-2.5-flash-lite',
    endpoint: '/v1/chat/completions',
    rates: ['0.05', '0.2'],
    lines: 24,
  },
  { model: 'lab/nova', endpoint: '/v1/chat/completions', rates: ['0.5', '1'], lines: 100 },
];
const OWN_MODEL = `
models:
  - id: lab/nova
    context_length: 100000
    supports: [completions_api, batching]
    routes:
      - provider: amazon-bedrock
        upstream_model: sim-nova
        dialect: converse
        prices:
          prompt_usd_per_1m: '1'
          completion_usd_per_1m: '2'
          batch_prompt_usd_per_1m: '0.5'
          batch_completion_usd_per_1m: '1'
`;
type Of = (typeof PROVIDERS)[number];

/** Ways in which each begins a batch. */
const BEGINS = [
  /^POST .*\/v1\/batches$/,
  /^POST .*\/messages\/batches$/,
  /^POST .*:batchGenerateContent$/,
  /^POST .*\/model-invocation-job$/,
];
/** The worker dies as soon as the upstream is asked these. */
const KILLED_AT = [
  /^POST .*\/v1\/files$/,
  BEGINS[1],
  BEGINS[3],
  /^GET .*-simulated-/,
  /^GET .*(content|results|download|out$)/,
];

/** A batch of one provider, on a key of its own. */
interface Begun extends Of {
  id: string;
  keyId: string;
  key: string;
}

describe('money of batches that OpenAI, Anthropic, Google and Amazon run', () => {
  const folder = mkdtempSync(join(tmpdir(), 'native-batches-'));
  let upstream: UpstreamSim;
  let fleet: Fleet;
  let person: PersonSession;
  let redis: RedisScripts;
  let limits: RedisLimitStore;
  let accountId: string;

  beforeAll(async () => {
    upstream = await startUpstreamSim();
    writeFileSync(join(folder, 'gateway.yaml'), OWN_MODEL);
    const edge = {
      ...{ OPENAI_API_KEY: 'sk-stand-in', OPENAI_BASE_URL: `${upstream.url}/v1` },
      ...{ ANTHROPIC_API_KEY: 'sk-ant-stand-in', ANTHROPIC_BASE_URL: upstream.url },
      ...{ GEMINI_API_KEY: 'stand-in', GEMINI_BASE_URL: `${upstream.url}/v1beta` },
      ...{
        AWS_ACCESS_KEY_ID: 'stand-in',
        AWS_SECRET_ACCESS_KEY: 'stand-in',
        AWS_BEDROCK_BASE_URL: upstream.url,
      },
      ...{ AWS_BEDROCK_BATCH_BUCKET: 'lines', AWS_ENDPOINT_URL_S3: upstream.url },
      AWS_BEDROCK_BATCH_ROLE_ARN: 'arn:aws:iam::123456789012:role/batches',
    };
    // Who comes after a killed worker waits until its lease is over.
    const workers = { WORKERS_LEASE_MS: '3000' };
    fleet = await startFleet({
      env: { edge, workers, all: { GATEWAY_CONFIG: join(folder, 'gateway.yaml') } },
    });
    person = await logIn(fleet);
    redis = await redisScripts(fleet.redisUrl);
    limits = new RedisLimitStore({ pipe: redis.pipe, random: seededRandom(1) });
    const [account] = await rows('SELECT DISTINCT account_id FROM keys.api_key');
    accountId = String(account.account_id);
  }, START_MS);
  afterAll(async () => {
    redis?.close();
    await fleet?.stop();
    await upstream?.close();
    rmSync(folder, { recursive: true, force: true });
  }, START_MS);
  beforeEach(() => upstream.reset());

  async function rows(text: string, values: unknown[] = []): Promise<Body[]> {
    const client = new pg.Client({ connectionString: fleet.databaseUrl });
    await client.connect();
    try {
      return (await client.query<Body>(text, values)).rows;
    } finally {
      await client.end();
    }
  }

  async function read(key: string, method: string, path: string, body?: Body): Promise<Body> {
    const headers = { 'idempotency-key': randomUUID() };
    const answer = await ask(fleet, method, path, { body, key, headers });
    expect([path, answer.status, answer.text]).toEqual([path, 200, expect.any(String)]);
    return answer.body;
  }

  async function begin(of: Of, more: object = {}): Promise<Begun> {
    const { id: keyId, key } = await person.createKey(of.model, more);
    const lines = Array.from({ length: of.lines }, (_, n) => {
      const body = { model: of.model, max_tokens: 500, messages: [{ role: 'user', content: `Say ${n}` }] };
      return JSON.stringify({ custom_id: `c-${n}`, method: 'POST', url: of.endpoint, body });
    });
    const form = new FormData();
    form.append('purpose', 'batch');
    form.append('file', new Blob([lines.join('\n')]), 'in.jsonl');
    const headers = { authorization: `Bearer ${key}` };
    const sent = await answered(() =>
      fetch(`${fleet.url}/v1/files`, { method: 'POST', headers, body: form }),
    );
    const { id: input_file_id } = (await sent.json()) as { id: string };
    const made = { input_file_id, endpoint: of.endpoint, completion_window: '24h' };
    const { id } = await read(key, 'POST', '/v1/batches', made);
    return { ...of, id, keyId, key };
  }

  /** Returns the amounts that the limit store holds for the key and for the account, and the number of units. */
  async function held({ keyId }: Begun): Promise<{ key: bigint; account: bigint; units: number }> {
    const { scopes, reservedNano, reservedUnits } = await limits.read(accountId, [
      { kind: 'key', id: keyId },
    ]);
    return { key: scopes[0].reservedNano, account: reservedNano, units: reservedUnits };
  }

  const isBegun = async ({ id }: Begun): Promise<boolean> => {
    const [{ upstream_id }] = await rows(
      `SELECT upstream #>> '{state,id}' AS upstream_id FROM workers.batches WHERE id = $1`,
      [id],
    );
    return upstream_id !== null;
  };

  async function end({ id, key }: Begun): Promise<Body> {
    return eventually(async () => {
      const batch = await read(key, 'GET', `/v1/batches/${id}`);
      return ['completed', 'failed', 'expired', 'cancelled'].includes(batch.status) ? batch : null;
    }, SLOWLY);
  }

  /** Each priced at the batch rates of its model, to the last decimal. */
  async function costs({ key, keyId, model, rates }: Begun): Promise<bigint[]> {
    const { events } = await read(key, 'POST', '/v1/usage/events', { org_id: 'mine', limit: 200 });
    const own = (events as Body[]).filter((event) => event.key_id === keyId && event.cost_usd !== null);
    for (const { cost_usd, prompt_tokens, completion_tokens } of own) {
      const [prompt, completion] = rates.map((rate) => pico(rate) / 1_000_000n);
      const due = BigInt(prompt_tokens) * prompt + BigInt(completion_tokens) * completion;
      expect([model, pico(cost_usd)]).toEqual([model, due]);
    }
    return own.map(({ cost_usd }) => pico(cost_usd));
  }

  const balanceOf = async ({ key }: Pick<Begun, 'key'>): Promise<bigint> =>
    pico((await read(key, 'GET', '/v1/balance')).balance_usd);

  interface Case {
    /** Runs once each is at its provider. */
    then: (begun: Begun) => Promise<unknown>;
    status: string;
    /** One in so many of its lines is billed. */
    billedOf: number;
  }

  const CASES: Record<string, Case> = {
    'that end': { then: async () => undefined, status: 'completed', billedOf: 1 },
    'that are cancelled in their midst': {
      then: ({ key, id }) => read(key, 'POST', `/v1/batches/${id}/cancel`),
      status: 'cancelled',
      billedOf: 2,
    },
    'whose day is over in their midst': {
      then: ({ id }) =>
        rows('UPDATE workers.batches SET expires_at = now(), leased_until = NULL WHERE id = $1', [id]),
      status: 'expired',
      billedOf: 2,
    },
  };

  it.each(Object.entries(CASES))(
    'BAT-04 LIM-19 %s: the balance is less by the costs of their lines, and nothing is held on',
    async (_name, { then, status, billedOf }) => {
      const before = await balanceOf(fleet);
      const all = await Promise.all(PROVIDERS.map((of) => begin(of)));
      await Promise.all(
        all.map(async (one) => {
          await eventually(() => isBegun(one), SLOWLY);
          expect((await held(one)).key).toBeGreaterThan(0n);
          await then(one);
        }),
      );
      let spent = 0n;
      for (const one of all) {
        expect([one.model, (await end(one)).status]).toEqual([one.model, status]);
        const due = await costs(one);
        expect([one.model, due.length]).toEqual([one.model, one.lines / billedOf]);
        spent += due.reduce((sum, cost) => sum + cost, 0n);
        await eventually(async () => (await held(one)).key === 0n, SOON);
      }
      await eventually(async () => (await held(all[0])).units === 0, SOON);
      expect((await held(all[0])).account).toBe(0n);
      expect(before - (await balanceOf(fleet))).toBe(spent);
      expect(spent).toBeGreaterThan(0n);
    },
    TEST_MS,
  );

  it(
    'BAT-04 LIM-19 that their providers lose and whose lines fail cost nothing, and nothing is held on',
    async () => {
      const before = await balanceOf(fleet);
      for (const of of PROVIDERS) {
        upstream.reset();
        const one = await begin(of);
        await eventually(() => isBegun(one), SLOWLY);
        expect((await held(one)).key).toBeGreaterThan(0n);
        upstream.script([], 'error=400');
        const { status, request_counts } = await end(one);
        expect([of.model, status, request_counts.failed]).toEqual([of.model, 'completed', of.lines]);
        expect(await costs(one)).toEqual([]);
        await eventually(async () => (await held(one)).units === 0, SOON);
        expect(await held(one)).toEqual({ key: 0n, account: 0n, units: 0 });
      }
      expect(await balanceOf(fleet)).toBe(before);
    },
    TEST_MS,
  );

  it(
    'BAT-04 LIM-19 that fail for want of money cost nothing, and nothing is held',
    async () => {
      const before = await balanceOf(fleet);
      for (const of of PROVIDERS) {
        const one = await begin(of, { spend_cap_usd: '0.000001' });
        expect([of.model, (await end(one)).status]).toEqual([of.model, 'failed']);
        expect(await costs(one)).toEqual([]);
        expect(await held(one)).toEqual({ key: 0n, account: 0n, units: 0 });
      }
      expect(await balanceOf(fleet)).toBe(before);
    },
    TEST_MS,
  );

  it(
    'BAT-04 ST-12 LIM-19 whose worker is killed again and again are begun once, and each line is paid once',
    async () => {
      const workers = fleet.process('workers');
      const before = await balanceOf(fleet);
      const all = await Promise.all(PROVIDERS.map((of) => begin(of)));
      const asked = (path: RegExp): number =>
        upstream.requests().filter(({ method, path: at }) => path.test(`${method} ${at}`)).length;
      for (const path of KILLED_AT) {
        await eventually(() => asked(path) > 0, { ...SLOWLY, intervalMs: 5 });
        await workers.kill();
        await workers.restart();
      }
      let spent = 0n;
      for (const one of all) {
        expect([one.model, (await end(one)).request_counts.completed]).toEqual([one.model, one.lines]);
        const due = await costs(one);
        expect([one.model, due.length]).toEqual([one.model, one.lines]);
        spent += due.reduce((sum, cost) => sum + cost, 0n);
      }
      expect(BEGINS.map(asked)).toEqual([1, 1, 1, 1]);
      await eventually(async () => (await held(all[0])).units === 0, SOON);
      expect((await held(all[0])).account).toBe(0n);
      expect(before - (await balanceOf(fleet))).toBe(spent);
    },
    TEST_MS,
  );
});
