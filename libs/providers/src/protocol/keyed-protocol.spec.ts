import { jsonBody, lookAt, lookAtPath } from '@gateway/dialects';
import type { ProviderAccess } from '../provider.js';
import { PROVIDERS } from '../registry.generated.js';

const KEY: ProviderAccess['credential'] = { kind: 'api_key', key: 'secret' };

function provider(slug: string): (typeof PROVIDERS)[number] {
  const found = PROVIDERS.find((one) => one.slug === slug);
  if (!found) throw new Error(`no provider ${slug}`);
  return found;
}

describe('providers of images and videos, each with its own key header', () => {
  it.each([
    ['bfl', 'https://api.bfl.ai/a', 'x-key', 'secret'],
    ['stability', 'https://api.stability.ai/a', 'authorization', 'Bearer secret'],
    ['ideogram', 'https://api.ideogram.ai/a', 'api-key', 'secret'],
    ['recraft', 'https://external.api.recraft.ai/v1/a', 'authorization', 'Bearer secret'],
    ['luma', 'https://api.lumalabs.ai/dream-machine/v1/a', 'authorization', 'Bearer secret'],
    ['fal', 'https://queue.fal.run/a', 'authorization', 'Key secret'],
    ['replicate', 'https://api.replicate.com/v1/a', 'authorization', 'Bearer secret'],
    ['bytedance', 'https://ark.ap-southeast.bytepluses.com/api/v3/a', 'authorization', 'Bearer secret'],
    ['kling', 'https://api-singapore.klingai.com/a', 'authorization', 'Bearer secret'],
    ['runway', 'https://api.dev.runwayml.com/a', 'x-runway-version', '2024-11-06'],
  ])('%s is called at its address', async (slug, url, header, value) => {
    const one = provider(slug);
    const access = { baseUrl: one.defaultBaseUrl, credential: KEY };
    const request = await one.prepare(jsonBody('/a', 'application/json', {}), access);
    expect(request).toMatchObject({ method: 'POST', url, headers: { [header]: value } });
    const look = await one.prepare(lookAtPath('/a'), access);
    expect(look).toMatchObject({ method: 'GET', url, byteLength: 0, headers: { [header]: value } });
    expect(look.headers).not.toHaveProperty('content-type');
  });

  it.each([
    ['bfl', 'https://api.us1.bfl.ai/v1/get_result?id=1'],
    ['fal', 'https://queue.fal.run/fal-ai/flux/requests/1/status'],
    ['replicate', 'https://api.replicate.com/v1/predictions/1'],
  ])('%s is looked at where its answer says, and nobody else gets the key', async (slug, url) => {
    const one = provider(slug);
    const access = { baseUrl: one.defaultBaseUrl, credential: KEY };
    expect(await one.prepare(lookAt(url), access)).toMatchObject({ method: 'GET', url });
    expect(() => one.prepare(lookAt('https://collector.example/'), access)).toThrow('none of the provider');
  });

  it('minimax’s videos have another version of its API', async () => {
    const one = provider('minimax');
    const access = { baseUrl: one.defaultBaseUrl, credential: KEY };
    const urlOf = async (path: string): Promise<string> =>
      (await one.prepare(jsonBody(path, 'application/json', {}), access)).url;
    expect(await urlOf('/v2/video_generation')).toBe('https://api.minimax.io/v2/video_generation');
    expect(await urlOf('/chat/completions')).toBe('https://api.minimax.io/v1/chat/completions');
  });

  it.each([
    ['bytedance', { error: { code: 'OutputVideoSensitiveContentDetected', message: 'no' } }],
    ['kling', { error: { code: '1301', message: 'no' } }],
  ])('%s says by a code that content was refused', (slug, body) => {
    const bytes = Buffer.from(JSON.stringify(body));
    const signal = { kind: 'status', status: 400, headers: {}, body: bytes, byok: false, nowMs: 0 } as const;
    expect(provider(slug).classify(signal).options.code).toBe('content_policy_violation');
  });

  it.each([
    ['stability', 403, 'content_policy_violation'],
    ['ideogram', 422, 'content_policy_violation'],
    ['bfl', 429, 'upstream_error'],
    ['runway', 429, 'upstream_error'],
  ])('%s with %i means %s', (slug, status, code) => {
    const body = Buffer.from('{"message":"no"}');
    const signal = { kind: 'status', status, headers: {}, body, byok: false, nowMs: 0 } as const;
    expect(provider(slug).classify(signal).options.code).toBe(code);
  });
});
