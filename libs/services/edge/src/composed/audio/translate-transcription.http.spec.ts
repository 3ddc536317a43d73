import type { CatalogueModel } from '@gateway/contracts';
import { eventually, silentWav } from '@gateway/testing';
import { startEdge, testModel, type EdgeUnderTest, type Json } from '../../edge.fixture.js';

const PRICE = { pricing_unit: 'per_minute', audio_usd_per_minute: '0.006' };

function hearing(id: string, dialect: string): CatalogueModel {
  const made = testModel(id, [{ provider: 'simulated', upstreamModel: 'sim-whisper', dialect }], {
    model_type: 'stt',
    supports_completions_api: false,
  });
  return { ...made, routes: made.routes.map((route) => ({ ...route, maxOutputTokens: null, price: PRICE })) };
}

describe('POST /v1/audio/transcriptions/translate', () => {
  let edge: EdgeUnderTest;

  beforeAll(async () => {
    edge = await startEdge({
      models: [
        hearing('acme/whisper', 'whisper'),
        hearing('acme/untimed', 'transcriptions'),
        testModel('acme/translator', [{ provider: 'simulated', upstreamModel: 'sim-chat:text=Bonjour' }]),
        testModel('acme/structured', [{ provider: 'simulated', upstreamModel: 'sim-chat' }], {
          supports_structured_output: true,
        }),
        testModel('acme/broken', [{ provider: 'simulated', upstreamModel: 'sim-chat:error=400' }]),
      ],
    });
  });
  afterAll(() => edge.close());
  beforeEach(() => edge.sim.reset());

  function send(fields: Record<string, string>): Promise<Response> {
    const form = new FormData();
    form.append('model', 'acme/whisper');
    for (const [name, value] of Object.entries(fields)) form.set(name, value);
    form.append('file', new Blob([silentWav(2)], { type: 'audio/wav' }), 'a.wav');
    const headers = { authorization: `Bearer ${edge.key}` };
    return fetch(`${edge.url}/v1/audio/transcriptions/translate`, { method: 'POST', headers, body: form });
  }

  function records(answer: Response): Promise<Json[]> {
    const id = answer.headers.get('x-request-id');
    return eventually(() => {
      const found = edge.shipped().filter(({ request_id }) => request_id === id);
      return found.length === 2 ? found.sort((a, b) => Number(a.unit) - Number(b.unit)) : null;
    });
  }

  it('AUD-04 answers what was said and its translation, each a unit of its own price', async () => {
    const answer = await send({ target_language: 'fr', translation_model: 'acme/translator' });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({
      text: 'Bonjour',
      source_text: expect.stringMatching(/^A recording of/),
      target_language: 'fr',
      usage: { transcription: { type: 'duration' }, translation: { completion_tokens: 2 } },
    });
    const path = '/v1/audio/transcriptions/translate';
    expect(await records(answer)).toMatchObject([
      { unit: 0, endpoint: path, model: 'acme/whisper', outcome: 'served' },
      { unit: 1, endpoint: path, model: 'acme/translator', outcome: 'served' },
    ]);
    const [heard, translated] = edge.upstream();
    expect(heard.body).not.toContain('target_language');
    expect(translated.body).toContain('into fr');
  });

  it.each([
    ['text', /^Bonjour\n$/],
    ['srt', /^1\n00:00:00,000 --> 00:00:\d\d,000\n.+\n\n$/],
    ['vtt', /^WEBVTT\n\n00:00:00\.000 --> /],
  ])('AUD-04 AUD-06 answers in %s', async (format, expected) => {
    const model = format === 'text' ? 'acme/translator' : 'acme/structured';
    const answer = await send({ response_format: format, translation_model: model });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toContain('text/plain');
    expect(await answer.text()).toMatch(expected);
  });

  it('AUD-04 AUD-06 names the language that was heard, else the one that the caller names, else none', async () => {
    const of = async (fields: Record<string, string>): Promise<unknown> => {
      const answer = await send({ translation_model: 'acme/translator', ...fields });
      return ((await answer.json()) as Json).source_language;
    };
    expect(await of({})).toBe('english');
    expect(await of({ model: 'acme/untimed', language: 'de' })).toBe('de');
    expect(await of({ model: 'acme/untimed' })).toBeNull();
  });

  it('AUD-04 AUD-06 keeps the text of each segment beside its translation', async () => {
    const answer = await send({ response_format: 'verbose_json', translation_model: 'acme/structured' });
    const { segments, source_language: language } = (await answer.json()) as {
      segments: Json[];
      source_language: string;
    };
    expect(language).toBe('english');
    expect(segments).toMatchObject([{ start: 0, source_text: expect.stringMatching(/^A recording/) }]);
  });

  it('AUD-04 translates segments where the caller asks for times of words, which have none', async () => {
    const fields = { response_format: 'vtt', 'timestamp_granularities[]': 'word' };
    const answer = await send({ ...fields, translation_model: 'acme/structured' });
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringMatching(/^WEBVTT/)]);
    expect(edge.upstream()[0].body).not.toContain('timestamp_granularities');
  });

  it.each([
    [{ target_language: 'français' }, 422],
    [{ response_format: 'diarized_json' }, 422],
    [{ translation_model: 'acme/none' }, 404],
    [{ model: 'acme/translator', translation_model: 'acme/translator' }, 400],
    [{ model: 'acme/untimed', translation_model: 'acme/structured', response_format: 'srt' }, 400],
  ])('AUD-04 refuses %j with %i, and nobody is asked', async (fields, status) => {
    expect((await send(fields)).status).toBe(status);
    expect(edge.upstream()).toHaveLength(0);
  });

  it('AUD-04 a transcription whose translation fails is paid for alone', async () => {
    const answer = await send({ translation_model: 'acme/broken' });
    expect(answer.status).toBe(400);
    const [heard, translated] = await records(answer);
    expect(heard.cost_usd).not.toBeNull();
    expect(translated).toMatchObject({ outcome: 'failed', cost_usd: null });
  });
});
