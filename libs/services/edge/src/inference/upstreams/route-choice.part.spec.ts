import { testModel, testPrincipal, type Json } from '../../edge.fixture.js';
import { tenantOf } from '../../tenant.fixture.js';
import { first, second, started } from './upstreams.fixture.js';

const edge = tenantOf(started, 'route_choice');

const OPEN = 'acme/open';
const CLOSED = 'acme/closed';
const CHAT = {
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
};
const BODIES: Readonly<Record<string, (said: string) => Json>> = {
  '/v1/chat/completions': (said) => ({ messages: [{ role: 'user', content: said }] }),
  '/v1/messages': (said) => ({ max_tokens: 50, messages: [{ role: 'user', content: said }] }),
  '/v1/responses': (said) => ({ input: said }),
};

let words = 0;
const saying = (): string => `choice ${(words += 1)}.`;

const ask = (path: string, more: Json, said = saying(), key?: string): Promise<Response> =>
  edge.post({ ...BODIES[path](said), ...more }, { path, ...(key !== undefined && { key }) });

/** Bodies that a provider was sent. */
const sentTo = ({ seen }: typeof first, said: string): Json[] =>
  seen
    .map(({ body }) => body.toString())
    .filter((text) => text.includes(said))
    .map((text) => JSON.parse(text) as Json);

describe.each(Object.keys(BODIES))('ROUTE-08 models and provider of a request to %s', (path) => {
  beforeAll(() => {
    first.answer = () => ({ json: CHAT });
    second.answer = () => ({ json: CHAT });
    edge.serveModels(
      // Together is sent members that nobody knows.
      testModel(OPEN, [
        { provider: 'openai', upstreamModel: 'gpt', dialect: 'chat' },
        { provider: 'together', upstreamModel: 'gpt', dialect: 'chat' },
      ]),
      testModel(CLOSED, [{ provider: 'openai', upstreamModel: 'gpt', dialect: 'chat' }]),
    );
  });

  it('choose the provider, are sent to none, and are named as unread nowhere', async () => {
    for (const [slug, upstream] of [
      ['openai', first],
      ['together', second],
    ] as const) {
      const said = saying();
      const answer = await ask(path, { model: OPEN, models: [CLOSED], provider: { order: [slug] } }, said);
      const named = answer.headers.get('x-service-ignored-params') ?? '';
      expect([answer.status, named]).toEqual([200, expect.not.stringMatching(/models|provider/)]);
      const [sent] = sentTo(upstream, said);
      expect(Object.keys(sent)).not.toEqual(expect.arrayContaining(['provider']));
      expect(Object.keys(sent)).not.toEqual(expect.arrayContaining(['models']));
    }
  });

  it('fall back to the next model of the list', async () => {
    second.answer = ({ body }) =>
      body.toString().includes('fall back')
        ? { status: 500, json: { error: { message: 'down' } } }
        : { json: CHAT };
    const said = `${saying()} fall back`;
    const provider = { sort: 'price', preferred_max_latency: 2 };
    const answer = await ask(
      path,
      {
        models: [OPEN, CLOSED],
        provider: { ...provider, only: ['together', 'openai'], order: ['together'] },
      },
      said,
    );
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-service-ignored-params')).toContain('provider.preferred_max_latency');
    expect(sentTo(second, said).length).toBeGreaterThan(0);
    expect(sentTo(first, said)).toHaveLength(1);
  });

  it('name models as unread where the key is pinned', async () => {
    const key = edge.addKey(testPrincipal(`pinned_${saying()}`, { fixedProvider: 'openai' }));
    const answer = await ask(path, { model: OPEN, models: [CLOSED] }, saying(), key);
    expect([answer.status, answer.headers.get('x-service-ignored-params')]).toEqual([
      200,
      expect.stringMatching(/(^|, )models(,|$)/),
    ]);
  });

  it('are refused with the member, and nothing is sent', async () => {
    for (const [more, status, param] of [
      [{ model: OPEN, provider: { only: ['nobody'] } }, 400, 'provider.only'],
      [{ model: OPEN, models: ['acme/none'] }, 404, 'models.0'],
      [{ model: OPEN, provider: { quantizations: ['fp8'] } }, 400, 'provider.quantizations'],
    ] as const) {
      const said = saying();
      const answer = await ask(path, more, said);
      const text = await answer.text();
      expect([answer.status, text]).toEqual([status, expect.stringContaining(param)]);
      expect([...sentTo(first, said), ...sentTo(second, said)]).toEqual([]);
    }
  });
});
