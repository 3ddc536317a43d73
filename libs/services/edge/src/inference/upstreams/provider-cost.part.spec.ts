import { Inference, type InferenceCall, type ModelRecord } from '@gateway/contracts';
import { testModel, type Json } from '../../edge.fixture.js';
import { tenantOf } from '../../tenant.fixture.js';
import { PAID, priced, pricedAnswer, RECHARGED } from '../priced-upstream.fixture.js';
import { first, started } from './upstreams.fixture.js';

const edge = tenantOf(started, 'provider_cost');

const TALKS = ['chat', 'messages', 'responses'];
const hello = [{ role: 'user', content: 'Hello there' }];
const schema = {
  type: 'object',
  properties: { price: { type: 'number' }, cost_center: { type: 'string' } },
  required: ['price', 'cost_center'],
};
/** Half a second of silence. */
const WAV = Buffer.concat([
  Buffer.from('UklGRmQfAABXQVZFZm10IBAAAAABAAEAgD4AAAB9AAACABAAZGF0YYA+AAA=', 'base64'),
  Buffer.alloc(16_000),
]);
const metadata = { cost_center: 'x7' };
const PATHS: Record<string, { path: string; body: Json; tools: Json[] }> = {
  chat: {
    path: '/v1/chat/completions',
    body: { messages: hello, stream_options: { include_usage: true } },
    tools: [{ type: 'function', function: { name: 'buy', parameters: schema } }],
  },
  messages: {
    path: '/v1/messages',
    body: { max_tokens: 100, messages: hello },
    tools: [{ name: 'buy', input_schema: schema }],
  },
  responses: {
    path: '/v1/responses',
    body: { input: 'Hello there', metadata },
    tools: [{ type: 'function', name: 'buy', parameters: schema }],
  },
};

function priceless(id: string, upstreamModel: string, dialect: string, record: Partial<ModelRecord> = {}) {
  const provider = { messages: 'simulated-messages', gemini: 'google' }[dialect.split('-')[0]] ?? 'simulated';
  return testModel(id, [{ provider, upstreamModel, dialect }], record);
}

function talkers(dialect: string): ReturnType<typeof testModel>[] {
  const name = dialect === 'messages' ? 'sim-claude' : 'sim-chat';
  return [
    priceless(`priced/${dialect}`, name, dialect),
    priceless(`priced/${dialect}-tools`, `${name}-tools`, dialect),
    priceless(`priced/${dialect}-thinks`, `${name}-thinking`, dialect),
    priceless(`priced/${dialect}-fails`, `${name}:error=400`, dialect),
    priceless(`priced/${dialect}-breaks`, `${name}:inband=1;error=500`, dialect),
  ];
}

const KINDS = ['', '-tools', '-thinks', '-fails', '-breaks'];
const EVERY = TALKS.flatMap((dialect) =>
  KINDS.flatMap((kind) => Object.keys(PATHS).map((caller) => [`${dialect}${kind}`, caller] as const)),
);

