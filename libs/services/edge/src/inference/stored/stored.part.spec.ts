import { TOPIC, type PromptContent } from '@gateway/contracts';
import { secretDigest } from '@gateway/platform';
import { hello, keyScope, testPrincipal, type Json } from '../../edge.fixture.js';
import { tenantOf } from '../../tenant.fixture.js';
import { started } from './stored.fixture.js';

const edge = tenantOf(started, 'stored');

/** Nothing is stored, and nothing was asked for. */
function reset(): void {
  edge.sim.reset();
  edge.stored.templates.clear();
  edge.stored.memoryTexts = [];
  edge.stored.calls = 0;
  edge.stored.isUnavailable = false;
}

function content(text: string, more: Partial<PromptContent> = {}): PromptContent {
  const variables = [...text.matchAll(/\{\{(\w+)\}\}/g)].map(([, name]) => ({
    name,
    type: 'string' as const,
    required: true,
  }));
  const messages = [{ role: 'system' as const, content: text }];
  return { messages, variables, defaults: {}, tools: null, response_format: null, ...more };
}

/** The body of the last request that reached the upstream. */
const sent = (): Json => JSON.parse(edge.upstream().at(-1)?.body ?? '{}') as Json;

const faultOf = async (response: Response): Promise<unknown[]> => {
  const { error } = (await response.json()) as { error: { code: string; details?: { loc: unknown[] }[] } };
  return [response.status, error.code, ...(error.details ?? []).map(({ loc }) => loc.join('.'))];
};

/** Each use as an account version of its own, so that nothing is kept from the test before. */
let version = 100;
function key(): string {
  version += 1;
  return edge.addKey(testPrincipal(`key_${version}`, { accountId: `acct_${version}` }));
}

const post = (body: Json, caller = key(), path?: string): Promise<Response> =>
  edge.post(body, { key: caller, ...(path === undefined ? {} : { path }) });

describe('a chat request with a template', () => {
  beforeEach(reset);

  it('CHAT-22 CHAT-23 CHAT-25 sends the published messages with their variables, then its own', async () => {
    edge.stored.templates.set('greeting', content('Answer in {{language}}.'));
    const own = hello('simulator/chat', { template: 'greeting', variables: { language: 'Dutch' } });
    const response = await post(own);
    expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
    expect(sent().messages).toEqual([
      { role: 'system', content: 'Answer in Dutch.' },
      { role: 'user', content: 'Hello there' },
    ]);
    for (const name of ['template', 'variables', 'template_version']) expect(sent()).not.toHaveProperty(name);
  });

  it('CHAT-24 runs exactly the version that template_version names', async () => {
    edge.stored.templates.set('greeting', content('published'));
    edge.stored.templates.set('greeting 2', content('the second'));
    for (const template_version of ['2', 2]) {
      const body = hello('simulator/chat', { template: 'greeting', template_version });
      expect((await post(body)).status).toBe(200);
      expect((sent().messages as Json[])[0].content).toBe('the second');
    }
  });

  it('takes messages, model and parameters from the template, and lets the request override them', async () => {
    const defaults = { model: 'simulator/chat', temperature: 0.1, max_tokens: 7 };
    edge.stored.templates.set('whole', content('All of it', { defaults }));
    expect((await post({ template: 'whole', temperature: 0.9 })).status).toBe(200);
    expect(sent()).toMatchObject({
      messages: [{ role: 'system', content: 'All of it' }],
      temperature: 0.9,
      max_completion_tokens: 7,
    });
  });

  it('TPL-07 404 not_found for an unknown template, and nothing is sent', async () => {
    expect(await faultOf(await post(hello('simulator/chat', { template: 'none' })))).toEqual([
      404,
      'not_found',
    ]);
    expect(edge.upstream()).toHaveLength(0);
  });

  it.each([
    [{ template: 'greeting' }, 'variables.language'],
    [{ template: 'greeting', variables: { language: 'nl', other: 1 } }, 'variables.other'],
    [{ template: 'greeting', variables: { language: 5 } }, 'variables.language'],
    [{ template: 'greeting', variables: [] }, 'variables'],
    [{ template: 5 }, 'template'],
    [{ template: 'greeting', template_version: 0.5 }, 'template_version'],
    [{ variables: {} }, 'variables'],
    [{ template_version: '1' }, 'template_version'],
  ])('CHAT-23 422 names what does not fit: %j', async (more, loc) => {
    edge.stored.templates.set('greeting', content('In {{language}}.'));
    expect(await faultOf(await post(hello('simulator/chat', more)))).toEqual([422, 'validation_error', loc]);
  });

  it('503 where the template cannot be looked up, never 404', async () => {
    edge.stored.isUnavailable = true;
    expect((await post(hello('simulator/chat', { template: 'greeting' }))).status).toBe(503);
  });

  it('K10 is read once while the account stays as it is, and anew after a change', async () => {
    edge.stored.templates.set('greeting', content('one'));
    const principal = testPrincipal('key_changing', { accountId: 'acct_changing', accountVersion: 1 });
    const caller = edge.addKey(principal);
    const body = hello('simulator/chat', { template: 'greeting' });
    for (let n = 0; n < 3; n += 1) expect((await post(body, caller)).status).toBe(200);
    expect(edge.stored.calls).toBe(1);
    edge.stored.templates.set('greeting', content('two'));
    // The edge still has the record of before: admission finds that out.
    edge.principals.cached.set(secretDigest(caller), principal);
    edge.principals.add(caller, { ...principal, accountVersion: 2 });
    await edge.limits.stamp('acct_changing', 2, null);
    expect((await post(body, caller)).status).toBe(200);
    expect((sent().messages as Json[])[0].content).toBe('two');
  });

  it('asks for nothing where a request names nothing', async () => {
    expect((await post(hello('simulator/chat', { template: null, memory: null }))).status).toBe(200);
    expect(edge.stored.calls).toBe(0);
  });
});

