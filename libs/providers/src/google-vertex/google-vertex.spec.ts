import type { Route } from '@gateway/contracts';
import { jsonBody } from '@gateway/dialects';
import { AccessTokens } from './access-tokens.js';
import { provider } from './google-vertex.provider.js';
import { accessFrom, urlFor } from './vertex-access.js';

const JSON_ACCOUNT = { client_email: 'a@p.iam.gserviceaccount.com', private_key: 'PEM', project_id: 'p-1' };
const ACCOUNT = {
  kind: 'vertex' as const,
  clientEmail: 'a@p.iam.gserviceaccount.com',
  privateKey: 'PEM',
  privateKeyId: null,
  project: 'p-1',
  location: 'global',
};
const body = jsonBody('/models/gemini-3.8-flash:generateContent', 'application/json', {});

describe('access tokens', () => {
  function counted(): { tokens: AccessTokens; asked: () => number; release: (token: string) => void } {
    let asked = 0;
    let answer: ((token: string) => void) | undefined;
    const source = (): Promise<string> => {
      asked += 1;
      return new Promise<string>((resolve) => {
        answer = resolve;
      });
    };
    return {
      tokens: new AccessTokens(() => Promise.resolve(source)),
      asked: () => asked,
      release: (token) => answer?.(token),
    };
  }

  it('are asked for once, however many requests wait for one', async () => {
    const { tokens, asked, release } = counted();
    const waiting = [tokens.token(ACCOUNT), tokens.token({ ...ACCOUNT }), tokens.token(ACCOUNT)];
    await Promise.resolve().then(() => undefined);
    await new Promise(setImmediate);
    expect(asked()).toBe(1);
    release('t-1');
    expect(await Promise.all(waiting)).toEqual(['t-1', 't-1', 't-1']);
  });

  it('are asked for again after a failure, which the library may have cured', async () => {
    let fails = true;
    const tokens = new AccessTokens(() =>
      Promise.resolve(() => (fails ? Promise.reject(new Error('away')) : Promise.resolve('t-2'))),
    );
    await expect(tokens.token(ACCOUNT)).rejects.toThrow('away');
    fails = false;
    expect(await tokens.token(ACCOUNT)).toBe('t-2');
  });

  it('keep the clients of a bounded number of accounts', async () => {
    let made = 0;
    const tokens = new AccessTokens(() => {
      made += 1;
      return Promise.resolve(() => Promise.resolve('t'));
    });
    for (let at = 0; at <= 1_000; at += 1) await tokens.token({ ...ACCOUNT, privateKey: `PEM ${at}` });
    await tokens.token({ ...ACCOUNT, privateKey: 'PEM 1000' });
    expect(made).toBe(1_001);
    await tokens.token({ ...ACCOUNT, privateKey: 'PEM 0' });
    expect(made).toBe(1_002);
  });
});