describe('what a provider says it costs', () => {
  beforeAll(() => {
    first.answer = (seen) => pricedAnswer(edge.sim.url, seen);
    edge.serveModels(
      ...TALKS.flatMap(talkers),
      priceless('priced/lines', 'sim-chat', 'chat', { supports_batching: true }),
      priceless('priced/embedding', 'sim-embedding', 'embeddings', {
        model_type: 'embedding',
        supports_embeddings: true,
      }),
      priceless('priced/moderation', 'sim-moderation', 'moderations'),
      priceless('priced/rerank', 'sim-rerank', 'cohere-rerank', { output_modalities: ['rerank'] }),
      priceless('priced/image', 'sim-image', 'images', {
        model_type: 'image',
        supports_completions_api: false,
        input_modalities: ['text'],
        output_modalities: ['image'],
      }),
      priceless('priced/hears', 'sim-hear', 'transcriptions', {
        model_type: 'stt',
        supports_completions_api: false,
      }),
      priceless('priced/whisper', 'sim-whisper', 'whisper', {
        model_type: 'stt',
        supports_completions_api: false,
      }),
      priceless('priced/video', 'sim-video', 'openrouter-video', {
        model_type: 'video',
        supports_video_generation: true,
        output_modalities: ['video'],
      }),
    );
  });

  async function unpriced(answer: Response): Promise<string> {
    const text = await answer.text();
    expect(text).not.toContain(String(PAID));
    expect(JSON.stringify([...answer.headers])).not.toContain(String(PAID));
    return text;
  }

  describe.each([false, true])('stream: %s', (stream) => {
    it.each(EVERY)('USG-18 of %s reaches no caller of %s at any depth', async (model, caller) => {
      const { path, body, tools } = PATHS[caller];
      const { stream_options: options, ...rest } = body;
      const asked = {
        ...{ model: `priced/${model}`, stream, ...rest },
        ...(model.endsWith('-tools') && { tools }),
        ...(stream && options !== undefined && { stream_options: options }),
      };
      const answer = await edge.post(asked, { path });
      const text = await unpriced(answer);
      if (/-(?:fails|breaks)$/.test(model)) return expect(text).toContain('"error"');
      expect(answer.status).toBe(200);
      // What the model wrote, and what the caller did, names what it likes.
      if (model === `${caller}-tools`) expect(text).toMatch(/price.{1,4}:/);
      if (caller === 'responses') expect(text).toContain(JSON.stringify(metadata));
      if (model === caller) expect(text).toContain(JSON.stringify(RECHARGED).slice(1, -1));
    });
  });

  it.each([
    ['/v1/embeddings', { model: 'priced/embedding', input: 'a' }, true],
    ['/v1/moderations', { model: 'priced/moderation', input: 'a' }, false],
    ['/v1/rerank', { model: 'priced/rerank', query: 'fox', documents: ['A door', 'A fox'] }, false],
    ['/v1/images/generations', { model: 'priced/image', prompt: 'A fox' }, true],
    ['/v1/messages/count_tokens', { model: 'priced/messages', messages: hello }, false],
    ['/v1/responses/input_tokens', { model: 'priced/responses', input: 'a' }, false],
    ['/v1/chat/compare', { models: ['priced/chat', 'priced/messages'], messages: hello }, true],
  ])('USG-18 reaches no caller of %s', async (path, body, isCounted) => {
    const answer = await edge.post(body, { path });
    const text = await unpriced(answer);
    expect([answer.status, text]).toEqual([200, expect.anything()]);
    expect(text.includes('audio_recharge_tokens')).toBe(isCounted);
  });

  it.each([
    ['hears', 'json', false],
    ['whisper', 'verbose_json', false],
    ['hears', 'json', true],
  ])(
    'USG-18 reaches no caller of /v1/audio/transcriptions, %s, %s, stream %s',
    async (model, format, stream) => {
      const form = new FormData();
      const fields = { model: `priced/${model}`, response_format: format, stream: String(stream) };
      for (const [name, value] of Object.entries(fields)) form.append(name, value);
      form.append('file', new Blob([WAV], { type: 'audio/wav' }), 'a.wav');
      const answer = await fetch(`${edge.url}/v1/audio/transcriptions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${edge.key}` },
        body: form,
      });
      const text = await unpriced(answer);
      expect([answer.status, text]).toEqual([200, expect.anything()]);
    },
  );

  function call(path: string, body: Json, more: Partial<InferenceCall>): InferenceCall {
    return {
      ...{ key_id: edge.keyId, account_id: edge.accountId, request_id: `req_priced_${path}`, unit: 0 },
      ...{ recorded_path: path, endpoint: path, body, is_batch: false },
      ...more,
    };
  }

  it('USG-18 reaches no video task', async () => {
    const inference = edge.app.app.get(Inference);
    const body = { model: 'priced/video', prompt: 'A fox', duration: 4 };
    const asked = call('/v1/video/generations', body, { task: null });
    const begun = await inference.infer(asked);
    const made = await inference.infer({ ...asked, task: begun.body });
    expect(made.status).toBe(200);
    expect(JSON.stringify([begun, made])).not.toContain(String(PAID));
  });

  it('USG-18 reaches no line of a batch that its provider ran', async () => {
    const choices = [
      { index: 0, message: { role: 'assistant', content: 'Hi', refusal: null }, finish_reason: 'stop' },
    ];
    const counts = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
    const body = JSON.stringify(priced({ id: 'c', object: 'chat.completion', choices, usage: counts }));
    const asked = { model: 'priced/lines', messages: hello };
    const given = { credential: 'simulated', status: 200, body };
    const answer = await edge.app.app
      .get(Inference)
      .infer(call('/v1/chat/completions', asked, { is_batch: true, given }));
    expect(answer).toMatchObject({ status: 200, body: { usage: { ...counts, ...RECHARGED } } });
    expect(JSON.stringify(answer)).not.toContain(String(PAID));
  });
});
