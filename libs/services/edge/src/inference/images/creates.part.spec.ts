import { Inference, type CatalogueModel, type PriceRecord } from '@gateway/contracts';
import { catalogueModel, type ScriptedAnswer } from '@gateway/testing';
import type { Json } from '../../edge.fixture.js';
import { tenantOf } from '../../tenant.fixture.js';
import { maker, started, UNREACHABLE } from './images.fixture.js';

const edge = tenantOf(started, 'creates');

const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const BY_IMAGE = ['0.04', '0.08'].map((usd) => ({ pricing_unit: 'per_image', image_usd_per_unit: usd }));
const BY_CHARACTER = ['15', '30'].map((usd) => ({
  ...{ pricing_unit: 'per_1m_characters', characters_usd_per_1m: usd },
}));
const BY_SECOND = ['0.01', '0.02'].map((usd) => ({ pricing_unit: 'per_second', video_usd_per_second: usd }));
/** Dialect of each model, and the simulator's name of one that speaks it. */
const DIALECTS: Readonly<Record<string, readonly [string, string]>> = {
  painter: ['images', 'sim-image'],
  speaker: ['speech', 'tts-1-sim'],
  film: ['openrouter-video', 'sim-video'],
};
const PICTURES = { input_modalities: ['text', 'image'], output_modalities: ['image'] };
const VIDEO_PATH = '/v1/video/generations';

/** Creates by model, each with its body. */
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

/** The first of its routes is at the named provider; the second one, which is dearer, would serve. */
function made(
  id: string,
  provider: string,
  name: string,
  [price, dear]: PriceRecord[],
  record: Json,
): CatalogueModel {
  const [dialect, simulated] = DIALECTS[id];
  const route = { dialect, maxOutputTokens: null };
  return catalogueModel(
    `acme/${id}`,
    [
      { ...route, provider, upstreamModel: name, price },
      { ...route, provider: 'simulated', upstreamModel: simulated, price: dear },
    ],
    { supports_completions_api: false, pricing: price, ...record },
  );
}

/** A provider's own name of a model is new for each case: what failed in one opens no breaker in the next. */
function makers(name: string, provider: string): CatalogueModel[] {
  return [
    made('painter', provider, name, BY_IMAGE, {
      model_type: 'image',
      ...PICTURES,
      supports_image_edit: true,
    }),
    made('speaker', provider, name, BY_CHARACTER, { model_type: 'tts' }),
    made('film', provider, name, BY_SECOND, {
      ...{ model_type: 'video', output_modalities: ['video'], supports_video_generation: true },
    }),
  ];
}

describe('what its provider may charge for once it has begun', () => {
  let count = 0;

  beforeEach(() => {
    count += 1;
    edge.serveModels(...makers(`made-${count}`, 'openai'));
    maker.seen.length = 0;
    edge.sim.reset();
  });

  async function create(model: string, path: string, body: object): Promise<Answered> {
    if (path !== VIDEO_PATH) {
      const answer = await edge.post({ model, ...body }, { path });
      await answer.arrayBuffer();
      return { status: answer.status, record: await edge.record(answer) };
    }
    const call = {
      ...{ key_id: edge.keyId, account_id: edge.accountId, request_id: `req_made_${count}`, unit: 0 },
      ...{ recorded_path: path, endpoint: path, body: { model, ...body }, is_batch: false, task: null },
    };
    const { status } = await edge.app.app.get(Inference).infer(call);
    return { status, record: status === 202 ? null : await edge.record(call.request_id) };
  }

  describe.each(CREATES)('%s', (_what, model, path, body) => {
    it.each(MAYBE_BEGUN)('is sent once where %s leaves open whether it was begun', async (_name, answer) => {
      maker.answer = () => answer;
      const { status, record } = await create(model, path, body);
      expect(status).toBeGreaterThanOrEqual(500);
      expect(maker.seen).toHaveLength(1);
      expect(edge.upstream()).toHaveLength(0);
      expect(record).toMatchObject({ outcome: 'failed', cost_usd: null, attempts: [{ n: 1 }] });
      expect((record?.attempts as Json[])[0]).not.toHaveProperty('not_begun');
    });

    it.each(NOT_BEGUN)(
      'is made by another provider after %s, and the record says why',
      async (_name, answer) => {
        maker.answer = () => answer;
        const { status, record } = await create(model, path, body);
        expect(status).toBeLessThan(300);
        expect(maker.seen).toHaveLength(1);
        expect(edge.upstream().length).toBeGreaterThan(0);
        if (record) expect(record.attempts).toMatchObject([{ not_begun: 'refused' }, { served: true }]);
      },
    );

    it('is tried again, and made elsewhere, where no connection was made', async () => {
      edge.serveModels(...makers(`made-${count}`, UNREACHABLE));
      const { status, record } = await create(model, path, body);
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
