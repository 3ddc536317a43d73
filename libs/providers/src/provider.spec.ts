import { jsonBody } from '@gateway/dialects';
import { provider as azure } from './azure/azure.provider.js';
import { provider as ollama } from './ollama/ollama.provider.js';
import { provider as compatible } from './openai-compatible/openai-compatible.provider.js';
import { providerBaseUrl } from './provider.js';

describe('the address of a provider', () => {
  const provider = { baseUrlEnv: 'ACME_BASE_URL', defaultBaseUrl: 'https://api.acme.example/v1' };

  it.each([
    [{}, 'https://api.acme.example/v1'],
    [{ ACME_BASE_URL: '' }, 'https://api.acme.example/v1'],
    [{ ACME_BASE_URL: 'http://10.0.0.7:8080/v1//' }, 'http://10.0.0.7:8080/v1'],
  ])('with %j is %s', (env, address) => {
    expect(providerBaseUrl(provider, env)).toBe(address);
  });

  it.each(['acme', 'ftp://acme.example', 'file:///etc/passwd', 'javascript:http:'])(
    'is not %s, and the fault names the variable',
    (address) => {
      expect(() => providerBaseUrl(provider, { ACME_BASE_URL: address })).toThrow(
        /^ACME_BASE_URL: must be an address/,
      );
    },
  );

  it.each([
    ['/api/chat', 'http://127.0.0.1:11434/api/chat'],
    ['/chat/completions', 'http://127.0.0.1:11434/v1/chat/completions'],
  ])('of Ollama leads its own calls beside those of /v1: %s', async (path, url) => {
    const access = {
      baseUrl: `${ollama.defaultBaseUrl}/v1`,
      credential: { kind: 'api_key' as const, key: '' },
    };
    expect((await ollama.prepare(jsonBody(path, 'application/json', {}), access)).url).toBe(url);
  });

  const urlAt = async (provider: typeof azure, baseUrl: string) => {
    const access = { baseUrl, credential: { kind: 'api_key' as const, key: 'k' } };
    return (await provider.prepare(jsonBody('/chat/completions', 'application/json', {}), access)).url;
  };

  it.each(['', '/openai', '/openai/v1'])('D2 of Azure may end in "%s"', async (path) =>
    expect(await urlAt(azure, `https://r.openai.azure.com${path}`)).toBe(
      'https://r.openai.azure.com/openai/v1/chat/completions',
    ),
  );

  it.each([
    ['/team/openai', '/team/openai/v1/chat/completions'],
    ['/team', '/team/chat/completions'],
  ])('D2 of Azure may lead through a path of the operator’s own: %s', async (path, called) =>
    expect(await urlAt(azure, `https://proxy.example${path}`)).toBe(`https://proxy.example${called}`),
  );

  it.each(['', '/v1'])(
    'C2 of a compatible server may end in "%s": it is called where its models are read',
    async (path) =>
      expect(await urlAt(compatible, `http://127.0.0.1:1234${path}`)).toBe(
        'http://127.0.0.1:1234/v1/chat/completions',
      ),
  );
});
