import { Inference, type CatalogueModel, type PriceRecord } from '@gateway/contracts';
import {
  catalogueModel,
  freePorts,
  startUpstreamDouble,
  type ScriptedAnswer,
  type UpstreamDouble,
} from '@gateway/testing';
import { startEdge, type EdgeUnderTest, type Json } from '../edge.fixture.js';

const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const BY_IMAGE = ['0.04', '0.08'].map((usd) => ({ pricing_unit: 'per_image', image_usd_per_unit: usd }));
const BY_CHARACTER = ['15', '30'].map((usd) => ({
  ...{ pricing_unit: 'per_1m_characters', characters_usd_per_1m: usd },
}));
const BY_SECOND = ['0.01', '0.02'].map((usd) => ({ pricing_unit: 'per_second', video_usd_per_second: usd }));
/** Of each model, and what the simulator calls one that speaks it. */
const DIALECTS: Readonly<Record<string, readonly [string, string]>> = {
  painter: ['images', 'sim-image'],
  speaker: ['speech', 'tts-1-sim'],
  film: ['openrouter-video', 'sim-video'],
};
const PICTURES = { input_modalities: ['text', 'image'], output_modalities: ['image'] };
const VIDEO_PATH = '/v1/video/generations';

/** What is made, of which model, and the body that asks for it. */
const CREATES = [
  ['an image', 'acme/painter', '/v1/images/generations', { prompt: 'A fox' }],
  ['an edit of an image', 'acme/painter', '/v1/images/edits', { prompt: 'A fox', image: PIXEL }],
  ['speech', 'acme/speaker', '/v1/audio/speech', { input: 'A fox', voice: 'alloy' }],
  ['a video', 'acme/film', VIDEO_PATH, { prompt: 'A fox', duration: 2 }],
] as const;

const MAYBE_BEGUN: [string, ScriptedAnswer][] = [
  ['a 500', { status: 500, json: { error: { message: 'oops' } } }],
  ['a 502', { status: 502, json: {} }],
  ['a 503', { status: 503, json: {} }],
  ['a 504', { status: 504, json: {} }],
  ['a 529', { status: 529, json: {} }],
  ['a 408', { status: 408, json: {} }],
  ['a connection closed after the body was read', { fault: 'reset' }],
  ['a 200 that is no answer', { body: '<html>' }],
  ['an answer that breaks off', { pieces: ['{"data": ['], ending: 'reset' }],
];
const NOT_BEGUN: [string, ScriptedAnswer][] = [
  ['a 429', { status: 429, json: { error: { message: 'slow down' } } }],
  ['a 401', { status: 401, json: { error: { message: 'no' } } }],
  ['a 403', { status: 403, json: { error: { message: 'no' } } }],
];

/** Its first provider is the double; the second one, which is dearer, would serve. */
function maker(id: string, name: string, [price, dear]: PriceRecord[], record: Json): CatalogueModel {
  const [dialect, simulated] = DIALECTS[id];
  const route = { dialect, maxOutputTokens: null };
  return catalogueModel(
    `acme/${id}`,
    [
      { ...route, provider: 'openai', upstreamModel: name, price },
      { ...route, provider: 'simulated', upstreamModel: simulated, price: dear },
    ],
    { supports_completions_api: false, pricing: price, ...record },
  );
}

/** A provider's own name of a model is new for each case: what failed in one opens no breaker in the next. */
function makers(name: string): CatalogueModel[] {
  return [
    maker('painter', name, BY_IMAGE, { model_type: 'image', ...PICTURES, supports_image_edit: true }),
    maker('speaker', name, BY_CHARACTER, { model_type: 'tts' }),
    maker('film', name, BY_SECOND, {
      ...{ model_type: 'video', output_modalities: ['video'], supports_video_generation: true },
    }),
  ];
}

describe('what its provider may charge for once it has begun', () => {
  let edge: EdgeUnderTest;
  let provider: UpstreamDouble;
  let unreachable: EdgeUnderTest;
  let count = 0;

  beforeAll(async () => {
    provider = await startUpstreamDouble();
    edge = await startEdge({ upstreams: async () => ({ openai: provider.url }) });
    const [port] = await freePorts(1);
    unreachable = await startEdge({ upstreams: async () => ({ openai: `http://127.0.0.1:${port}` }) });
  });
  beforeEach(() => {
    count += 1;
    edge.serveModels(...makers(`made-${count}`));
    unreachable.serveModels(...makers(`made-${count}`));
    provider.seen.length = 0;
    edge.sim.reset();
  });
  afterAll(async () => {
    await edge.close();
    await unreachable.close();
    await provider.close();
  });

  async function create(model: string, path: string, body: object, at = edge): Promise<Answered> {
    if (path !== VIDEO_PATH) {
      const answer = await at.post({ model, ...body }, { path });
      await answer.arrayBuffer();
      return { status: answer.status, record: await at.record(answer) };
    }
    const call = {
      ...{ key_id: 'key_test', account_id: 'acct_test', request_id: `req_made_${count}`, unit: 0 },
      ...{ recorded_path: path, endpoint: path, body: { model, ...body }, is_batch: false, task: null },
    };
    const { status } = await at.app.app.get(Inference).infer(call);
    return { status, record: status === 202 ? null : await at.record(call.request_id) };
  }

  describe.each(CREATES)('%s', (_what, model, path, body) => {
    it.each(MAYBE_BEGUN)('is sent once where %s leaves open whether it was begun', async (_name, answer) => {
      provider.answer = () => answer;
      const { status, record } = await create(model, path, body);
      expect(status).toBeGreaterThanOrEqual(500);
      expect(provider.seen).toHaveLength(1);
      expect(edge.upstream()).toHaveLength(0);
      expect(record).toMatchObject({ outcome: 'failed', cost_usd: null, attempts: [{ n: 1 }] });
      expect((record?.attempts as Json[])[0]).not.toHaveProperty('not_begun');
    });

    it.each(NOT_BEGUN)(
      'is made by another provider after %s, and the record says why',
      async (_name, answer) => {
        provider.answer = () => answer;
        const { status, record } = await create(model, path, body);
        expect(status).toBeLessThan(300);
        expect(provider.seen).toHaveLength(1);
        expect(edge.upstream().length).toBeGreaterThan(0);
        if (record) expect(record.attempts).toMatchObject([{ not_begun: 'refused' }, { served: true }]);
      },
    );

    it('is tried again, and made elsewhere, where no connection was made', async () => {
      const { status, record } = await create(model, path, body, unreachable);
      expect(status).toBeLessThan(300);
      if (record)
        expect((record.attempts as Json[]).map(({ not_begun }) => not_begun)).toEqual([
          ...Array.from({ length: (record.attempts as Json[]).length - 1 }, () => 'not_connected'),
          undefined,
        ]);
    });
  });
});

interface Answered {
  status: number;
  /** Null while a video is being made. */
  record: Json | null;
}
