import { startUpstreamSim, type UpstreamSim } from '@gateway/simulator';
import { eventually } from '@gateway/testing';
import type { Gateway } from './harness/gateway.js';
import { MODES, START_MS } from './harness/modes.js';
import { ask, pico, type Answered, type Body } from './harness/requests.js';
import { logIn, type PersonSession } from './harness/session.js';

/** The least that a read waits for what has finished; on a machine that stands still it may not suffice. */
const WAIT_MS = 250;
const MODEL = 'openai/gpt-4.1-mini';
/** Another route: so many failures in a row would open the breaker of one. */
const OTHER_MODEL = 'openai/gpt-5.4-mini';
const text = (content: string): Body => ({ messages: [{ role: 'user', content }] });
const chat = { model: 'simulator/chat', ...text('Hello') };
const claude = { model: 'simulator/claude', max_tokens: 64, ...text('Hello') };

describe.each(MODES)('money in %s', (_name, start) => {
  let upstream: UpstreamSim;
  let gateway: Gateway;
  let person: PersonSession;

  beforeAll(async () => {
    upstream = await startUpstreamSim();
    gateway = await start({ OPENAI_API_KEY: 'sk-stand-in', OPENAI_BASE_URL: `${upstream.url}/v1` });
    person = await logIn(gateway);
  }, START_MS);
  afterAll(async () => {
    await gateway?.stop();
    await upstream?.close();
  }, START_MS);

  const infer = (key: string, body: Body): Promise<Answered> =>
    ask(gateway, 'POST', 'max_tokens' in body ? '/v1/messages' : '/v1/chat/completions', { body, key });
  const read = async (key: string, method: string, path: string, body?: Body): Promise<Body> => {
    const answer = await ask(gateway, method, path, { body, key });
    expect([answer.status, path]).toEqual([200, path]);
    return answer.body;
  };
  /** The first read that did not wait in vain. */
  const fresh = (method: string, path: string, key: string, body?: Body): Promise<Body> =>
    eventually(async () => {
      const beganMs = performance.now();
      const found = await read(key, method, path, body);
      return performance.now() - beganMs < WAIT_MS ? found : null;
    });
  const eventsOf = async (key: string): Promise<Body[]> =>
    (await fresh('POST', '/v1/usage/events', key, { org_id: 'mine', limit: 200 })).events as Body[];
  const balanceOf = async (key: string): Promise<bigint> =>
    pico((await fresh('GET', '/v1/balance', key)).balance_usd);
  const costOf = (events: Body[]): bigint =>
    events.map(({ cost_usd }) => (cost_usd === null ? 0n : pico(cost_usd))).reduce((a, b) => a + b, 0n);

  it('LIM-19 LIM-33 the balance is exact in the first read after each request: 100 USD less the sum of the events', async () => {
    const { key } = await person.createKey('balance');
    expect(await balanceOf(key)).toBe(pico('100'));
    const bodies = [
      chat,
      { ...chat, stream: true },
      claude,
      { ...claude, stream: true },
      { model: MODEL, ...text('Count these tokens. '.repeat(77)) },
      { model: MODEL, ...text('x'), stream: true },
    ];
    for (const [at, body] of bodies.entries()) {
      expect((await infer(key, body)).status).toBe(200);
      const left = await balanceOf(key);
      const events = await eventsOf(key);
      expect(events).toHaveLength(at + 1);
      expect(events.every(({ cost_usd }) => pico(cost_usd) > 0n)).toBe(true);
      expect(left).toBe(pico('100') - costOf(events));
    }
    const { reserved_usd, available_usd, balance_usd } = await read(key, 'GET', '/v1/balance');
    expect([reserved_usd, available_usd]).toEqual(['0', balance_usd]);
  });

  it('READ-01 the summary equals the events', async () => {
    const { key } = await person.createKey('summary');
    upstream.script(['error=400-model']);
    const bodies = [chat, { ...chat, stream: true }, claude, { model: MODEL, ...text('refused') }];
    const answers = await Promise.all(bodies.map((body) => infer(key, body)));
    expect(answers.map(({ status }) => status === 200)).toEqual([true, true, true, false]);
    const events = await eventsOf(key);
    const sum = (field: string): number => events.reduce((total, event) => total + event[field], 0);
    const summary = await read(key, 'POST', '/v1/usage', { org_id: 'mine' });
    expect(summary).toMatchObject({
      total_requests: 4,
      successful_requests: 3,
      error_requests: 1,
      prompt_tokens: sum('prompt_tokens'),
      completion_tokens: sum('completion_tokens'),
      total_tokens: sum('total_tokens'),
    });
    expect(pico(summary.total_cost_usd)).toBe(costOf(events));
    const byModel = (summary.by_model as Body[]).map(({ cost_usd }) => pico(cost_usd));
    expect(byModel.reduce((a, b) => a + b, 0n)).toBe(costOf(events));
  });

  it('LIM-31 ERR-16 one request may cross a cap; the next is 402, not to be retried, and looked up as rejected', async () => {
    const { key } = await person.createKey('capped', { spend_cap_usd: '0.000001' });
    const served = await infer(key, chat);
    expect(served.status).toBe(200);
    // Until the first one is settled it is its reservation that refuses, which a retry may outlive.
    const refused = await eventually(async () => {
      const answer = await infer(key, chat);
      expect([answer.status, answer.body.error.code]).toEqual([402, 'spend_limit_exceeded']);
      return answer.headers.get('x-should-retry') === 'false' ? answer : null;
    });
    expect(refused.body.request_id).toBe(refused.requestId);
    // Reads wait for what was served; a refusal has no unit to wait for.
    const lookup = await eventually(() => read(key, 'GET', `/v1/usage/requests/${refused.requestId}`));
    expect(lookup).toMatchObject({
      request_id: refused.requestId,
      outcome: 'rejected',
      http_status: 402,
      error_code: 'spend_limit_exceeded',
      cost_usd: null,
      attempts: [],
    });
    const events = await eventsOf(key);
    expect(events.map(({ request_id }) => request_id)).toEqual([served.requestId]);
    expect(pico(events[0].cost_usd)).toBeGreaterThan(pico('0.000001'));
  });

  it('the attempts of an event show its retries, and no provider', async () => {
    const { key } = await person.createKey('attempts');
    upstream.script(['error=500']);
    const answer = await infer(key, { model: MODEL, ...text('once more') });
    expect(answer.status).toBe(200);
    expect(upstream.requests().length).toBe(2);
    const [event, ...more] = await eventsOf(key);
    expect(more).toEqual([]);
    expect(event).not.toHaveProperty('provider');
    const { attempts } = await read(key, 'GET', `/v1/usage/events/${event.id}/attempts`);
    expect(attempts).toEqual([
      expect.objectContaining({ n: 1, served: false, http_status: 500, error_code: 'upstream_error' }),
      expect.objectContaining({ n: 2, served: true, http_status: 200, error_code: null }),
    ]);
    for (const attempt of attempts) {
      expect(Object.keys(attempt)).not.toContain('provider');
      expect(attempt.prompt_tokens === 0).toBe(!attempt.served);
    }
  });

  it.each([
    ['connection error', 'reset=before', MODEL, 'upstream_error', 'connection_error'],
    ['HTML with status 200', 'malformed=html', MODEL, 'upstream_error', 'bad_response'],
    ['an empty body', 'malformed=empty', MODEL, 'upstream_error', 'bad_response'],
    ['JSON cut in the middle', 'malformed=truncated', OTHER_MODEL, 'upstream_error', 'bad_response'],
    ['JSON of another shape', 'malformed=shape', OTHER_MODEL, 'upstream_error', 'bad_response'],
    ['a server error', 'error=500', OTHER_MODEL, 'upstream_error', 'internal_provider_error'],
  ])(
    'ERR-04 ERR-13 %s is a provider’s failure with its reason, costs nothing, and the same request succeeds afterwards',
    async (_what, script, model, code, providerCode) => {
      const { key } = await person.createKey('provider failure');
      const body = { model, ...text('fault') };
      upstream.script(Array.from({ length: 6 }, () => script));
      const failed = await infer(key, body);
      expect(failed.status).toBeGreaterThanOrEqual(500);
      expect(failed.body.error).toMatchObject({ code, provider_code: providerCode });
      expect(failed.text).not.toContain('sk-stand-in');
      upstream.script([]);
      expect((await infer(key, body)).status).toBe(200);
      // Where the machine is busy the ledger may have them later than a read waits.
      await eventually(async () => {
        const events = await eventsOf(key);
        expect(events.map(({ status }) => status).toSorted()).toEqual(['error', 'success']);
        expect(costOf(events.filter(({ status }) => status === 'error'))).toBe(0n);
        return true;
      });
    },
  );
});
