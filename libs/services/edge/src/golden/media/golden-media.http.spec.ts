import type { CatalogueModel, ModelRecord, PriceRecord } from '@gateway/contracts';
import { goldenAnswer, goldenAnswers, GOLDEN_VERSIONS, silentWav } from '@gateway/testing';
import { startEdge, testModel, testPrincipal, type EdgeUnderTest, type Json } from '../../edge.fixture.js';

const PNG =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAAC0lEQVR42mNgAAIAAAUAAen63NgAAAAASUVORK5CYII=';
const BY_IMAGE: PriceRecord = { pricing_unit: 'per_image', image_usd_per_unit: '0.04' };
const BY_MINUTE: PriceRecord = { pricing_unit: 'per_minute', audio_usd_per_minute: '0.006' };
const BY_CHARACTER: PriceRecord = { pricing_unit: 'per_1m_characters', characters_usd_per_1m: '15' };
const BY_SEARCH: PriceRecord = { pricing_unit: 'per_1k_searches', search_usd_per_1k: '8' };

/** A model of one route that is no text model. */
function made(
  id: string,
  {
    provider = 'simulated',
    upstreamModel,
    dialect,
  }: { provider?: string; upstreamModel: string; dialect: string },
  price: PriceRecord,
  record: Partial<ModelRecord>,
): CatalogueModel {
  const model = testModel(id, [{ provider, upstreamModel, dialect }], {
    supports_completions_api: false,
    pricing: price,
    ...record,
  });
  return { ...model, routes: model.routes.map((route) => ({ ...route, price, maxOutputTokens: null })) };
}

const MODELS = [
  made('golden/image', { upstreamModel: 'sim-image', dialect: 'images' }, BY_IMAGE, {
    model_type: 'image',
    output_modalities: ['image'],
    supports_image_edit: true,
  }),
  made('golden/speech', { upstreamModel: 'tts-1-sim', dialect: 'speech' }, BY_CHARACTER, {
    model_type: 'tts',
  }),
  made('golden/whisper', { upstreamModel: 'sim-whisper', dialect: 'whisper' }, BY_MINUTE, {
    model_type: 'stt',
  }),
  made('golden/transcribe', { upstreamModel: 'sim-tokens', dialect: 'transcriptions' }, BY_MINUTE, {
    model_type: 'stt',
  }),
  made(
    'gateway/web-search',
    { provider: 'tavily', upstreamModel: 'search', dialect: 'tavily-search' },
    BY_SEARCH,
    { output_modalities: ['search_results'] },
  ),
  testModel('golden/translator', [{ provider: 'simulated', upstreamModel: 'sim-chat:text=Bonjour' }]),
];

/** A form with a recording. */
function form(fields: Record<string, string>, file: Uint8Array | null = silentWav(2)): FormData {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  if (file !== null) body.append('file', new Blob([file], { type: 'audio/wav' }), 'a.wav');
  return body;
}

const image = { model: 'golden/image', prompt: 'A red fox' };
const speech = { model: 'golden/speech', input: 'Hello there', voice: 'alloy', response_format: 'wav' };
const search = { model: 'gateway/web-search', query: 'red foxes', max_results: 2 };
const GENERATIONS = '/v1/images/generations';
const TRANSCRIPTIONS = '/v1/audio/transcriptions';

const CASES: Record<string, [path: string, body: Json | FormData]> = {
  images: [GENERATIONS, { ...image, n: 2, quality: 'low', response_format: 'b64_json' }],
  'images-by-address': [GENERATIONS, { ...image, response_format: 'url' }],
  'images-invalid': [GENERATIONS, { model: 'golden/image' }],
  'images-of-no-painter': [GENERATIONS, { ...image, model: 'simulator/chat' }],
  'image-edits': ['/v1/images/edits', { ...image, image: PNG, response_format: 'b64_json' }],
  'image-edits-invalid': ['/v1/images/edits', image],
  speech: ['/v1/audio/speech', speech],
  'speech-invalid': ['/v1/audio/speech', { model: 'golden/speech', input: 'Hello there' }],
  transcriptions: [TRANSCRIPTIONS, form({ model: 'golden/whisper' })],
  'transcriptions-verbose': [
    TRANSCRIPTIONS,
    form({ model: 'golden/whisper', response_format: 'verbose_json' }),
  ],
  'transcriptions-text': [TRANSCRIPTIONS, form({ model: 'golden/whisper', response_format: 'text' })],
  'transcriptions-srt': [TRANSCRIPTIONS, form({ model: 'golden/whisper', response_format: 'srt' })],
  'transcriptions-stream': [TRANSCRIPTIONS, form({ model: 'golden/transcribe', stream: 'true' })],
  'transcriptions-invalid': [TRANSCRIPTIONS, form({ model: 'golden/whisper' }, null)],
  translations: ['/v1/audio/translations', form({ model: 'golden/whisper' })],
  'transcriptions-translate': [
    `${TRANSCRIPTIONS}/translate`,
    form({ model: 'golden/whisper', target_language: 'fr', translation_model: 'golden/translator' }),
  ],
  'web-search': ['/v1/web/search', search],
  'web-search-invalid': ['/v1/web/search', { model: 'gateway/web-search' }],
};

let edge: EdgeUnderTest;
let key: string;
beforeAll(async () => {
  edge = await startEdge({
    models: MODELS,
    upstreams: (sim) => Promise.resolve({ tavily: sim.url }),
  });
  key = edge.addKey(testPrincipal('key_golden', { routingPolicy: { max_retries: 0 } }));
});
afterAll(() => edge.close());

describe.each(GOLDEN_VERSIONS)('the golden answers of images, audio and search of %s', (version) => {
  const golden = goldenAnswers('libs/services/edge/src/golden/media', version);
  afterAll(() => golden.save());

  it.each(Object.entries(CASES))('VER-23 %s', async (name, [path, body]) => {
    const isForm = body instanceof FormData;
    const answer = await fetch(`${edge.url}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'x-service-version': version,
        ...(isForm ? {} : { 'content-type': 'application/json' }),
      },
      body: isForm ? body : JSON.stringify(body),
    });
    const answered = await goldenAnswer(answer);
    const kept = golden.of(name, answered);
    // Members may be added, so the files hold the least that is answered.
    expect(kept).toBeDefined();
    expect(answered).toMatchObject(kept as Json);
  });
});
