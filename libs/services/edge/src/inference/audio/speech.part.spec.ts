import OpenAI from 'openai';
import EarlierOpenAI from 'openai-6';
import type { CatalogueModel, PriceRecord } from '@gateway/contracts';
import type { ScriptedAnswer } from '@gateway/testing';
import { testModel, type Json } from '../../edge.fixture.js';
import { tenantOf } from '../../tenant.fixture.js';
import { google, openai, started } from './audio.fixture.js';

const edge = tenantOf(started, 'speech');

const BY_CHARACTER: PriceRecord = { pricing_unit: 'per_1m_characters', characters_usd_per_1m: '15' };
const BY_TOKEN: PriceRecord = { prompt_usd_per_1m: '0.6', audio_output_usd_per_1m: '12' };
const BY_MINUTE: PriceRecord = { pricing_unit: 'per_minute', audio_usd_per_minute: '0.6' };

/** A model that speaks, on the simulated provider where no other is named. */
function speaker(
  id: string,
  upstreamModel: string,
  price: PriceRecord,
  { provider, dialect } = { provider: 'simulated', dialect: 'speech' },
): CatalogueModel {
  const model = testModel(id, [{ provider, upstreamModel }], {
    model_type: 'tts',
    supports_completions_api: false,
    pricing: price,
  });
  return {
    ...model,
    routes: model.routes.map((route) => ({ ...route, dialect, maxOutputTokens: null, price })),
  };
}

