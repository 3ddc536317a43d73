import type { CatalogueModel, ModelRecord, PriceRecord } from '@gateway/contracts';
import { startUpstreamSim, type UpstreamSim } from '@gateway/simulator';
import { silentWav, startUpstreamDouble, type UpstreamDouble } from '@gateway/testing';
import { enabledProviders } from '../config/edge.config.js';
import { startEdge, testModel, type EdgeUnderTest, type Json } from '../edge.fixture.js';

const BY_IMAGE: PriceRecord = { pricing_unit: 'per_image', image_usd_per_unit: '0.04' };
const BY_MINUTE: PriceRecord = { pricing_unit: 'per_minute', audio_usd_per_minute: '0.006' };
const BY_CHARACTER: PriceRecord = { pricing_unit: 'per_1m_characters', characters_usd_per_1m: '15' };

/** A model with a deployment at Azure. */
function deployed(
  id: string,
  upstreamModel: string,
  dialect: string,
  { price, ...record }: Partial<ModelRecord> & { price?: PriceRecord } = {},
): CatalogueModel {
  const model = testModel(id, [{ provider: 'azure', upstreamModel, dialect }], record);
  if (price === undefined) return model;
  return { ...model, routes: model.routes.map((route) => ({ ...route, price, maxOutputTokens: null })) };
}

const MODELS = [
  deployed('acme/chat', 'sim-chat', 'chat'),
  deployed('acme/responses', 'sim-chat', 'responses'),
  deployed('acme/claude', 'sim-claude', 'messages'),
  deployed('acme/embed', 'sim-embedding', 'embeddings', {
    model_type: 'embedding',
    supports_embeddings: true,
    supports_completions_api: false,
  }),
  deployed('acme/image', 'sim-image', 'images', {
    ...{
      price: BY_IMAGE,
      model_type: 'image',
      output_modalities: ['image'],
      supports_completions_api: false,
    },
  }),
  deployed('acme/speech', 'tts-1-sim', 'speech', {
    ...{ price: BY_CHARACTER, model_type: 'tts', supports_completions_api: false },
  }),
  deployed('acme/whisper', 'sim-whisper', 'whisper', {
    ...{ price: BY_MINUTE, model_type: 'stt', supports_completions_api: false },
  }),
];

function recording(): FormData {
  const form = new FormData();
  form.append('model', 'acme/whisper');
  form.append('file', new Blob([silentWav(0.1)], { type: 'audio/wav' }), 'a.wav');
  return form;
}

const messages = [{ role: 'user', content: 'Hello' }];
const CASES: [path: string, body: Json | FormData, upstream: string][] = [
  ['/v1/chat/completions', { model: 'acme/chat', messages }, '/openai/v1/chat/completions'],
  ['/v1/chat/completions', { model: 'acme/chat', messages, stream: true }, '/openai/v1/chat/completions'],
  ['/v1/responses', { model: 'acme/responses', input: 'Hello' }, '/openai/v1/responses'],
  ['/v1/messages', { model: 'acme/claude', max_tokens: 50, messages }, '/anthropic/v1/messages'],
  [
    '/v1/messages',
    { model: 'acme/claude', max_tokens: 50, messages, stream: true },
    '/anthropic/v1/messages',
  ],
  ['/v1/embeddings', { model: 'acme/embed', input: 'Hello' }, '/openai/v1/embeddings'],
  ['/v1/images/generations', { model: 'acme/image', prompt: 'A fox' }, '/openai/v1/images/generations'],
  ['/v1/audio/speech', { model: 'acme/speech', input: 'Hello', voice: 'alloy' }, '/openai/v1/audio/speech'],
  ['/v1/audio/transcriptions', recording(), '/openai/v1/audio/transcriptions'],
];

let sim: UpstreamSim;
let azure: UpstreamDouble;
let edge: EdgeUnderTest;
/** Answer in place of the resource's own; null = its own. */
let refusal: { status: number; json: Json } | null = null;

beforeAll(async () => {
  sim = await startUpstreamSim();
  // A resource has each API below a path of its own.
  azure = await startUpstreamDouble(async ({ method, path, headers, body }) => {
    if (refusal !== null) return refusal;
    const answer = await fetch(`${sim.url}${path.replace(/^\/(?:openai|anthropic)\/v1/, '/v1')}`, {
      method,
      headers: {
        ...{ authorization: 'Bearer sim', 'x-api-key': 'sim' },
        'content-type': String(headers['content-type']),
        ...(headers['anthropic-version'] && { 'anthropic-version': String(headers['anthropic-version']) }),
      },
      body: new Uint8Array(body),
    });
    const type = answer.headers.get('content-type') ?? '';
    return {
      status: answer.status,
      headers: { 'content-type': type },
      body: Buffer.from(await answer.arrayBuffer()),
    };
  });
  const enabled = enabledProviders({ AZURE_OPENAI_BASE_URL: azure.url, AZURE_OPENAI_API_KEY: 'azure-key' });
  edge = await startEdge({
    models: MODELS,
    upstreams: () => Promise.resolve({ azure: enabled.get('azure')! }),
  });
});
afterAll(async () => {
  await edge?.close();
  await azure?.close();
  await sim?.close();
});
beforeEach(() => {
  refusal = null;
  azure.seen.length = 0;
});

function send(path: string, body: Json | FormData): Promise<Response> {
  if (!(body instanceof FormData)) return edge.post(body, { path });
  const headers = { authorization: `Bearer ${edge.key}` };
  return fetch(`${edge.url}${path}`, { method: 'POST', headers, body });
}

describe('a resource of Azure', () => {
  it.each(CASES)(
    'ROUTE-06 serves %s %j by %s, and the answer names the catalogue’s model',
    async (path, body, at) => {
      const answer = await send(path, body);
      const text = await answer.text();
      const [{ path: called, headers }] = azure.seen;
      expect([answer.status, called.split('?')[0], headers['api-key']]).toEqual([200, at, 'azure-key']);
      expect(text).not.toMatch(/sim-(?:chat|claude|embed|image|whisper)|tts-1-sim/);
      const { cost_usd: cost, provider } = await edge.record(answer);
      expect([Number(cost) > 0, provider]).toEqual([true, 'azure']);
    },
  );

  it.each<[number, string, string, number, string]>([
    [
      404,
      'DeploymentNotFound',
      'The API deployment for this resource does not exist.',
      502,
      'upstream_error',
    ],
    [401, '401', 'Access denied due to invalid subscription key.', 502, 'upstream_error'],
    [
      400,
      'content_filter',
      'The response was filtered by the content policy.',
      400,
      'content_policy_violation',
    ],
    [429, '429', 'Requests have exceeded the token rate limit of your tier.', 429, 'upstream_error'],
  ])(
    'ROUTE-06 that answers %i %s is what the table of errors says',
    async (status, code, message, ours, name) => {
      refusal = {
        status,
        json: { error: { code, message: `${message} Resource https://team.openai.azure.com` } },
      };
      const answer = await send('/v1/chat/completions', { model: 'acme/chat', messages });
      const { error } = (await answer.json()) as { error: Json };
      expect([answer.status, error.code]).toEqual([ours, name]);
      expect(JSON.stringify(error)).not.toMatch(/team\.openai|azure-key/);
    },
  );
});
