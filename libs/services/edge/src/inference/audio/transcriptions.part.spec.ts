import OpenAI, { toFile } from 'openai';
import EarlierOpenAI from 'openai-6';
import type { CatalogueModel, PriceRecord } from '@gateway/contracts';
import type { ScriptedAnswer } from '@gateway/testing';
import { silentWav } from '@gateway/testing';
import { testModel } from '../../edge.fixture.js';
import { tenantOf } from '../../tenant.fixture.js';
import { openai, started } from './audio.fixture.js';

const edge = tenantOf(started, 'transcriptions');

const BY_MINUTE: PriceRecord = { pricing_unit: 'per_minute', audio_usd_per_minute: '0.006' };
const BY_TOKEN: PriceRecord = {
  audio_input_usd_per_1m: '6',
  prompt_usd_per_1m: '2.5',
  completion_usd_per_1m: '10',
};

const WAV = silentWav(2);

function model(
  id: string,
  dialect: string,
  upstreamModel: string,
  price: PriceRecord,
  provider = 'simulated',
): CatalogueModel {
  const made = testModel(id, [{ provider, upstreamModel }], {
    model_type: 'stt',
    supports_completions_api: false,
    pricing: price,
  });
  return {
    ...made,
    routes: made.routes.map((route) => ({ ...route, dialect, maxOutputTokens: null, price })),
  };
}

