import type { CatalogueModel, ProviderKeyGrant } from '@gateway/contracts';
import { eventually } from '@gateway/testing';
import { testModel, testPrincipal } from '../../edge.fixture.js';
import { tenantOf } from '../../tenant.fixture.js';
import { groq, started } from './audio.fixture.js';

const edge = tenantOf(started, 'speech_providers');

const MIB = 1_048_576;
/** The most that the edge takes of one answer. */
const ANSWER_BYTES_MAX = 64 * MIB;
const OWN = 'own-0123456789abcdefghijklmnop';

/** A model that speaks, with a route at each of these providers, each by its own speech where none is named. */
function speaker(
  id: string,
  ...routes: [provider: string, upstreamModel: string, usd: string, dialect?: string][]
): CatalogueModel {
  const model = testModel(
    id,
    routes.map(([provider, upstreamModel]) => ({ provider, upstreamModel })),
    { model_type: 'tts', supports_completions_api: false },
  );
  return {
    ...model,
    routes: model.routes.map((route, at) => ({
      ...route,
      ...{ dialect: routes[at][3] ?? `${route.provider}-speech`, maxOutputTokens: null },
      price: { pricing_unit: 'per_1m_characters', characters_usd_per_1m: routes[at][2] },
    })),
  };
}

function* repeated(piece: Buffer, count: number): Generator<Buffer> {
  for (let at = 0; at < count; at += 1) yield piece;
}