describe('a chat request with memory', () => {
  beforeEach(reset);

  const remembered = (more: Json = {}): Json =>
    hello('simulator/chat', { memory: { end_user_id: 'someone', ...more } });

  it('MEM-02 gets the newest items as one system message before everything else', async () => {
    edge.stored.memoryTexts = ['likes tea', 'lives in Utrecht', 'speaks Dutch'];
    expect((await post(remembered({ max_items: 2 }))).status).toBe(200);
    expect(sent().messages).toEqual([
      { role: 'system', content: 'lives in Utrecht\nspeaks Dutch' },
      { role: 'user', content: 'Hello there' },
    ]);
    expect(sent()).not.toHaveProperty('memory');
    edge.stored.memoryTexts = [];
    await post(remembered());
    expect(sent().messages).toEqual([{ role: 'user', content: 'Hello there' }]);
  });

  it('CHAT-36 402 spend_limit_exceeded where it fits the cap only without its memory, and nothing is sent', async () => {
    const capped = { limits: [keyScope('key_memory', { spendCapUsd: '0.01' })] };
    const caller = edge.addKey(testPrincipal('key_memory', { accountId: 'acct_memory', ...capped }));
    // Some 25,000 tokens at 1 USD a million.
    edge.stored.memoryTexts = Array.from({ length: 20 }, () => 'word '.repeat(1_000));
    const refused = await post(remembered(), caller);
    expect(refused.headers.get('x-should-retry')).toBe('false');
    expect(await edge.record(refused, TOPIC.rejections)).toMatchObject({
      limit_type: 'spend_cap',
      cap_usd: '0.01',
    });
    expect(await faultOf(refused)).toEqual([402, 'spend_limit_exceeded']);
    expect(edge.upstream()).toHaveLength(0);
    expect((await post(remembered({ max_items: 1 }), caller)).status).toBe(200);
    expect((await post(hello('simulator/chat'), caller)).status).toBe(200);
  });

  it('CHAT-36 402 likewise for the balance', async () => {
    edge.stored.memoryTexts = Array.from({ length: 20 }, () => 'word '.repeat(1_000));
    edge.funds.balanceNano = 10_000_000n;
    try {
      const poor = key();
      expect(await faultOf(await post(remembered(), poor))).toEqual([402, 'spend_limit_exceeded']);
      expect((await post(remembered({ max_items: 1 }), poor)).status).toBe(200);
    } finally {
      edge.funds.balanceNano = 100_000_000_000n;
    }
  });

  it.each([
    [{ memory: true }, 'memory'],
    [{ memory: {} }, 'memory.end_user_id'],
    [{ memory: { end_user_id: 'x', max_items: 65 } }, 'memory.max_items'],
    [{ memory: { end_user_id: 'x', items: 1 } }, 'memory.items'],
  ])('422 names the member: %j', async (more, loc) => {
    expect(await faultOf(await post(hello('simulator/chat', more)))).toEqual([422, 'validation_error', loc]);
  });
});

describe('other text endpoints', () => {
  beforeEach(reset);

  it('messages takes system texts into system, and says what does not fit in its own envelope', async () => {
    edge.stored.templates.set('greeting', content('In {{language}}.'));
    edge.stored.memoryTexts = ['likes tea'];
    const body = {
      ...hello('simulator/claude', { system: 'Be brief.', memory: { end_user_id: 'someone' } }),
      template: 'greeting',
      variables: { language: 'Dutch' },
    };
    expect((await post(body, key(), '/v1/messages')).status).toBe(200);
    const texts = (sent().system as Json[]).map(({ text }) => text);
    expect(texts).toEqual(['likes tea', 'In Dutch.', 'Be brief.']);
    expect(sent().messages).toEqual([{ role: 'user', content: 'Hello there' }]);
    const refused = await post({ ...body, variables: {} }, key(), '/v1/messages');
    expect([refused.status, ((await refused.json()) as { error: Json }).error.type]).toEqual([
      400,
      'invalid_request_error',
    ]);
  });
});
