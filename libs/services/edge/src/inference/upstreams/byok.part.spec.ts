import type { ProviderKeyGrant } from '@gateway/contracts';
import { eventually, type ScriptedAnswer } from '@gateway/testing';
import { hello, startEdge, testPrincipal, type Json } from '../../edge.fixture.js';
import { tenantOf } from '../../tenant.fixture.js';
import { first, started } from './upstreams.fixture.js';

const edge = tenantOf(started, 'byok');

const OWN = 'sk-own-0123456789abcdefghijklmnop';
const SERVED: ScriptedAnswer = {
  json: {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'gpt',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 },
  },
};

function refusedWith(status: number, error: Json): ScriptedAnswer {
  return { status, json: { error: { message: 'no', type: 'error', code: null, ...error } } };
}

const BAD_KEY = refusedWith(401, {
  code: 'invalid_api_key',
  message: `Incorrect API key provided: ${OWN}.`,
});

/** Answers of the provider to a key; the platform's own is served. */
let answers: Record<string, ScriptedAnswer>;
let n = 0;

/** An API key of an account with one provider key. */
function keyWith(grant: Partial<ProviderKeyGrant> = {}, more: object = {}): { key: string; id: string } {
  n += 1;
  const id = grant.id ?? `pk_${n}`;
  edge.vault.credentials.set(id, { kind: 'api_key', key: OWN });
  const own = {
    id,
    provider: 'openai',
    version: 1,
    allowedModels: null,
    allowPlatformFallback: true,
    ...grant,
  };
  const principal = testPrincipal(`key_${n}`, { accountId: `acct_${n}`, providerKeys: [own], ...more });
  return { key: edge.addKey(principal), id };
}

const post = (key: string, more: Json = {}, model = 'acme/gpt'): Promise<Response> =>
  edge.post(hello(model, more), { key });

/** Bearer tokens that the provider saw. */
const sent = (): string[] =>
  first.seen.map(({ headers }) => String(headers.authorization).replace('Bearer ', ''));

const reported = (id: string): unknown[] => edge.vault.reported.filter(({ keyId }) => keyId === id);

const codeOf = async (response: Response): Promise<unknown[]> => {
  const { error } = (await response.json()) as { error: Json };
  return [response.status, error.code, error.provider_code];
};

