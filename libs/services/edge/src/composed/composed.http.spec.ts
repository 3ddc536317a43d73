import { catalogueModel, eventually } from '@gateway/testing';
import { hello, startEdge, testPrincipal, type EdgeUnderTest, type Json } from '../edge.fixture.js';

const VERSIONS = ['2026-08', '2026-09'];

describe('endpoints that ask several models', () => {
  let edge: EdgeUnderTest;
  beforeAll(async () => (edge = await startEdge()));
  afterAll(() => edge.close());

  const post = async (
    path: string,
    body: Json,
    options: { key?: string; headers?: Record<string, string> } = {},
  ): Promise<{ status: number; body: ReturnType<JSON['parse']>; response: Response }> => {
    const response = await edge.post(body, { path, ...options });
    return { status: response.status, body: await response.json(), response };
  };
  const messages = [{ role: 'user', content: 'Hello there' }];

  describe('POST /v1/chat/compare', () => {
    it.each(VERSIONS)('EVAL-04 EVAL-06 answers by each model, a unit each, under %s', async (version) => {
      const models = ['simulator/chat', 'simulator/claude'];
      const headers = { 'x-service-version': version };
      const { status, body, response } = await post(
        '/v1/chat/compare',
        { models, messages, max_tokens: 50 },
        { headers },
      );
      expect([status, response.headers.get('x-service-version')]).toEqual([200, version]);
      expect(body).toMatchObject({
        object: 'chat.compare',
        id: expect.stringMatching(/^cmp_/),
        created: expect.any(Number),
      });
      expect(Object.keys(body)).toEqual(['id', 'object', 'created', 'results', 'usage']);
      expect(body.results.map((one: Json) => [one.index, one.model, one.status, one.error])).toEqual([
        [0, 'simulator/chat', 'success', null],
        [1, 'simulator/claude', 'success', null],
      ]);
      for (const one of body.results) {
        expect(one.completion).toMatchObject({ object: 'chat.completion', model: one.model });
        expect(one.latency_ms).toBeGreaterThanOrEqual(0);
      }
      const total = body.results.reduce(
        (sum: number, { completion }: { completion: { usage: { total_tokens: number } } }) =>
          sum + completion.usage.total_tokens,
        0,
      );
      expect(body.usage.total_tokens).toBe(total);
      const id = response.headers.get('x-request-id');
      const units = (): Json[] => edge.shipped().filter((record) => record.request_id === id);
      await eventually(() => units().length === 2);
      expect(
        units()
          .map(({ unit }) => unit)
          .sort(),
      ).toEqual([0, 1]);
      for (const unit of units())
        expect(unit).toMatchObject({ endpoint: '/v1/chat/compare', outcome: 'served' });
    });

    it('EVAL-06 one model that fails does not fail the others, and all that fail give the best reason', async () => {
      const models = ['simulator/chat', 'simulator/nothing'];
      const { status, body } = await post('/v1/chat/compare', { models, messages });
      expect([status, body.results[0].status, body.results[1].status]).toEqual([200, 'success', 'error']);
      expect(body.results[1]).toMatchObject({ completion: null, error: { code: 'model_not_found' } });
      const none = await post('/v1/chat/compare', {
        models: ['simulator/nothing', 'simulator/none'],
        messages,
      });
      expect([none.status, none.body.error.code]).toEqual([404, 'model_not_found']);
    });

    it('EVAL-04 streams frames that say whose they are, and ends with [DONE]', async () => {
      const models = ['simulator/chat', 'simulator/nothing', 'simulator/claude'];
      const response = await edge.post({ models, messages, stream: true }, { path: '/v1/chat/compare' });
      expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
      const frames = (await response.text()).trimEnd().split('\n\n');
      expect(frames.pop()).toBe('data: [DONE]');
      const read = frames
        .filter((frame) => frame.startsWith('data: '))
        .map((frame) => JSON.parse(frame.slice(6)) as Json);
      const finished = read.filter(({ chunk }) => {
        const [choice] = ((chunk as Json | undefined)?.choices ?? []) as Json[];
        return choice?.finish_reason != null;
      });
      expect(new Set(finished.map(({ model }) => model))).toEqual(
        new Set(['simulator/chat', 'simulator/claude']),
      );
      const failed = read.filter((frame) => 'error' in frame);
      expect(failed).toMatchObject([
        { index: 1, model: 'simulator/nothing', error: { code: 'model_not_found' } },
      ]);
    });

    it('MOD-15 asks the members of a composite', async () => {
      edge.serveModels({
        ...catalogueModel('simulator/panel', [{}], {
          is_composite: true,
          composite_models: ['simulator/chat', 'simulator/claude'],
          supports_completions_api: false,
        }),
        routes: [],
      });
      const { body } = await post('/v1/chat/compare', { models: ['simulator/panel'], messages });
      expect(body.results.map(({ model }: Json) => model)).toEqual(['simulator/chat', 'simulator/claude']);
      const chat = await post('/v1/chat/completions', hello('simulator/panel'));
      expect([chat.status, chat.body.error.code]).toEqual([400, 'model_capability_not_supported']);
    });

    it('takes the messages of a prompt template, as each of its chat requests does', async () => {
      const more = { variables: [], defaults: {}, tools: null, response_format: null };
      edge.stored.templates.set('greeting', { messages: [{ role: 'user', content: 'Greet me' }], ...more });
      const models = ['simulator/chat', 'simulator/claude'];
      const { status, body } = await post('/v1/chat/compare', { models, template: 'greeting' });
      expect(status).toBe(200);
      expect(body.results.map((result: Json) => result.status)).toEqual(['success', 'success']);
      expect(edge.upstream().at(-1)?.body).toContain('Greet me');
      const none = await post('/v1/chat/compare', { models, template: null });
      expect([none.status, none.body.error.code]).toEqual([422, 'validation_error']);
    });

    it.each<[string, Json]>([
      ['one model', { models: ['simulator/chat'], messages }],
      ['nine models', { models: Array<string>(9).fill('simulator/chat'), messages }],
      ['no messages', { models: ['simulator/chat', 'simulator/claude'] }],
    ])('422 validation_error for %s', async (_what, body) => {
      const answer = await post('/v1/chat/compare', body);
      expect([answer.status, answer.body.error.code]).toEqual([422, 'validation_error']);
    });
  });

  describe('POST /v1/router/select', () => {
    it.each(VERSIONS)(
      'EVAL-05 EVAL-06 names the models it would choose, and calls none, under %s',
      async (version) => {
        const before = edge.upstream().length;
        const headers = { 'x-service-version': version };
        const { status, body } = await post('/v1/router/select', { prompt: 'Hello', top_k: 2 }, { headers });
        expect(status).toBe(200);
        expect(Object.keys(body)).toEqual(['object', 'model', 'candidates', 'router', 'created']);
        expect([body.object, body.candidates.length, body.model]).toEqual([
          'router.selection',
          2,
          body.candidates[0].model,
        ]);
        for (const candidate of body.candidates) {
          expect(candidate.score).toBeGreaterThanOrEqual(0);
          expect(candidate.score).toBeLessThanOrEqual(1);
          expect(candidate.estimated_cost_usd).toMatch(/^\d+(\.\d+)?$/);
          expect(candidate.reasons.length).toBeGreaterThan(0);
        }
        expect(edge.upstream()).toHaveLength(before);
      },
    );

    it('EVAL-02 chooses among the candidates and what the key may call; 403 and 400 where there is none', async () => {
      const only = edge.addKey(
        testPrincipal('key_only', {
          access: [{ kind: 'key', allowed: ['simulator/claude'], blocked: null }],
        }),
      );
      const open = await post('/v1/router/select', { messages }, { key: only });
      expect(open.body.candidates.map(({ model }: Json) => model)).toEqual(['simulator/claude']);
      const candidates = ['simulator/chat'];
      expect((await post('/v1/router/select', { messages, candidates })).body.model).toBe('simulator/chat');
      const refused = await post('/v1/router/select', { messages, candidates }, { key: only });
      expect([refused.status, refused.body.error.code]).toEqual([403, 'forbidden']);
      const preferences = { min_context: 900_000_000 };
      const none = await post('/v1/router/select', { messages, preferences });
      expect([none.status, none.body.error.code]).toEqual([400, 'bad_request']);
      const bad = await post('/v1/router/select', { preferences: { optimize: 'luck' }, messages });
      expect([bad.status, bad.body.error.code]).toEqual([422, 'validation_error']);
    });
  });

  describe('model auto', () => {
    it('EVAL-01 answers with the model that was chosen', async () => {
      const chosen = (await post('/v1/router/select', { messages })).body.model;
      const { status, body } = await post('/v1/chat/completions', { ...hello('auto'), messages });
      expect([status, body.model]).toEqual([200, chosen]);
    });

    it('KEY-31 404 model_not_found where the key may call no candidate, and no model is called', async () => {
      const none = edge.addKey(
        testPrincipal('key_none', { access: [{ kind: 'key', allowed: ['openai/*'], blocked: null }] }),
      );
      const before = edge.upstream().length;
      const { status, body } = await post('/v1/chat/completions', hello('auto'), { key: none });
      expect([status, body.error.code]).toEqual([404, 'model_not_found']);
      expect(edge.upstream()).toHaveLength(before);
    });
  });

  describe('POST /v1/evaluate', () => {
    const criteria = [
      { name: 'correct', description: 'Is it right?', type: 'score', scale: { min: 1, max: 5 } },
      { name: 'polite', type: 'boolean' },
      { name: 'tone', type: 'category', categories: ['warm', 'cold'] },
    ];
    const asked = { input: 'What is 1 + 1?', output: '2', criteria };

    it('EVAL-03 EVAL-06 judges by each criterion; a scoped key needs evaluate:write', async () => {
      const { status, body } = await post('/v1/evaluate', { ...asked, model: 'simulator/chat' });
      expect([status, body.error ?? null]).toEqual([200, null]);
      expect(Object.keys(body)).toEqual([
        'id',
        'object',
        'created',
        'model',
        'score',
        'passed',
        'results',
        'usage',
      ]);
      expect(body).toMatchObject({
        object: 'evaluation',
        id: expect.stringMatching(/^eval_/),
        model: 'simulator/chat',
      });
      expect(body.results.map(({ name }: Json) => name)).toEqual(['correct', 'polite', 'tone']);
      expect(body.score).toBeGreaterThanOrEqual(0);
      expect(body.score).toBeLessThanOrEqual(1);
      const scoped = (permission: string): string =>
        edge.addKey(testPrincipal(`key_${permission}`, { permissions: [permission] }));
      const refused = await post('/v1/evaluate', asked, { key: scoped('inference:write') });
      expect([refused.status, refused.body.error.code]).toEqual([403, 'forbidden']);
      const admitted = await post(
        '/v1/evaluate',
        { ...asked, model: 'simulator/chat' },
        { key: scoped('evaluate:write') },
      );
      expect(admitted.status).toBe(200);
    });

    it.each<[string, object]>([
      ['a category without categories', { name: 'a', type: 'category' }],
      ['a scale upside down', { name: 'a', type: 'score', scale: { min: 2, max: 1 } }],
      ['an unknown type', { name: 'a', type: 'mood' }],
    ])('422 validation_error for %s', async (_what, criterion) => {
      const { status, body } = await post('/v1/evaluate', { ...asked, criteria: [criterion] });
      expect([status, body.error.code]).toEqual([422, 'validation_error']);
    });
  });
});
