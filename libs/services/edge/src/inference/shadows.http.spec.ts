import type { Alias, KeyPrincipal, Timer } from '@gateway/contracts';
import { SystemClock } from '@gateway/platform';
import { eventually, modelAccess, startUpstreamDouble, type UpstreamDouble } from '@gateway/testing';
import {
  hello,
  startEdge,
  testModel,
  testPrincipal,
  type EdgeTestOptions,
  type EdgeUnderTest,
  type Json,
} from '../edge.fixture.js';
import { PoolSync } from '../upstream/pool-sync.js';

const [FIRST, SECOND] = ['acme/first', 'acme/second'];
const ALIAS: Alias = {
  ...{ org_id: null, name: 'prod', targets: [{ model: FIRST, weight: 1 }] },
  shadow: { alias_id: 'alias_1', model: SECOND, sample_pct: 100 },
};
const CHAT = {
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
};
const EVENTS = { 'content-type': 'text/event-stream' };
const frame = (choice: object): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`;
const FRAMES = [
  frame({ delta: { role: 'assistant', content: 'Hello' } }),
  frame({ delta: {}, finish_reason: 'stop' }),
  `data: ${JSON.stringify({ choices: [], usage: CHAT.usage })}\n\n`,
  'data: [DONE]\n\n',
];

/** A clock on which the time for shadows to end is over at once. */
class HastyClock extends SystemClock {
  override setTimer(delayMs: number, callback: () => void): Timer {
    return super.setTimer(delayMs === 5_000 ? 0 : delayMs, callback);
  }
}

let first: UpstreamDouble;
let second: UpstreamDouble;
let edge: EdgeUnderTest;
let said = 0;

const isStream = ({ body }: { body: Buffer }): boolean => body.includes('"stream":true');
const whole: UpstreamDouble['answer'] = (request) =>
  isStream(request) ? { headers: EVENTS, pieces: FRAMES } : { json: CHAT };

async function start(options: EdgeTestOptions = {}): Promise<EdgeUnderTest> {
  const started = await startEdge({
    ...options,
    upstreams: () => Promise.resolve({ openai: first.url, together: second.url }),
  });
  started.serveModels(
    testModel(FIRST, [{ provider: 'openai', upstreamModel: 'one', dialect: 'chat' }]),
    testModel(SECOND, [{ provider: 'together', upstreamModel: 'two', dialect: 'chat', price: '10' }]),
  );
  started.name(ALIAS);
  return started;
}

beforeAll(async () => {
  [first, second] = await Promise.all([startUpstreamDouble(), startUpstreamDouble()]);
  edge = await start();
});
beforeEach(() => {
  first.answer = whole;
  second.answer = whole;
});
afterAll(async () => {
  await edge.close();
  await Promise.all([first.close(), second.close()]);
});

const words = (): string => `shadow ${(said += 1)}.`;
const body = (text: string, more: Json = {}): Json =>
  hello('prod', { messages: [{ role: 'user', content: text }], ...more });
const sentTo = ({ seen }: UpstreamDouble, text: string): string[] =>
  seen.map((one) => one.body.toString()).filter((sent) => sent.includes(text));

const shadowsOf = (requestId: string | null, of = edge): Json[] =>
  of.shipped().filter(({ shadow_of: of }) => (of as Json | undefined)?.request_id === requestId);

/** The shadow of an answered request, once its record was shipped. */
const shadowOf = (answer: Response, of = edge): Promise<Json> =>
  eventually(() => shadowsOf(answer.headers.get('x-request-id'), of)[0]);

async function counted(outcome: string, of = edge): Promise<number> {
  const figures = await (await fetch(`${of.url}/metrics`)).text();
  const [, value] =
    new RegExp(`^gateway_shadows_total\\{outcome="${outcome}"\\} (\\d+)$`, 'm').exec(figures) ?? [];
  return Number(value ?? 0);
}

/** Asks, and returns once the edge has counted one more shadow of this outcome. */
async function askedUntil(outcome: string, ask: () => Promise<Response>, of = edge): Promise<Response> {
  const before = await counted(outcome, of);
  const answer = await ask();
  await answer.text();
  await eventually(async () => (await counted(outcome, of)) === before + 1);
  return answer;
}

function keyWith(name: string, more: Partial<KeyPrincipal>): string {
  return edge.addKey(testPrincipal(`key_${name}`, more));
}

const ROADS: [path: string, sent: (text: string) => Json][] = [
  ['/v1/chat/completions', (text) => body(text)],
  ['/v1/messages', (text) => body(text)],
  ['/v1/responses', (text) => ({ model: 'prod', input: text, store: false })],
];

describe.each(ROADS)('the shadow of an alias on %s', (path, sent) => {
  it.each([false, true])(
    'is a unit of the platform alone, priced as its route is (stream: %s)',
    async (stream) => {
      const text = words();
      const headers = { 'x-request-tags': 'team=ours' };
      const answer = await edge.post({ ...sent(text), stream, user: 'someone' }, { path, headers });
      expect([answer.status, (await answer.text()).includes('Hello')]).toEqual([200, true]);
      const shadow = await shadowOf(answer);
      const primary = await edge.record(answer);
      expect(primary).toMatchObject({
        account_id: 'acct_test',
        model: FIRST,
        cost_usd: '0.000013',
        outcome: 'served',
      });
      expect(primary).not.toHaveProperty('shadow_of');
      expect(shadow).toMatchObject({
        shadow_of: { alias_id: 'alias_1', request_id: primary.request_id },
        ...{ account_id: 'acct_shadow', org_id: null, key_id: 'key_shadow', billing: 'off', unit: 0 },
        ...{
          model: SECOND,
          requested_model: 'prod',
          endpoint: path,
          stream,
          outcome: 'served',
          cost_usd: '0.000076',
        },
        ...{ request_tags: {}, end_user_hash: null },
      });
      expect(shadow.request_id).not.toBe(primary.request_id);
      expect([sentTo(first, text).length, sentTo(second, text).length]).toEqual([1, 1]);
    },
  );
});

describe('the shadow of an alias', () => {
  it('is not begun before the answer of its caller has ended', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    first.answer = () => ({
      headers: EVENTS,
      pieces: (async function* () {
        yield FRAMES[0];
        await held;
        yield* FRAMES.slice(1);
      })(),
    });
    const text = words();
    const answer = await edge.post(body(text, { stream: true }));
    const reader = answer.body?.getReader();
    await reader?.read();
    // Whatever the edge would do beside an open answer it has done after another whole one.
    await (await edge.post(hello('simulator/chat'))).text();
    expect(sentTo(second, text)).toEqual([]);
    release();
    while (!(await reader?.read())?.done);
    await eventually(() => sentTo(second, text).length === 1);
  });

  it('counts on no limit of its caller, whose balance and limits see one request', async () => {
    const account = { accountId: 'acct_limited', orgId: 'org_limited' };
    const key = keyWith('limited', account);
    const ask = (): Promise<Response> => edge.post(body(words()), { key });
    const before = await ask();
    await before.text();
    await shadowOf(before);
    const after = await askedUntil('served', ask);
    const left = ({ headers }: Response): number => Number(headers.get('x-ratelimit-remaining-requests'));
    expect(left(after)).toBe(left(before) - 1);
    const mine = edge.shipped().filter(({ account_id: id }) => id === 'acct_limited');
    expect(mine.map(({ model, cost_usd: cost }) => [model, cost])).toEqual([
      [FIRST, '0.000013'],
      [FIRST, '0.000013'],
    ]);
  });

  it('is sent for a request that failed, but not for one that its caller has left', async () => {
    first.answer = () => ({ status: 400, json: { error: { message: 'no', code: 'invalid_value' } } });
    const text = words();
    const failed = await edge.post(body(text));
    expect(failed.status).toBe(400);
    expect(await shadowOf(failed)).toMatchObject({ outcome: 'served', model: SECOND });
    first.answer = () => ({ headers: EVENTS, pieces: [FRAMES[0]], ending: 'stall' });
    const leaver = new AbortController();
    const left = words();
    const answer = await edge.post(body(left, { stream: true }), { signal: leaver.signal });
    await answer.body?.getReader().read();
    leaver.abort();
    expect(await edge.record(answer)).toMatchObject({ outcome: 'cancelled' });
    first.answer = whole;
    await askedUntil('served', () => edge.post(body(words())));
    expect(sentTo(second, left)).toEqual([]);
  });

  it('is tried once: a failure is recorded, costs nobody anything, and changes nothing for its caller', async () => {
    second.answer = () => ({ status: 500, json: { error: { message: 'broken' } } });
    const text = words();
    const answer = await edge.post(body(text));
    expect(answer.status).toBe(200);
    expect(await shadowOf(answer)).toMatchObject({
      outcome: 'failed',
      cost_usd: null,
      account_id: 'acct_shadow',
    });
    expect(sentTo(second, text)).toHaveLength(1);
  });

  const refusing: [what: string, principal: Partial<KeyPrincipal>, sent?: Json][] = [
    ['a block-list has the model', { access: [modelAccess('key', null, [SECOND])] }],
    [
      'an allow-list has neither the model nor the alias',
      { access: [modelAccess('org', [FIRST, 'prod'], null), modelAccess('key', [FIRST], null)] },
    ],
    ['only_providers lacks its provider', { routingPolicy: { only_providers: ['openai'] } }],
    ['ignore_providers has its provider', { routingPolicy: { ignore_providers: ['together'] } }],
    ['max_price is below it', { routingPolicy: { max_price: { prompt_usd_per_1m: '2' } } }],
    ['the key is pinned elsewhere', { fixedProvider: 'openai' }],
    ['the request names other providers', {}, { provider: { only: ['openai'] } }],
    ['the request ignores its provider', {}, { provider: { ignore: ['together'] } }],
  ];
  it.each(refusing)('is not sent where %s', async (what, principal, more = {}) => {
    const key = keyWith(`refusing_${what.replaceAll(/\W/g, '_')}`, principal);
    const text = words();
    const answer = await askedUntil('not_permitted', () => edge.post(body(text, more), { key }));
    expect([answer.status, sentTo(first, text).length, sentTo(second, text).length]).toEqual([200, 1, 0]);
  });

  it('is sent where an allow-list has the alias, as to a target', async () => {
    const key = keyWith('by_alias', { access: [modelAccess('key', ['prod'], null)] });
    await askedUntil('served', () => edge.post(body(words()), { key }));
  });

  it('is not sent where zero retention is asked for and its route does not promise it', async () => {
    const { routes, ...zero } = testModel('acme/zero', [
      { provider: 'openai', upstreamModel: 'one', dialect: 'chat' },
    ]);
    edge.serveModels({ ...zero, routes: routes.map((route) => ({ ...route, zeroRetention: true })) });
    edge.name({ ...ALIAS, targets: [{ model: 'acme/zero', weight: 1 }] });
    const key = keyWith('zero', { routingPolicy: { require_zero_retention: true } });
    await askedUntil('not_permitted', () => edge.post(body(words()), { key })).finally(() =>
      edge.name(ALIAS),
    );
  });

  it.each<[what: string, path: string, sent: Json]>([
    ['is stored at its provider', '/v1/chat/completions', { ...hello('prod'), store: true }],
    ['is stored', '/v1/responses', { model: 'prod', input: 'Hello' }],
    [
      'holds a file',
      '/v1/chat/completions',
      {
        model: 'prod',
        messages: [
          {
            role: 'user',
            content: [
              {
                type: 'file',
                file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' },
              },
            ],
          },
        ],
      },
    ],
  ])('is not sent of a request that %s', async (_what, path, sent) => {
    edge.serveModels(
      testModel(FIRST, [{ provider: 'openai', upstreamModel: 'one', dialect: 'chat' }], {
        input_modalities: ['text', 'file'],
      }),
    );
    const before = second.seen.length;
    const answer = await askedUntil('stateful', () => edge.post(sent, { path }));
    expect([answer.status, second.seen.length]).toEqual([200, before]);
  });

  it('is not sent of an answer on a provider key, nor to the very model that has answered', async () => {
    const grant = {
      id: 'pk_1',
      provider: 'openai',
      version: 1,
      allowedModels: null,
      allowPlatformFallback: true,
    };
    edge.vault.credentials.set('pk_1', { kind: 'api_key', key: 'own' });
    const key = keyWith('own_key', { accountId: 'acct_own_key', providerKeys: [grant] });
    const text = words();
    expect((await edge.post(body(text), { key })).status).toBe(200);
    edge.name({ ...ALIAS, targets: [{ model: SECOND, weight: 1 }] });
    const same = words();
    expect((await edge.post(body(same))).status).toBe(200);
    edge.name(ALIAS);
    await askedUntil('served', () => edge.post(body(words())));
    expect([sentTo(second, text).length, sentTo(second, same).length]).toEqual([0, 1]);
  });

  it('is drawn by its share: none at the smallest one of a few requests, all at 100 %', async () => {
    edge.name({ ...ALIAS, shadow: { alias_id: 'alias_1', model: SECOND, sample_pct: 1e-12 } });
    const text = words();
    await Promise.all(Array.from({ length: 20 }, () => edge.post(body(text))));
    edge.name(ALIAS);
    await askedUntil('served', () => edge.post(body(words())));
    expect(sentTo(second, text)).toEqual([]);
  });

  it('runs eight times at once at most, and never keeps a large body: what is more is dropped and counted', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    second.answer = async (request) => {
      await held;
      return whole(request);
    };
    const text = words();
    const before = await counted('full');
    for (let n = 0; n < 8; n += 1) {
      await (await edge.post(body(text))).text();
      await eventually(() => sentTo(second, text).length === n + 1);
    }
    await askedUntil('full', () => edge.post(body(text)));
    expect([await counted('full'), sentTo(second, text).length]).toEqual([before + 1, 8]);
    const served = await counted('served');
    release();
    await eventually(async () => (await counted('served')) === served + 8);
    const large = words();
    await askedUntil('too_large', () => edge.post(body(`${large}${'a'.repeat(1_048_576)}`)));
    expect(sentTo(second, large)).toEqual([]);
  });

  it('ends with the process: one that runs is waited for and recorded', async () => {
    const own = await start();
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    second.answer = async (request) => {
      await held;
      return whole(request);
    };
    const text = words();
    const answer = await own.post(body(text));
    await answer.text();
    await eventually(() => sentTo(second, text).length === 1);
    const closed = own.close();
    release();
    await closed;
    expect(shadowsOf(answer.headers.get('x-request-id'), own)).toMatchObject([{ outcome: 'served' }]);
  });

  it('is cut off where it does not end within the time for that, and costs nothing', async () => {
    const own = await start({ clock: new HastyClock(), drainGraceMs: 60_000 });
    second.answer = () => ({ fault: 'silence' });
    const text = words();
    const answer = await own.post(body(text));
    await answer.text();
    await eventually(() => sentTo(second, text).length === 1);
    await own.close();
    expect(shadowsOf(answer.headers.get('x-request-id'), own)).toMatchObject([
      { outcome: 'failed', error_code: 'service_draining', cost_usd: null },
    ]);
  });

  it('counts on the budgets of its provider, and is dropped once one is spent', async () => {
    const { budgets } = edge.pool;
    budgets.push({
      ...{ id: 'bud_shadow', name: 'One', scope: 'provider', scopeId: 'together', amountUsd: '0.000000001' },
      ...{ raise: null, period: 'quarter', timeZone: 'UTC', countedFromMs: 1 },
    });
    try {
      await edge.app.app.get(PoolSync).sync();
      const answer = await askedUntil('served', () => edge.post(body(words())));
      const { limits } = (await shadowOf(answer)) as { limits: Json[] };
      expect(limits).toContainEqual(expect.objectContaining({ scope: 'provider' }));
      const refused = await askedUntil('error', () => edge.post(body(words())));
      expect([refused.status, shadowsOf(refused.headers.get('x-request-id'))]).toEqual([200, []]);
    } finally {
      budgets.length = 0;
      await edge.app.app.get(PoolSync).sync();
    }
  });
});