describe('POST /v1/audio/speech', () => {
  /** Upstream that answers two samples to every request. */
  const gemini = (): ScriptedAnswer => {
    const inlineData = { mimeType: 'audio/L16;codec=pcm;rate=24000', data: 'AQACAA==' };
    const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 50 };
    return { json: { candidates: [{ content: { parts: [{ inlineData }] } }], usageMetadata } };
  };

  /** Says two seconds of MP3, and then nothing for ever. */
  const endless = (): ScriptedAnswer => {
    const event = { type: 'speech.audio.delta', audio: Buffer.alloc(40_000).toString('base64') };
    const pieces = [`data: ${JSON.stringify(event)}\n\n`];
    return { headers: { 'content-type': 'text/event-stream' }, pieces, ending: 'stall' };
  };

  beforeAll(() => {
    google.answer = gemini;
    openai.answer = endless;
    edge.serveModels(
      speaker('acme/bytes', 'tts-1-sim', BY_CHARACTER),
      speaker('acme/events', 'sim-speech:prompt=10;completion=50', BY_TOKEN),
      speaker('acme/minutes', 'tts-1-sim', BY_MINUTE),
      speaker('acme/minutes-in-events', 'sim-speech', BY_MINUTE),
      speaker('acme/minutes-in-json', 'sim-voxtral', BY_MINUTE, {
        ...{ provider: 'mistral', dialect: 'mistral-speech' },
      }),
      speaker('acme/uncounted', 'tts-1-sim', BY_TOKEN),
      speaker('acme/html', 'tts-1-sim:malformed=html', BY_CHARACTER),
      speaker('acme/cut', 'tts-1-sim:cut=1', BY_CHARACTER),
      speaker('acme/voxtral', 'sim-voxtral', BY_CHARACTER, {
        ...{ provider: 'mistral', dialect: 'mistral-speech' },
      }),
      speaker('acme/endless', 'gpt-tts', BY_TOKEN, { provider: 'openai', dialect: 'speech' }),
      speaker('acme/gemini', 'gemini-tts', BY_TOKEN, { provider: 'google', dialect: 'gemini-speech' }),
    );
  });

  const speak = (body: object): Promise<Response> =>
    edge.post({ voice: 'alloy', ...body }, { path: '/v1/audio/speech' });

  it.each([
    ['openai 7', OpenAI],
    ['openai 6', EarlierOpenAI as unknown as typeof OpenAI],
  ])('%s reads the audio, whether the provider answers bytes or events', async (_sdk, Sdk) => {
    const openai = new Sdk({ baseURL: `${edge.url}/openai/v1`, apiKey: edge.key, maxRetries: 0 });
    for (const model of ['acme/bytes', 'acme/events']) {
      const answer = await openai.audio.speech.create({
        model,
        input: 'Hello there',
        voice: 'alloy',
        response_format: 'wav',
      });
      expect(answer.headers.get('content-type')).toBe('audio/wav');
      const audio = Buffer.from(await answer.arrayBuffer());
      expect([audio.toString('latin1', 0, 4), audio.length]).toEqual(['RIFF', 44 + 11 * 160]);
    }
  });

  it('bills characters, to the last decimal', async () => {
    const answer = await speak({ model: 'acme/bytes', input: 'Hello 😀' });
    expect(answer.status).toBe(200);
    await answer.arrayBuffer();
    expect(await edge.record(answer)).toMatchObject({
      endpoint: '/v1/audio/speech',
      outcome: 'served',
      stream: false,
      usage: { characters: 7 },
      usage_estimated: false,
      cost_usd: '0.000105',
    });
  });

  it('bills the tokens that the last event counts', async () => {
    const answer = await speak({ model: 'acme/events', input: 'Hello' });
    await answer.arrayBuffer();
    expect(await edge.record(answer)).toMatchObject({
      usage: { prompt_tokens: 10, completion_tokens: 50, audio_output_tokens: 50 },
      cost_usd: '0.000606',
    });
  });

  it('bills what was heard to a caller that leaves before the last event, which holds the counts', async () => {
    const caller = new AbortController();
    const body = { model: 'acme/endless', input: 'Hello', voice: 'alloy' };
    const answer = await edge.post(body, { path: '/v1/audio/speech', signal: caller.signal });
    await answer.body?.getReader().read();
    caller.abort();
    expect(await edge.record(answer)).toMatchObject({
      outcome: 'cancelled',
      usage: { prompt_tokens: 2, completion_tokens: 40, audio_output_tokens: 40 },
      usage_estimated: true,
      cost_usd: '0.0004812',
    });
  });

  it('bills the seconds that were heard where a minute has a price, of bytes, of events and of JSON', async () => {
    // A character is a frame of 24 ms.
    for (const model of ['acme/minutes', 'acme/minutes-in-events', 'acme/minutes-in-json']) {
      const answer = await speak({ model, input: 'a'.repeat(100) });
      await answer.arrayBuffer();
      expect(await edge.record(answer)).toMatchObject({
        usage: { characters: 100, audio_seconds: '2.4' },
        usage_estimated: false,
        cost_usd: '0.03',
      });
    }
  });

  it('estimates the tokens of an answer of bytes alone where a token has a price', async () => {
    const answer = await speak({ model: 'acme/uncounted', input: 'Hello', response_format: 'pcm' });
    expect((await answer.arrayBuffer()).byteLength).toBe(4_800);
    expect(await edge.record(answer)).toMatchObject({
      usage: { characters: 5, prompt_tokens: 2, completion_tokens: 2, audio_output_tokens: 2 },
      usage_estimated: true,
      cost_usd: '0.0000252',
    });
  });

  it('MOD-12 400 where the model does not speak, 422 without a voice', async () => {
    const talks = await speak({ model: 'simulator/chat', input: 'a' });
    expect([talks.status, await codeOf(talks)]).toEqual([400, 'model_capability_not_supported']);
    expect((await speak({ model: 'acme/bytes', input: 'a', voice: undefined })).status).toBe(422);
  });

  it('AUD-06 answers events where they are asked for, of bytes as well, and bills the same', async () => {
    for (const model of ['acme/bytes', 'acme/uncounted']) {
      const answer = await speak({ model, input: 'Hello', stream_format: 'sse' });
      expect([answer.status, answer.headers.get('content-type')]).toEqual([
        200,
        'text/event-stream; charset=utf-8',
      ]);
      const frames = (await answer.text()).split('\n\n').filter((frame) => frame.startsWith('data: '));
      const events = frames.map((frame) => JSON.parse(frame.slice('data: '.length)) as Json);
      expect(new Set(events.slice(0, -1).map(({ type }) => type))).toEqual(new Set(['speech.audio.delta']));
      expect(events.at(-1)).toMatchObject({
        type: 'speech.audio.done',
        usage: { total_tokens: expect.any(Number) },
      });
      expect(await edge.record(answer)).toMatchObject({ usage: { characters: 5 } });
    }
  });

  it('plays what Mistral and Gemini answer in JSON, by their own prices, and says what they cannot be told', async () => {
    const voxtral = await speak({ model: 'acme/voxtral', input: 'Hello', speed: 2, instructions: 'softly' });
    expect([voxtral.status, voxtral.headers.get('content-type')]).toEqual([200, 'audio/mpeg']);
    expect(voxtral.headers.get('x-service-ignored-params')).toBe('speed, instructions');
    expect(Buffer.from(await voxtral.arrayBuffer()).length).toBe(5 * 144);
    expect(await edge.record(voxtral)).toMatchObject({ usage: { characters: 5 }, cost_usd: '0.000075' });
    const wav = await speak({ model: 'acme/gemini', input: 'Hello' });
    expect([wav.status, wav.headers.get('content-type')]).toEqual([200, 'audio/wav']);
    expect(Buffer.from(await wav.arrayBuffer()).length).toBe(44 + 4);
    expect(await edge.record(wav)).toMatchObject({ cost_usd: '0.000606', usage_estimated: false });
  });

  it('MOD-12 400 for a format that the model cannot make', async () => {
    for (const [model, response_format] of [
      ['acme/voxtral', 'pcm'],
      ['acme/gemini', 'mp3'],
    ]) {
      const answer = await speak({ model, input: 'a', response_format });
      expect([answer.status, await codeOf(answer)]).toEqual([400, 'unsupported_operation']);
    }
  });

  it('502 where the answer is no audio; a broken one is cut, not ended', async () => {
    const html = await speak({ model: 'acme/html', input: 'a' });
    expect([html.status, await codeOf(html)]).toEqual([502, 'upstream_error']);
    const cut = await speak({ model: 'acme/cut', input: 'Hello' });
    await expect(cut.arrayBuffer()).rejects.toThrow();
    expect(await edge.record(cut)).toMatchObject({ outcome: 'failed', cost_usd: null });
  });
});

async function codeOf(answer: Response): Promise<string> {
  return ((await answer.json()) as { error: { code: string } }).error.code;
}
