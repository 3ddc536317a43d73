import { eventually, startUpstreamDouble, type ScriptedAnswer, type UpstreamDouble } from '@gateway/testing';
import { startFleet, type Fleet } from './harness/fleet.js';
import { startLoad, type Load } from './harness/load.js';
import { START_MS } from './harness/modes.js';
import { logIn, type PersonSession } from './harness/session.js';
import { withoutRates } from './harness/without-rates.js';

const MODEL = 'openai/gpt-5.4-nano';
const ENVIRONMENT = 'sk-of-the-environment-0123456789';
/** Weights of the ten credentials, in per cent: the first is the environment's. */
const WEIGHTS = [5, 5, 5, 5, 10, 10, 10, 15, 15, 20];
const KEYS = WEIGHTS.map((_, n) => (n === 0 ? ENVIRONMENT : `sk-pooled-${String(n)}-0123456789abcdef`));
/** Number of answers over which shares are counted: three points are more than four deviations then. */
const COUNTED = 1_500;
const TEST_MS = 600_000;

const SERVED: ScriptedAnswer = {
  json: {
    ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'gpt' },
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 },
  },
};
const refusedWith = (status: number, code: string, headers = {}): ScriptedAnswer => ({
  status,
  headers,
  json: { error: { message: 'no', type: code, code } },
});
const REVOKED = refusedWith(401, 'invalid_api_key');
const THROTTLED = refusedWith(429, 'rate_limit_exceeded', { 'retry-after': '30' });
const EMPTY = refusedWith(429, 'insufficient_quota');

describe('ten credentials of one provider under load on two edges', () => {
  /** Answers to keys that do not serve. */
  const refusals = new Map<string, ScriptedAnswer>();
  /** Number of chats that each key served. */
  const served = new Map<string, number>();
  let upstream: UpstreamDouble;
  let fleet: Fleet;
  let person: PersonSession;
  let load: Load;

  beforeAll(async () => {
    upstream = await startUpstreamDouble(({ path, headers }) => {
      const key = String(headers.authorization).replace('Bearer ', '');
      const refusal = refusals.get(key);
      if (refusal !== undefined) return refusal;
      if (path.endsWith('/chat/completions')) served.set(key, (served.get(key) ?? 0) + 1);
      return SERVED;
    });
    const all = { EDGE_REPLICAS: '2', OPENAI_API_KEY: ENVIRONMENT, OPENAI_BASE_URL: `${upstream.url}/v1` };
    fleet = await startFleet({ edges: 2, env: { all } });
    person = await logIn(fleet);
    const { id, key } = await person.createKey('a drill');
    await withoutRates(fleet, id);
    for (const [n, weight] of WEIGHTS.entries()) if (n > 0) await add(KEYS[n], weight);
    // The edges tell of the environment's credential with their first report.
    await eventually(
      async () => (await person.call('PATCH', `${PATH}/cred_env_openai`, { weight: WEIGHTS[0] })).ok,
    );
    const lanes = fleet.edges.flatMap(({ url }) => [1, 2].map(() => ({ url, keys: [key] })));
    load = startLoad(lanes, { model: MODEL, messages: [{ role: 'user', content: 'Hello' }] }, 60);
    await load.more(20);
    await eventually(() => served.size === KEYS.length, { timeoutMs: 60_000 });
  }, START_MS);
  afterAll(async () => {
    await load?.stop();
    await fleet?.stop();
    await upstream?.close();
  }, START_MS);

  const PATH = '/v1/admin/providers/openai/credentials';
  const add = async (api_key: string, weight: number): Promise<string> => {
    const answer = await person.call('POST', PATH, {
      label: `of ${weight}`,
      credentials: { api_key },
      weight,
    });
    expect(answer.status).toBe(201);
    return ((await answer.json()) as { id: string }).id;
  };
  /** Shares of the next answers by key, in per cent. */
  const shares = async (): Promise<number[]> => {
    served.clear();
    for (let counted = 0; counted < COUNTED; counted += 250) await load.more(250);
    const all = [...served.values()].reduce((sum, count) => sum + count, 0);
    return KEYS.map((key) => ((served.get(key) ?? 0) / all) * 100);
  };
  const failed = (): number[] => load.answers.map(({ status }) => status).filter((status) => status !== 200);
  /** Milliseconds until an event that the load brings. */
  const took = async (event: () => boolean): Promise<number> => {
    const began = performance.now();
    await eventually(event, { intervalMs: 5 });
    return performance.now() - began;
  };

  it(
    'share the requests by their weights, to three points',
    async () => {
      for (const [n, share] of (await shares()).entries())
        expect(Math.abs(share - WEIGHTS[n])).toBeLessThan(3);
      expect(failed()).toEqual([]);
    },
    TEST_MS,
  );

  it(
    'fail no request while one is revoked, one throttled and one out of quota, and the others share by weight',
    async () => {
      refusals.set(KEYS[0], REVOKED).set(KEYS[4], THROTTLED).set(KEYS[9], EMPTY);
      await load.more(100);
      const left = WEIGHTS.map((weight, n) => (refusals.has(KEYS[n]) ? 0 : weight));
      const sum = left.reduce((all, weight) => all + weight, 0);
      for (const [n, share] of (await shares()).entries())
        expect(Math.abs(share - (left[n] / sum) * 100)).toBeLessThan(3);
      expect(failed()).toEqual([]);
    },
    TEST_MS,
  );

  it(
    'fail no request as long as one is healthy',
    async () => {
      for (const key of KEYS.slice(0, -2)) {
        refusals.set(key, REVOKED);
        await load.more(60);
      }
      served.clear();
      await load.more(200);
      expect([[...served.keys()], failed()]).toEqual([[KEYS[8]], []]);
    },
    TEST_MS,
  );

  it(
    'are added and removed at run time within two seconds',
    async () => {
      const added = 'sk-added-0123456789abcdefghij';
      const id = await add(added, 100);
      const addedMs = await took(() => served.has(added));
      expect((await person.call('DELETE', `${PATH}/${id}`)).status).toBe(204);
      let last = served.get(added);
      let quietSince = performance.now();
      const removed = performance.now();
      // Quiet for a second, in which the other one serves some 50.
      await eventually(() => {
        if (served.get(added) !== last) quietSince = performance.now();
        last = served.get(added);
        return performance.now() - quietSince > 1_000;
      });
      expect([addedMs < 2_000, quietSince - removed < 2_000, failed()]).toEqual([true, true, []]);
    },
    TEST_MS,
  );
});