describe('a request to Vertex AI', () => {
  const baseUrl = 'https://aiplatform.googleapis.com';

  it('carries an access token as a bearer’s and an API key in Google’s header', async () => {
    const prepare = (key: string) =>
      provider.prepare(body, { baseUrl, credential: { kind: 'api_key', key } });
    expect(await prepare('ya29.token')).toMatchObject({
      url: 'https://aiplatform.googleapis.com/v1/publishers/google/models/gemini-3.8-flash:generateContent',
      headers: { authorization: 'Bearer ya29.token' },
    });
    expect(await prepare('AIza-key')).toMatchObject({ headers: { 'x-goog-api-key': 'AIza-key' } });
  });

  it('of Claude goes to its publisher, and no service tier with it', async () => {
    const route = { dialect: 'messages' } as Route;
    const { messagesPlace: place, refuses } = provider.quirks(route);
    const of = (name: string, isStream: boolean): unknown =>
      provider.prepare(jsonBody(place?.path(name, isStream) ?? '', 'application/json', {}), {
        baseUrl,
        credential: { kind: 'api_key', key: 'ya29.token' },
      });
    expect(await of('claude-opus-4-5@20251101', false)).toMatchObject({
      url: 'https://aiplatform.googleapis.com/v1/publishers/anthropic/models/claude-opus-4-5@20251101:rawPredict',
    });
    expect(await of('claude-opus-5', true)).toMatchObject({
      url: 'https://aiplatform.googleapis.com/v1/publishers/anthropic/models/claude-opus-5:streamRawPredict',
    });
    expect([place?.version, refuses]).toEqual(['vertex-2023-10-16', ['service_tier']]);
    expect(provider.quirks({ ...route, dialect: 'chat' })).not.toHaveProperty('messagesPlace');
  });

  it.each([
    ['/models/veo-3.1-generate-001:predictLongRunning', '/publishers/google'],
    ['/projects/p-1/locations/us-east5/publishers/google/models/veo:fetchPredictOperation', ''],
  ])('of a video, %s, goes to Google’s models or to where its operation is', async (path, place) => {
    const key = { baseUrl, credential: { kind: 'api_key' as const, key: 'ya29.token' } };
    const body = jsonBody(path, 'application/json', {});
    expect(await provider.prepare(body, key)).toMatchObject({
      method: 'POST',
      url: `https://aiplatform.googleapis.com/v1${place}${path}`,
      headers: { authorization: 'Bearer ya29.token' },
    });
  });

  it.each([
    [
      529,
      { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
      'provider_overloaded',
    ],
    [429, { error: { code: 429, status: 'RESOURCE_EXHAUSTED', message: 'Quota' } }, 'rate_limit_exceeded'],
    [
      400,
      { type: 'error', error: { type: 'invalid_request_error', message: 'prompt is too long: 5 tokens' } },
      'context_window_exceeded',
    ],
  ])('means by %s %j what its publisher or Google means', (status, body, providerCode) => {
    const { options } = provider.classify({
      kind: 'status',
      status,
      headers: {},
      body: Buffer.from(JSON.stringify(body)),
      byok: false,
      nowMs: 0,
    });
    expect(options.providerCode).toBe(providerCode);
  });

  it('is a connection that could not be made where no token was given for the account', async () => {
    await expect(provider.prepare(body, { baseUrl, credential: ACCOUNT })).rejects.toMatchObject({
      fault: 'connect',
    });
  });

  it('goes to the project and location of its credential, at an address that the operator chose too', () => {
    const europe = { ...ACCOUNT, location: 'europe-west4' };
    const operation = '/projects/p-2/locations/us-east5/publishers/google/models/veo:fetchPredictOperation';
    expect(
      [europe, ACCOUNT].flatMap((account) =>
        [baseUrl, 'http://127.0.0.1:9'].flatMap((address) => [
          urlFor(address, account, '/publishers/google/models/m:f'),
          urlFor(address, account, operation),
        ]),
      ),
    ).toEqual([
      'https://europe-west4-aiplatform.googleapis.com/v1/projects/p-1/locations/europe-west4/publishers/google/models/m:f',
      `https://europe-west4-aiplatform.googleapis.com/v1${operation}`,
      'http://127.0.0.1:9/v1/projects/p-1/locations/europe-west4/publishers/google/models/m:f',
      `http://127.0.0.1:9/v1${operation}`,
      'https://aiplatform.googleapis.com/v1/projects/p-1/locations/global/publishers/google/models/m:f',
      `https://aiplatform.googleapis.com/v1${operation}`,
      'http://127.0.0.1:9/v1/projects/p-1/locations/global/publishers/google/models/m:f',
      `http://127.0.0.1:9/v1${operation}`,
    ]);
  });

  it('reads a service account from the variable, and says what it lacks', () => {
    const read = (env: Record<string, string>) => (name: string) => env[name];
    const key = JSON.stringify(JSON_ACCOUNT);
    expect(accessFrom(read({ GOOGLE_VERTEX_API_KEY: key }))).toEqual({ baseUrl, credential: ACCOUNT });
    expect(
      accessFrom(
        read({ GOOGLE_VERTEX_API_KEY: key, GOOGLE_CLOUD_PROJECT: 'p-2', GOOGLE_CLOUD_LOCATION: 'us-east5' }),
      ),
    ).toMatchObject({
      baseUrl: 'https://us-east5-aiplatform.googleapis.com',
      credential: { project: 'p-2', location: 'us-east5' },
    });
    expect(accessFrom(read({}))).toBeUndefined();
    expect(() => accessFrom(read({ GOOGLE_VERTEX_API_KEY: '{"client_email":"a"}' }))).toThrow(
      /needs client_email/,
    );
    for (const text of ['x', '/run/secrets/vertex.json', 'two words of twenty letters'])
      expect(() => accessFrom(read({ GOOGLE_VERTEX_API_KEY: text }))).toThrow(/neither a service account/);
  });

  it('takes a key or token of Google as it is, and any text for an address that the operator chose', () => {
    const read = (env: Record<string, string>) => (name: string) => env[name];
    for (const key of [`AIza${'a'.repeat(35)}`, 'ya29.a0AfB_byC-1234567890', 'AQ.Ab8RN6-1234567890_x'])
      expect(accessFrom(read({ GOOGLE_VERTEX_API_KEY: key }))?.credential).toEqual({ kind: 'api_key', key });
    const chosen = { GOOGLE_VERTEX_API_KEY: 'x', GOOGLE_VERTEX_BASE_URL: 'http://10.0.0.5' };
    expect(accessFrom(read(chosen))?.credential).toEqual({ kind: 'api_key', key: 'x' });
  });
});