describe('a request of an account with a provider key', () => {
  beforeAll(() => {
    first.answer = ({ headers }) => answers[String(headers.authorization).replace('Bearer ', '')] ?? SERVED;
    edge.serve('acme/gpt', { provider: 'openai', upstreamModel: 'gpt' });
  });
  beforeEach(() => {
    answers = {};
    first.seen.length = 0;
    edge.vault.reported.length = 0;
    edge.vault.isUnavailable = false;
  });

  it('ROUTE-03 USG-14 MOD-26 is served by it first: byok_used, the fee in place of the price', async () => {
    const { key, id } = keyWith();
    const response = await post(key);
    const { usage } = (await response.json()) as { usage: Json };
    expect(usage).toMatchObject({ byok_used: true, fallback_triggered: false });
    expect(sent()).toEqual([OWN]);
    expect(await edge.record(response)).toMatchObject({
      byok_used: true,
      cost_usd: '0.000003',
      list_cost_usd: '0.00003',
      priced_from: { byok_served: true, byok_fee_pct: '10', discount_pct: null },
    });
    await eventually(() => reported(id).length > 0);
    expect(reported(id)).toEqual([
      { accountId: expect.any(String), keyId: id, atMs: expect.any(Number), failure: null },
    ]);
  });

  it('USG-14 a stream says byok_used too, and one without a provider key never does', async () => {
    const { key } = keyWith({ provider: 'simulated' });
    for (const [caller, used] of [
      [key, true],
      [edge.key, false],
    ] as const) {
      const response = await post(caller, { stream: true }, 'simulator/chat');
      expect(await response.text()).toContain(`"byok_used":${used}`);
    }
  });

  it('ROUTE-05 is served and billed on the platform’s credentials for a model that the key may not call', async () => {
    const { key } = keyWith({ allowedModels: ['other/*'] });
    const response = await post(key);
    expect(((await response.json()) as { usage: Json }).usage).toMatchObject({ byok_used: false });
    expect(sent()).toEqual(['sim-key-of-openai']);
    expect(await edge.record(response)).toMatchObject({ byok_used: false, cost_usd: '0.00003' });
    const allowed = keyWith({ allowedModels: ['acme/*'] });
    await (await post(allowed.key)).text();
    expect(sent().at(-1)).toBe(OWN);
  });

  it('ERR-20 403 byok_model_not_allowed for such a model with fallback off, and nothing is sent', async () => {
    const { key } = keyWith({ allowedModels: ['acme/other'], allowPlatformFallback: false });
    expect(await codeOf(await post(key))).toEqual([403, 'byok_model_not_allowed', undefined]);
    expect(sent()).toEqual([]);
  });

  it.each([
    [BAD_KEY, [401, 'upstream_auth_error', 'invalid_auth']],
    [refusedWith(403, {}), [403, 'upstream_auth_error', 'permission_denied']],
    [
      refusedWith(429, { code: 'insufficient_quota', type: 'insufficient_quota' }),
      [402, 'insufficient_credits', 'insufficient_credits'],
    ],
    [
      refusedWith(429, { code: 'insufficient_quota', message: 'You have used your monthly quota.' }),
      [429, 'upstream_rate_limit_error', 'monthly_quota_exceeded'],
    ],
    [
      refusedWith(429, { code: 'rate_limit_exceeded' }),
      [429, 'upstream_rate_limit_error', 'rate_limit_exceeded'],
    ],
  ] as const)(
    'ERR-42 ERR-45 ERR-46 ERR-47 ERR-48 with fallback off the caller gets what its provider said: %j',
    async (answer, shown) => {
      answers[OWN] = answer;
      const { key } = keyWith({ allowPlatformFallback: false }, { routingPolicy: { max_retries: 0 } });
      const response = await post(key);
      const text = await response.clone().text();
      expect(text).not.toContain(OWN);
      expect(await codeOf(response)).toEqual(shown);
      expect(sent()).toEqual([OWN]);
    },
  );

  it('EVT-32 falls back to the platform’s credentials, billed, and reports the provider’s error once', async () => {
    answers[OWN] = BAD_KEY;
    const { key, id } = keyWith();
    const response = await post(key);
    expect(((await response.json()) as { usage: Json }).usage).toMatchObject({
      byok_used: false,
      fallback_triggered: false,
    });
    expect(sent()).toEqual([OWN, 'sim-key-of-openai']);
    expect(await edge.record(response)).toMatchObject({
      byok_used: false,
      routing_fallback: false,
      cost_usd: '0.00003',
      priced_from: { byok_served: false },
    });
    await eventually(() => reported(id).length > 0);
    expect(reported(id)).toEqual([
      {
        accountId: expect.any(String),
        keyId: id,
        atMs: expect.any(Number),
        failure: {
          model: 'acme/gpt',
          requestId: response.headers.get('x-request-id'),
          errorCode: 'upstream_auth_error',
          providerCode: 'invalid_auth',
          message: expect.not.stringContaining(OWN),
          servedOnPlatform: true,
        },
      },
    ]);
  });

  it('never calls a refused key again in a request, and takes the account’s next one', async () => {
    const other = 'sk-other-0123456789abcdefghijkl';
    answers[OWN] = BAD_KEY;
    const { key } = keyWith({}, {});
    const second = { id: 'pk_second', provider: 'openai', version: 1, allowedModels: null };
    edge.vault.credentials.set('pk_second', { kind: 'api_key', key: other });
    edge.vault.credentials.set('pk_first', { kind: 'api_key', key: OWN });
    const keys = [{ ...second, id: 'pk_first' }, second].map((one) => ({
      ...one,
      allowPlatformFallback: false,
    }));
    const both = edge.addKey(testPrincipal('key_both', { accountId: 'acct_both', providerKeys: keys }));
    expect((await post(both)).status).toBe(200);
    expect(sent()).toEqual([OWN, other]);
    expect(key).not.toBe(both);
  });

  it('serves by its own key alone when the money is out, and refuses where that may not', async () => {
    edge.funds.balanceNano = 0n;
    try {
      const { key } = keyWith({ provider: 'simulated-messages' });
      expect((await post(key)).status).toBe(402);
      // Without a fee, which would need money.
      const free = await startEdge({
        upstreams: () => Promise.resolve({ openai: first.url }),
        balanceUsd: 0,
      });
      free.serve('acme/gpt', { provider: 'openai', upstreamModel: 'gpt' });
      free.vault.credentials.set('pk_free', { kind: 'api_key', key: OWN });
      const own = {
        id: 'pk_free',
        provider: 'openai',
        version: 1,
        allowedModels: null,
        allowPlatformFallback: true,
      };
      const caller = free.addKey(testPrincipal('key_free', { creditLimitUsd: '0', providerKeys: [own] }));
      const response = await free.post(hello('acme/gpt'), { key: caller });
      expect([response.status, sent()]).toEqual([200, [OWN]]);
      expect(await free.record(response)).toMatchObject({ byok_used: true, cost_usd: '0' });
      await free.close();
    } finally {
      edge.funds.balanceNano = 100_000_000_000n;
    }
  });

  it('503 where the key cannot be opened, one look-up for many at once, and none while it is known', async () => {
    const { key, id } = keyWith();
    edge.vault.isUnavailable = true;
    expect((await post(key)).status).toBe(503);
    expect(sent()).toEqual([]);
    edge.vault.isUnavailable = false;
    edge.vault.opened.length = 0;
    const responses = await Promise.all(Array.from({ length: 5 }, () => post(key)));
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect((await post(key)).status).toBe(200);
    expect(edge.vault.opened.filter((one) => one === id)).toHaveLength(1);
  });

  it('S08 a provider key goes to its provider’s address and to no other', async () => {
    const { key } = keyWith({ provider: 'acme-unknown' });
    expect((await post(key)).status).toBe(200);
    expect(sent()).toEqual(['sim-key-of-openai']);
  });
});
