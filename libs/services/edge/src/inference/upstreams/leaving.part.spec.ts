import type { ModelRecord } from '@gateway/contracts';
import { eventually, silentWav } from '@gateway/testing';
import { testModel, type Json } from '../../edge.fixture.js';
import { tenantOf } from '../../tenant.fixture.js';
import { first, started } from './upstreams.fixture.js';

const edge = tenantOf(started, 'leaving');

const PNG =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAAC0lEQVR42mNgAAIAAAUAAen63NgAAAAASUVORK5CYII=';
const messages = [{ role: 'user', content: 'Hello there' }];
const MADE: Partial<ModelRecord> = { supports_completions_api: false };
const prompt = { model: 'leave/painter', prompt: 'A red fox' };

const model = (name: string, dialect: string, record: Partial<ModelRecord> = {}, provider = 'simulated') =>
  testModel(name, [{ provider, upstreamModel: 'silent', dialect }], record);

const MODELS = [
  model('leave/chat', 'chat', { supports_structured_output: true }),
  model('leave/claude', 'messages', {}, 'simulated-messages'),
  model('leave/vector', 'embeddings', { ...MADE, model_type: 'embedding', supports_embeddings: true }),
  model('leave/painter', 'images', {
    ...MADE,
    model_type: 'image',
    output_modalities: ['image'],
    supports_image_edit: true,
  }),
  model('leave/speaker', 'speech', { ...MADE, model_type: 'tts' }),
  model('leave/ear', 'whisper', { ...MADE, model_type: 'stt' }),
  model('leave/judge', 'moderations', MADE),
  model('leave/order', 'rerank', { ...MADE, output_modalities: ['rerank'] }),
  model('gateway/web-search', 'tavily-search', { ...MADE, output_modalities: ['search_results'] }, 'tavily'),
];

function recording(fields: Record<string, string>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append('file', new Blob([silentWav(2)], { type: 'audio/wav' }), 'a.wav');
  return form;
}

const CASES: [path: string, body: Json | FormData, calls?: number][] = [
  ['/v1/chat/completions', { model: 'leave/chat', messages }],
  ['/v1/chat/completions', { model: 'leave/chat', messages, stream: true }],
  ['/v1/chat/compare', { models: ['leave/chat', 'leave/claude'], messages }, 2],
  ['/v1/messages', { model: 'leave/claude', max_tokens: 9, messages }],
  ['/v1/messages', { model: 'leave/chat', max_tokens: 9, messages, stream: true }],
  ['/v1/responses', { model: 'leave/chat', input: 'Hello there', store: false }],
  ['/v1/responses', { model: 'leave/claude', input: 'Hello there', store: false, stream: true }],
  ['/v1/embeddings', { model: 'leave/vector', input: 'Hello there' }],
  ['/v1/images/generations', prompt],
  ['/v1/images/edits', { ...prompt, image: PNG }],
  ['/v1/audio/speech', { model: 'leave/speaker', input: 'Hello there', voice: 'alloy' }],
  ['/v1/audio/transcriptions', recording({ model: 'leave/ear' })],
  ['/v1/audio/translations', recording({ model: 'leave/ear' })],
  [
    '/v1/audio/transcriptions/translate',
    recording({ model: 'leave/ear', target_language: 'fr', translation_model: 'leave/chat' }),
  ],
  ['/v1/moderations', { model: 'leave/judge', input: 'Hello there' }],
  ['/v1/rerank', { model: 'leave/order', query: 'fox', documents: ['A door', 'A fox'] }],
  ['/v1/web/search', { model: 'gateway/web-search', query: 'red foxes' }],
];

/** Suite that shows that no endpoint forgets to abort; `npm run bench -- --only left` measures how fast. */
describe('U11 a caller that leaves a provider that says nothing', () => {
  beforeAll(() => {
    first.answer = () => ({ fault: 'silence' });
    edge.serveModels(...MODELS);
  });

  it.each(CASES)('closes what %s has asked for (%#)', async (path, body, calls = 1) => {
    const caller = new AbortController();
    const isForm = body instanceof FormData;
    const asked = fetch(`${edge.url}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${edge.key}`,
        ...(isForm ? {} : { 'content-type': 'application/json' }),
      },
      body: isForm ? body : JSON.stringify(body),
      signal: caller.signal,
    }).then(
      async (answer) => `${answer.status} ${await answer.text()}`,
      (error: Error) => error.name,
    );
    // An answer would be a rejection: what was wrong with the request is shown then.
    const early = await Promise.race([asked, eventually(() => first.open() === calls)]);
    expect(early).toBe(true);
    caller.abort();
    expect(await asked).toBe('AbortError');
    await eventually(() => first.open() === 0);
  });
});