describe('POST /v1/audio/transcriptions and /v1/audio/translations', () => {
  /** Has heard eleven days in whatever it is sent. */
  const longWinded = (): ScriptedAnswer => ({
    json: { text: 'Hello', usage: { type: 'duration', seconds: 950_000 } },
  });

  beforeAll(() => {
    openai.answer = longWinded;
    edge.serveModels(
      model('acme/whisper', 'whisper', 'sim-whisper', BY_MINUTE),
      model('acme/tokens', 'transcriptions', 'sim-tokens', BY_TOKEN),
      model('acme/long-winded', 'transcriptions', 'gpt-transcribe', BY_MINUTE, 'openai'),
      model('acme/own', 'deepgram', 'sim-nova', BY_MINUTE),
      model('acme/grok', 'xai-transcriptions', 'sim-grok', BY_MINUTE),
      testModel('acme/chat', [{ provider: 'simulated', upstreamModel: 'sim' }]),
    );
  });

  function send(
    path: string,
    fields: Record<string, string>,
    file: Uint8Array | null = WAV,
  ): Promise<Response> {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    if (file !== null) form.append('file', new Blob([file], { type: 'audio/wav' }), 'a.wav');
    return fetch(`${edge.url}/v1/audio/${path}`, {
      method: 'POST',
      body: form,
      headers: { authorization: `Bearer ${edge.key}` },
    });
  }

  it.each([
    ['openai 7', OpenAI],
    ['openai 6', EarlierOpenAI as unknown as typeof OpenAI],
  ])(
    'AUD-01 AUD-05 AUD-06 %s gets text of its own language, English, every format and a stream',
    async (_sdk, Sdk) => {
      const { audio } = new Sdk({ baseURL: `${edge.url}/openai/v1`, apiKey: edge.key, maxRetries: 0 });
      const file = await toFile(WAV, 'a.wav', { type: 'audio/wav' });
      const of = { file, model: 'acme/whisper' };
      expect((await audio.transcriptions.create(of)).text).toBe('A recording of 16044 bytes.');
      expect((await audio.translations.create(of)).text).toBe('In English: a recording of 16044 bytes.');
      const srt = await audio.transcriptions.create({ ...of, response_format: 'srt' });
      expect(srt).toMatch(/^1\n00:00:00,000 --> .*\nA recording/);
      const verbose = await audio.transcriptions.create({ ...of, response_format: 'verbose_json' });
      expect(verbose).toMatchObject({ language: 'english', segments: [{ id: 0 }] });
      // What OpenAI's schema requires of a segment: strict clients refuse one without.
      const required = [
        'avg_logprob',
        'compression_ratio',
        'no_speech_prob',
        'seek',
        'temperature',
        'tokens',
      ];
      expect(Object.keys(verbose.segments?.[0] ?? {})).toEqual(expect.arrayContaining(required));
      const stream = await audio.transcriptions.create({ file, model: 'acme/tokens', stream: true });
      const types: string[] = [];
      for await (const event of stream) types.push(event.type);
      expect([new Set(types), types.at(-1)]).toEqual([
        new Set(['transcript.text.delta', 'transcript.text.done']),
        'transcript.text.done',
      ]);
    },
  );

  it('AUD-06 text is text, and diarized_json is refused by the parameter where the model has none', async () => {
    const text = await send('transcriptions', { model: 'acme/tokens', response_format: 'text' });
    expect([text.headers.get('content-type'), await text.text()]).toEqual([
      'text/plain; charset=utf-8',
      'A recording of 16044 bytes.\n',
    ]);
    const refused = await send('transcriptions', { model: 'acme/whisper', response_format: 'diarized_json' });
    expect([refused.status, ((await refused.json()) as { error: unknown }).error]).toEqual([
      400,
      expect.objectContaining({ code: 'unsupported_operation', param: 'response_format' }),
    ]);
  });

  it('bills the seconds that the provider reports, the measured ones of subtitles, and tokens where it counts those', async () => {
    const json = await send('transcriptions', { model: 'acme/whisper' });
    await json.text();
    expect(await edge.record(json)).toMatchObject({
      endpoint: '/v1/audio/transcriptions',
      usage: { audio_seconds: '9' },
      cost_usd: '0.0009',
      usage_estimated: false,
    });
    const vtt = await send('translations', { model: 'acme/whisper', response_format: 'vtt' });
    expect(await vtt.text()).toContain('WEBVTT');
    expect(await edge.record(vtt)).toMatchObject({ usage: { audio_seconds: '2' }, cost_usd: '0.0002' });
    const tokens = await send('transcriptions', { model: 'acme/tokens' });
    await tokens.text();
    expect(await edge.record(tokens)).toMatchObject({
      usage: { prompt_tokens: 90, audio_input_tokens: 90, completion_tokens: 5 },
      cost_usd: '0.00059',
    });
  });

  it('bills the measured seconds where those of the provider cannot be', async () => {
    const answer = await send('transcriptions', { model: 'acme/long-winded' });
    expect(answer.status).toBe(200);
    await answer.text();
    expect(await edge.record(answer)).toMatchObject({ usage: { audio_seconds: '2' }, cost_usd: '0.0002' });
  });

  it('AUD-05 AUD-06 a format of the provider’s own becomes every format of the caller’s, and a stream', async () => {
    const { audio } = new OpenAI({ baseURL: `${edge.url}/openai/v1`, apiKey: edge.key, maxRetries: 0 });
    const file = await toFile(WAV, 'a.wav', { type: 'audio/wav' });
    const of = { file, model: 'acme/own' };
    expect((await audio.transcriptions.create(of)).text).toBe('A recording of 16044 bytes. It ends here.');
    const srt = await audio.transcriptions.create({ ...of, response_format: 'srt' });
    expect(srt).toBe(
      '1\n00:00:00,000 --> 00:00:04,500\nA recording of 16044 bytes.\n\n2\n00:00:05,000 --> 00:00:07,500\nIt ends here.\n\n',
    );
    const speakers = await audio.transcriptions.create({ ...of, response_format: 'diarized_json' });
    expect((speakers as unknown as { segments: { speaker: string }[] }).segments).toMatchObject([
      { speaker: 'A', text: 'A recording of 16044 bytes.' },
      { speaker: 'B', text: 'It ends here.' },
    ]);
    const verbose = await audio.transcriptions.create({
      ...of,
      response_format: 'verbose_json',
      timestamp_granularities: ['word'],
    });
    expect(verbose.words).toHaveLength(8);
    const types: string[] = [];
    for await (const event of await audio.transcriptions.create({ ...of, stream: true }))
      types.push(event.type);
    expect(types).toEqual(['transcript.text.delta', 'transcript.text.done']);
  });

  it('AUD-03 bills what the provider of an own format reports, names what it ignores, and translates nothing', async () => {
    const json = await send('transcriptions', { model: 'acme/own', prompt: 'A test.' });
    expect(json.headers.get('x-service-ignored-params')).toBe('prompt');
    await json.text();
    expect(await edge.record(json)).toMatchObject({
      usage: { audio_seconds: '9' },
      cost_usd: '0.0009',
      usage_estimated: false,
    });
    const refused = await send('translations', { model: 'acme/own' });
    expect(refused.status).toBe(422);
  });

  it('AUD-05 AUD-06 writes what xAI hears in every format, billed by the seconds that it reports', async () => {
    const json = await send('transcriptions', { model: 'acme/grok', language: 'de', temperature: '0.5' });
    expect(json.headers.get('x-service-ignored-params')).toBe('temperature');
    expect(await json.json()).toMatchObject({
      ...{ text: 'A recording of 16044 bytes.', usage: { type: 'duration', seconds: 9 } },
    });
    expect(await edge.record(json)).toMatchObject({
      ...{ usage: { audio_seconds: '9' }, cost_usd: '0.0009', usage_estimated: false },
    });
    const [{ body }] = edge.sim.requests().slice(-1);
    expect(body.indexOf('name="file"')).toBeGreaterThan(body.indexOf('name="format"'));
    const speakers = await send('transcriptions', { model: 'acme/grok', response_format: 'diarized_json' });
    expect(await speakers.json()).toMatchObject({
      segments: [
        { speaker: 'A', text: 'A recording of 16044' },
        { speaker: 'B', text: 'bytes.' },
      ],
    });
    const vtt = await send('transcriptions', { model: 'acme/grok', response_format: 'vtt' });
    expect(await vtt.text()).toBe('WEBVTT\n\n00:00:00.000 --> 00:00:04.500\nA recording of 16044 bytes.\n\n');
    expect((await send('translations', { model: 'acme/grok' })).status).toBe(422);
  });

  it.each([
    ['without a model', 'translations', {}, WAV, 422, 'validation_error', 'model'],
    [
      'a model without translation',
      'translations',
      { model: 'acme/tokens' },
      WAV,
      422,
      'validation_error',
      'model',
    ],
    [
      'a model that hears nothing',
      'translations',
      { model: 'acme/chat' },
      WAV,
      422,
      'validation_error',
      'model',
    ],
    [
      'a model that hears nothing',
      'transcriptions',
      { model: 'acme/chat' },
      WAV,
      400,
      'model_capability_not_supported',
      'model',
    ],
    ['no file', 'transcriptions', { model: 'acme/whisper' }, null, 422, 'validation_error', 'file'],
    [
      'no audio',
      'transcriptions',
      { model: 'acme/whisper' },
      Buffer.from('text'),
      400,
      'invalid_input',
      'file',
    ],
    [
      '25 MiB and more',
      'transcriptions',
      { model: 'acme/whisper' },
      Buffer.concat([WAV, Buffer.alloc(25 * 1_048_576)]),
      422,
      'validation_error',
      'file',
    ],
    [
      'a temperature of 2',
      'transcriptions',
      { model: 'acme/whisper', temperature: '2' },
      WAV,
      422,
      'validation_error',
      'temperature',
    ],
    [
      'a stream of whisper',
      'transcriptions',
      { model: 'acme/whisper', stream: 'true' },
      WAV,
      400,
      'unsupported_operation',
      'stream',
    ],
  ] as const)(
    'AUD-02 AUD-03 422 and 400 name what is wrong: %s (%s %j)',
    async (_name, path, fields, file, status, code, param) => {
      const answer = await send(path, fields, file);
      const { error } = (await answer.json()) as { error: { code: string; param: string } };
      expect([answer.status, error.code, error.param]).toEqual([status, code, param]);
    },
  );

  it('AUD-02 422 for a field that is given twice, of which an upstream might believe the other', async () => {
    const body = new FormData();
    for (const value of ['json', 'text']) body.append('response_format', value);
    body.append('model', 'acme/whisper');
    body.append('file', new Blob([new Uint8Array(WAV)]), 'a.wav');
    const headers = { authorization: `Bearer ${edge.key}` };
    const answer = await fetch(`${edge.url}/v1/audio/transcriptions`, { method: 'POST', headers, body });
    const { error } = (await answer.json()) as { error: { code: string; param: string } };
    expect([answer.status, error.code, error.param]).toEqual([422, 'validation_error', 'response_format']);
  });

  it('422 for a body that is no form', async () => {
    const answer = await edge.post({ model: 'acme/whisper' }, { path: '/v1/audio/transcriptions' });
    expect(answer.status).toBe(422);
  });
});
