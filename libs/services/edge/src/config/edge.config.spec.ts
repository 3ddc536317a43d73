import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Route } from '@gateway/contracts';
import { jsonBody } from '@gateway/dialects';
import { PROVIDERS } from '@gateway/providers';
import { ownCertificate } from '@gateway/testing';
import { keyedProviders } from '@gateway/upstream';
import { enabledProviders } from './edge.config.js';

describe('enabledProviders', () => {
  it('takes a credential from its variable or from the file that <NAME>_FILE names', () => {
    const folder = mkdtempSync(join(tmpdir(), 'edge-config-'));
    const path = join(folder, 'key');
    writeFileSync(path, 'sk-of-the-file\n');
    const enabled = enabledProviders({ OPENAI_API_KEY_FILE: path, GROQ_API_KEY: 'gsk-1' });
    rmSync(folder, { recursive: true });
    expect([...enabled].map(([slug, { access }]) => [slug, access.credential]).sort()).toEqual([
      ['groq', { kind: 'api_key', key: 'gsk-1' }],
      ['openai', { kind: 'api_key', key: 'sk-of-the-file' }],
    ]);
  });

  it.each([
    ['auto', { OPENAI_API_KEY: 'k' }, true],
    ['auto', {}, false],
    ['on', { OPENAI_API_KEY: 'k' }, false],
    ['off', {}, true],
  ])('issue 37 SIMULATED_MODELS=%s with %j leaves simulated models out of auto: %s', (mode, more, isOut) => {
    const enabled = enabledProviders({ SIMULATED_API_KEY: 'any', SIMULATED_MODELS: mode, ...more });
    expect(enabled.get('simulated')?.provider.isByNameAlone ?? false).toBe(isOut);
    expect(enabled.get('openai')?.provider.isByNameAlone).toBeUndefined();
  });

  it('issue 37 names a SIMULATED_MODELS that is none', () => {
    expect(() => enabledProviders({ SIMULATED_MODELS: 'never' })).toThrow('SIMULATED_MODELS');
  });

  it('names every fault at once, and no credential', () => {
    const env = {
      OPENAI_API_KEY: 'sk-one',
      OPENAI_API_KEY_FILE: '/none/key',
      ANTHROPIC_API_KEY_FILE: '/none/key',
      GROQ_API_KEY: 'gsk-1',
      GROQ_BASE_URL: 'ftp://none',
    };
    expect(() => enabledProviders(env)).toThrow(
      /3 fault\(s\)(?=.*OPENAI_API_KEY and OPENAI_API_KEY_FILE are both set)(?=.*ANTHROPIC_API_KEY_FILE: .*ENOENT)(?=.*GROQ_BASE_URL)(?!.*(sk-one|gsk-1))/s,
    );
  });

  const credentials = PROVIDERS.map(({ slug, credentialEnv }) => [slug, credentialEnv] as const);
  it.each(credentials.filter(([, name]) => name !== ''))(
    'takes the credential of %s (%s) from a file, too',
    (_slug, name) =>
      expect(() => enabledProviders({ [`${name}_FILE`]: '/none' })).toThrow(
        `${name}_FILE: /none cannot be read (ENOENT)`,
      ),
  );

  it('enables a server without keys by its address alone, and no customer’s key reaches one that is not named', () => {
    const enabled = enabledProviders({ OLLAMA_BASE_URL: 'http://127.0.0.1:11434/' });
    expect([...enabled].map(([slug, { access }]) => [slug, access.baseUrl])).toEqual([
      ['ollama', 'http://127.0.0.1:11434'],
    ]);
    expect([...keyedProviders({}).keys()]).not.toContain('ollama');
    const named = keyedProviders({ OLLAMA_BASE_URL: 'http://10.0.0.7:11434' });
    expect(named.get('ollama')?.baseUrl).toBe('http://10.0.0.7:11434');
  });

  it('says that Azure needs an address of its own', () => {
    expect(() => enabledProviders({ AZURE_OPENAI_API_KEY: 'k' })).toThrow(/AZURE_OPENAI_BASE_URL is not set/);
  });

  describe('GATEWAY_CONFIG', () => {
    const folder = mkdtempSync(join(tmpdir(), 'edge-own-'));
    const path = join(folder, 'gateway.yaml');
    afterAll(() => rmSync(folder, { recursive: true }));

    it('adds upstreams with their quirks and keys by reference, and addresses of known ones', async () => {
      writeFileSync(
        path,
        `
providers:
  - { slug: lab, dialect: chat, base_url: 'http://10.0.0.5:8000', api_key_env: LAB_KEY, quirks: { max_tokens_param: max_completion_tokens } }
  - { slug: claude-proxy, dialect: messages, base_url: 'http://10.0.0.6' }
  - { slug: vllm, base_url: 'http://10.0.0.7:8000/v1' }
`,
      );
      const enabled = enabledProviders({ GATEWAY_CONFIG: path, LAB_KEY: 'k1' });
      expect([...enabled.keys()].sort()).toEqual(['claude-proxy', 'lab', 'vllm']);
      const lab = enabled.get('lab');
      if (!lab) throw new Error('no lab');
      const body = jsonBody('/chat/completions', 'application/json', {});
      expect(await lab.provider.prepare(body, lab.access)).toMatchObject({
        url: 'http://10.0.0.5:8000/v1/chat/completions',
        headers: { authorization: 'Bearer k1' },
      });
      expect(lab.provider.quirks({} as Route)).toMatchObject({
        maxTokensParam: 'max_completion_tokens',
        passthroughParams: true,
      });
      expect(enabled.get('vllm')?.access.baseUrl).toBe('http://10.0.0.7:8000/v1');
    });

    it('lets customers bring keys to its upstreams that are called with one, at the address in the file', () => {
      const keyed = keyedProviders({ GATEWAY_CONFIG: path });
      expect(keyed.get('lab')?.baseUrl).toBe('http://10.0.0.5:8000');
      expect(keyed.get('lab')?.provider.slug).toBe('lab');
      expect(keyed.has('claude-proxy')).toBe(false);
    });

    it('issue 38 adds headers and query to calls on the operator’s credential, and to no others', async () => {
      const parts = 'headers: {X-Lab-Token: {env: LAB_TOKEN}}, query: {api-version: "1 2"}';
      const lab = 'slug: lab, dialect: chat, base_url: "http://10.0.0.5:8000"';
      writeFileSync(
        path,
        `providers: [{${lab}, ${parts}, timeouts: {total_ms: 5}}, {slug: openai, headers: {OpenAI-Project: proj}}]`,
      );
      const enabled = enabledProviders({ GATEWAY_CONFIG: path, LAB_TOKEN: 'token-1', OPENAI_API_KEY: 'k1' });
      const body = jsonBody('/chat/completions', 'application/json', {});
      const sent = async (slug: string, more: object = {}): Promise<unknown> => {
        const { provider, access } = enabled.get(slug) ?? {};
        if (!provider || !access) throw new Error(`no ${slug}`);
        return provider.prepare(body, { ...access, ...more });
      };
      expect(await sent('lab')).toMatchObject({
        url: 'http://10.0.0.5:8000/v1/chat/completions?api-version=1+2',
        headers: { 'x-lab-token': 'token-1' },
      });
      expect(await sent('openai')).toMatchObject({
        headers: { authorization: 'Bearer k1', 'openai-project': 'proj' },
      });
      expect(JSON.stringify(await sent('lab', { added: undefined }))).not.toMatch(/token-1|api-version/);
      expect(enabled.get('lab')?.provider.timeouts).toEqual({ totalMs: 5 });
      expect(() =>
        enabledProviders({ GATEWAY_CONFIG: path, OPENAI_API_KEY: 'k1', GROQ_API_KEY_FILE: '/none' }),
      ).toThrow(
        /2 fault\(s\)(?=.*line 1: providers\[0\]\.headers\.X-Lab-Token: LAB_TOKEN is not set)(?=.*GROQ_API_KEY_FILE)/s,
      );
    });

    it('issue 38 is refused where TLS stands at an http address of a variable, or twice at one address', () => {
      const [one, two] = [ownCertificate(), ownCertificate()].map(({ cert }, n) => {
        const at = join(folder, `ca-${n}.pem`);
        writeFileSync(at, cert);
        return at;
      });
      const lab = (slug: string, ca: string) =>
        `{slug: ${slug}, dialect: chat, base_url: 'https://lab.example/${slug}', ca_file: ${ca}}`;
      writeFileSync(path, `providers: [{slug: openai, ca_file: ${one}}, ${lab('a', one)}, ${lab('b', one)}]`);
      const env = { GATEWAY_CONFIG: path, OPENAI_API_KEY: 'k1' };
      expect([...enabledProviders(env).keys()]).toEqual(['openai', 'a', 'b']);
      expect(() => enabledProviders({ ...env, OPENAI_BASE_URL: 'http://proxy.lab:8080/v1' })).toThrow(
        'ca_file or client_cert_file of openai: its address http://proxy.lab:8080 has no TLS',
      );
      writeFileSync(path, `providers: [${lab('a', one)}, ${lab('b', two)}]`);
      expect(() => enabledProviders({ GATEWAY_CONFIG: path })).toThrow(
        'a and b name different TLS files for one address, https://lab.example',
      );
    });

    it('is refused whole where a variable that it names is not set, or where it is wrong', () => {
      writeFileSync(
        path,
        `providers: [{ slug: lab, dialect: chat, base_url: 'http://10.0.0.5:8000', api_key_env: LAB_KEY }]`,
      );
      expect(() => enabledProviders({ GATEWAY_CONFIG: path })).toThrow(
        /LAB_KEY is not set: lab of GATEWAY_CONFIG/,
      );
      expect(() => enabledProviders({ GATEWAY_CONFIG: join(folder, 'none.yaml') })).toThrow(/ENOENT/);
    });
  });
});
