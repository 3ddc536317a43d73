import { jsonBody, lookAt, lookAtPath } from '@gateway/dialects';
import type { ProviderAccess } from '../provider.js';
import { PROVIDERS } from '../registry.generated.js';

const KEY: ProviderAccess['credential'] = { kind: 'api_key', key: 'secret' };

function provider(slug: string): (typeof PROVIDERS)[number] {
  const found = PROVIDERS.find((one) => one.slug === slug);
  if (!found) throw new Error(`no provider ${slug}`);
  return found;
}

describe('providers of images, each with its own key header', () => {
  it.each([
    ['bfl', 'https://api.bfl.ai/a', 'x-key', 'secret'],
    ['stability', 'https://api.stability.ai/a', 'authorization', 'Bearer secret'],
    ['ideogram', 'https://api.ideogram.ai/a', 'api-key', 'secret'],
    ['recraft', 'https://external.api.recraft.ai/v1/a', 'authorization', 'Bearer secret'],
    ['luma', 'https://api.lumalabs.ai/dream-machine/v1/a', 'authorization', 'Bearer secret'],
    ['fal', 'https://queue.fal.run/a', 'authorization', 'Key secret'],
    ['replicate', 'https://api.replicate.com/v1/a', 'authorization', 'Bearer secret'],
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

  it.each([
    ['stability', 403, 'content_policy_violation'],
    ['ideogram', 422, 'content_policy_violation'],
    ['bfl', 429, 'upstream_error'],
  ])('%s with %i means %s', (slug, status, code) => {
    const body = Buffer.from('{"message":"no"}');
    const signal = { kind: 'status', status, headers: {}, body, byok: false, nowMs: 0 } as const;
    expect(provider(slug).classify(signal).options.code).toBe(code);
  });
});