describe('POST /v1/audio/speech with ElevenLabs, Deepgram and xAI', () => {
  beforeAll(() => {
    // Audio that never ends, by the way of a provider that means ill.
    groq.answer = () => ({
      headers: { 'content-type': 'audio/mpeg' },
      pieces: repeated(Buffer.alloc(MIB, 1), 1_024),
    });
    edge.serveModels(
      speaker('acme/eleven', ['elevenlabs', 'eleven_sim', '40']),
      speaker('acme/cut', ['elevenlabs', 'eleven:cut=1', '40']),
      speaker('acme/html', ['elevenlabs', 'eleven:malformed=html', '40']),
      speaker('acme/aura', ['deepgram', 'aura-2', '30']),
      speaker('acme/grok', ['xai', 'grok-tts', '15']),
      speaker('acme/both', ['xai', 'grok-tts', '15'], ['deepgram', 'aura-2', '30']),
      speaker('acme/endless', ['groq', 'x', '1', 'xai-speech']),
    );
  });
  beforeEach(() => edge.sim.reset());

  const speak = (body: object, key?: string): Promise<Response> =>
    edge.post({ input: 'Hello', voice: 'alloy', ...body }, { path: '/v1/audio/speech', key });
  const errorOf = async (answer: Response): Promise<unknown[]> => {
    const { error } = (await answer.json()) as { error: { code: string; param?: string; message: string } };
    return [answer.status, error.code, error.param, error.message];
  };

  it.each([
    ['acme/eleven', '/v1/text-to-speech/SAz9YHcvj6GT2YYXdXww?output_format=mp3_44100_128', '0.0002'],
    ['acme/aura', '/speak?model=aura-2-thalia-en&encoding=mp3', '0.00015'],
    ['acme/grok', '/tts', '0.000075'],
  ])(
    '%s speaks MP3 with the provider’s credential, and bills each character',
    async (model, path, cost_usd) => {
      const answer = await speak({ model, speed: 1.1, instructions: 'softly' });
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'audio/mpeg']);
      expect(answer.headers.get('x-service-ignored-params')).toBe('instructions');
      expect((await answer.arrayBuffer()).byteLength).toBe(5 * 144);
      const [sent] = edge.sim.requests();
      expect(sent.path.replace('&speed=1.1', '')).toBe(`/v1${path}`);
      const { 'xi-api-key': own, authorization } = sent.headers;
      expect(own ?? authorization).toMatch(/^(?:(?:Token|Bearer) )?sim-key-of-/);
      expect(await edge.record(answer)).toMatchObject({
        ...{ outcome: 'served', usage: { characters: 5 }, usage_estimated: false, cost_usd },
      });
    },
  );

  it.each([
    ['acme/eleven', 'wav', 'audio/wav', 44 + 5 * 160],
    ['acme/eleven', 'pcm', 'audio/pcm', 5 * 960],
    ['acme/aura', 'wav', 'audio/wav', 44 + 5 * 160],
    ['acme/aura', 'pcm', 'audio/pcm', 5 * 960],
    ['acme/grok', 'wav', 'audio/wav', 44 + 5 * 160],
    ['acme/grok', 'pcm', 'audio/pcm', 5 * 960],
  ])('%s makes %s', async (model, response_format, type, length) => {
    const answer = await speak({ model, response_format });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, type]);
    expect((await answer.arrayBuffer()).byteLength).toBe(length);
  });

  it('bills what Deepgram counts, where it can be', async () => {
    const answer = await speak({ model: 'acme/aura', input: 'Hé 😀' });
    await answer.arrayBuffer();
    // It counts in UTF-16.
    expect(await edge.record(answer)).toMatchObject({ usage: { characters: 5 }, cost_usd: '0.00015' });
  });

  it.each([
    ['acme/eleven', { response_format: 'aac' }, 'response_format', 'response_format aac'],
    ['acme/grok', { response_format: 'opus' }, 'response_format', 'response_format opus'],
    ['acme/eleven', { speed: 2 }, 'speed', 'speed 2'],
    ['acme/aura', { speed: 0.5 }, 'speed', 'speed 0.5'],
    ['acme/eleven', { voice: '../../v1/user' }, 'voice', 'voice'],
    ['acme/aura', { voice: 'flux-alexis-en' }, 'voice', 'voice flux-alexis-en'],
  ])('MOD-12 400 %s cannot speak %j, and nothing is sent', async (model, more, param, named) => {
    expect(await errorOf(await speak({ model, ...more }))).toEqual([
      ...[400, 'unsupported_operation', param, `No provider of ${model} supports ${named}.`],
    ]);
    expect(edge.sim.requests()).toEqual([]);
  });

  it('MOD-12 400 a text beyond Deepgram’s own limit, in words', async () => {
    expect(await errorOf(await speak({ model: 'acme/aura', input: 'a'.repeat(2_001) }))).toEqual([
      ...[400, 'unsupported_operation', 'input'],
      'acme/aura does not support texts of more than 2000 characters.',
    ]);
  });

  it('falls back to the route that makes the format', async () => {
    const answer = await speak({ model: 'acme/both', response_format: 'opus' });
    expect(answer.status).toBe(200);
    await answer.arrayBuffer();
    expect(edge.sim.requests().map(({ path }) => path)).toEqual([
      '/v1/speak?model=aura-2-thalia-en&encoding=opus&container=ogg',
    ]);
    expect(await edge.record(answer)).toMatchObject({ provider: 'deepgram', cost_usd: '0.00015' });
  });

  it.each([
    ['401-key', 502, 'upstream_error'],
    ['429-quota', 503, 'upstream_error'],
    ['429-rate;retry_after=60', 429, 'upstream_error'],
    ['invalid-value', 400, 'invalid_request'],
  ])('%s of a provider is %i %s, and costs nothing', async (error, status, code) => {
    for (const model of ['acme/eleven', 'acme/aura', 'acme/grok']) {
      edge.sim.script([], `error=${error}`);
      const answer = await speak({ model });
      expect([model, ...(await errorOf(answer)).slice(0, 2)]).toEqual([model, status, code]);
      expect(await edge.record(answer)).toMatchObject({ cost_usd: null });
    }
  });

  it('502 where the answer is no audio; a broken one is cut, not ended, and costs nothing', async () => {
    expect((await errorOf(await speak({ model: 'acme/html' }))).slice(0, 2)).toEqual([502, 'upstream_error']);
    const cut = await speak({ model: 'acme/cut' });
    await expect(cut.arrayBuffer()).rejects.toThrow();
    expect(await edge.record(cut)).toMatchObject({ outcome: 'failed', cost_usd: null });
  });

  it('U08 passes audio without an end on as it comes, to its bound, and lets go of it', async () => {
    const answer = await speak({ model: 'acme/endless' });
    expect(answer.status).toBe(200);
    let received = 0;
    const reading = (async () => {
      for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>)
        received += chunk.byteLength;
    })();
    await expect(reading).rejects.toThrow();
    expect(received).toBeGreaterThan(MIB);
    expect(received).toBeLessThanOrEqual(ANSWER_BYTES_MAX);
    expect(await edge.record(answer)).toMatchObject({ outcome: 'failed', cost_usd: null });
    await eventually(() => groq.open() === 0);
  });

  it('ROUTE-03 is spoken with the account’s own key first', async () => {
    edge.vault.credentials.set('pk_own', { kind: 'api_key', key: OWN });
    const own: ProviderKeyGrant = {
      ...{
        id: 'pk_own',
        provider: 'elevenlabs',
        version: 1,
        allowedModels: null,
        allowPlatformFallback: false,
      },
    };
    const key = edge.addKey(testPrincipal('key_own', { accountId: 'acct_own', providerKeys: [own] }));
    const answer = await speak({ model: 'acme/eleven' }, key);
    expect(answer.status).toBe(200);
    await answer.arrayBuffer();
    expect(edge.sim.requests()[0].headers['xi-api-key']).toBe(OWN);
    expect(await edge.record(answer)).toMatchObject({
      byok_used: true,
      list_cost_usd: '0.0002',
      cost_usd: '0',
    });
  });
});
