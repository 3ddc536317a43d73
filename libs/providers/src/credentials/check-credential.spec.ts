import type { ProviderCredential } from '@gateway/contracts';
import { PROVIDERS } from '../registry.generated.js';
import {
  TransportFailure,
  UpstreamTransport,
  type UpstreamRequest,
  type UpstreamResponse,
} from '../transport.js';
import { checkCredential, type CredentialVerdict } from './check-credential.js';

const API_KEY: ProviderCredential = { kind: 'api_key', key: 'sk-mine' };
const AWS: ProviderCredential = {
  kind: 'aws',
  accessKeyId: 'AKIAABCDEFGHIJKLMNOP',
  secretAccessKey: 's'.repeat(40),
  sessionToken: null,
  region: 'eu-west-1',
};

/** A provider that answers a status, or that cannot be reached. */
class OneAnswer extends UpstreamTransport {
  readonly sent: UpstreamRequest[] = [];
  cancelled = 0;

  constructor(
    private readonly answer: number | TransportFailure,
    private readonly bodyFault: Error | null = null,
  ) {
    super();
  }

  override async send(request: UpstreamRequest): Promise<UpstreamResponse> {
    this.sent.push(request);
    const { answer } = this;
    if (typeof answer !== 'number') throw answer;
    const body = Buffer.from('{"error":{"message":"sk-mine is no key"}}');
    return {
      status: answer,
      headers: {},
      bytes: () => (this.bodyFault === null ? Promise.resolve(body) : Promise.reject(this.bodyFault)),
      chunks: () =>
        (async function* () {
          yield body;
        })(),
      cancel: () => (this.cancelled += 1),
    };
  }

  override close(): Promise<void> {
    return Promise.resolve();
  }
}

async function tried(
  slug: string,
  transport: OneAnswer,
  credential = API_KEY,
): Promise<CredentialVerdict & { asked: string }> {
  const provider = PROVIDERS.find((one) => one.slug === slug);
  if (provider === undefined) throw new Error(slug);
  const access = { baseUrl: provider.defaultBaseUrl, credential };
  const options = { transport, nowMs: 0, signal: new AbortController().signal };
  const verdict = await checkCredential(provider, access, options);
  const [{ method, url, body }] = transport.sent;
  return { ...verdict, asked: `${method} ${url} ${Buffer.concat(body).toString()}`.trim() };
}

describe('checkCredential', () => {
  it.each([
    ['openai', 'GET https://api.openai.com/v1/models'],
    ['anthropic', 'GET https://api.anthropic.com/v1/models'],
    ['google', 'GET https://generativelanguage.googleapis.com/v1beta/openai/models'],
    ['openrouter', 'GET https://openrouter.ai/api/v1/key'],
    ['cohere', 'POST https://api.cohere.com/v2/chat {}'],
    ['ideogram', 'POST https://api.ideogram.ai/v1/ideogram-v3/generate {}'],
    ['voyage', 'POST https://api.voyageai.com/v1/embeddings {}'],
    ['sambanova', 'POST https://api.sambanova.ai/v1/chat/completions {}'],
    ['deepinfra', 'POST https://api.deepinfra.com/v1/openai/chat/completions {}'],
  ])('ROUTE-07 asks %s by the cheapest call that needs the key: %s', async (slug, asked) => {
    const transport = new OneAnswer(200);
    expect(await tried(slug, transport)).toEqual({ status: 'works', asked });
    const [{ method, headers, byteLength }] = transport.sent;
    if (method === 'POST') expect(headers).toMatchObject({ 'content-type': 'application/json' });
    expect(byteLength).toBe(method === 'POST' ? 2 : 0);
    expect(transport.cancelled).toBe(1);
  });

  it('ROUTE-07 signs the call of an account’s own keys', async () => {
    const transport = new OneAnswer(400);
    const { status, asked } = await tried('amazon-bedrock', transport, AWS);
    expect([status, asked]).toEqual([
      'works',
      'POST https://bedrock-runtime.eu-west-1.amazonaws.com/model/amazon.nova-micro-v1%3A0/converse {}',
    ]);
    expect(transport.sent[0].headers.authorization).toMatch(/^AWS4-HMAC-SHA256 /);
  });

  it('ROUTE-07 asks Azure at the address of the credential, wherever the operator’s is', async () => {
    const transport = new OneAnswer(200);
    const azure: ProviderCredential = {
      kind: 'azure',
      key: 'azure-key',
      endpoint: 'https://mine.openai.azure.com',
      apiVersion: '2024-10-21',
    };
    const { status, asked } = await tried('azure', transport, azure);
    expect([status, asked]).toEqual(['works', 'GET https://mine.openai.azure.com/openai/v1/models']);
    expect(transport.sent[0].headers['api-key']).toBe('azure-key');
  });

  it.each([
    ['cohere', 400, 'works'],
    ['cohere', 422, 'works'],
    ['cohere', 401, 'refused'],
    ['openai', 400, 'unknown'],
    ['openai', 401, 'refused'],
    ['openai', 403, 'refused'],
    ['openai', 404, 'unknown'],
    ['openai', 429, 'unknown'],
    ['openai', 503, 'unknown'],
  ])('ROUTE-07 %s with status %i: %s', async (slug, answer, status) => {
    const verdict = await tried(slug, new OneAnswer(answer));
    expect(verdict.status).toBe(status);
    expect(verdict.error === undefined).toBe(status === 'works');
  });

  it('ROUTE-07 unknown where the provider cannot be reached', async () => {
    expect(await tried('openai', new OneAnswer(new TransportFailure('connect')))).toMatchObject({
      status: 'unknown',
      error: { options: { providerCode: 'connection_error' } },
    });
  });

  it('ROUTE-07 goes by the status where the body of an error breaks off, and by nothing where the fault is ours', async () => {
    const broken = new OneAnswer(401, new TransportFailure('reset'));
    expect((await tried('openai', broken)).status).toBe('refused');
    const ours = new TypeError('a fault of the reader');
    await expect(tried('openai', new OneAnswer(401, ours))).rejects.toBe(ours);
  });
});
