import { readFileSync } from 'node:fs';
import { PROVIDERS } from './registry.generated.js';

describe('the registry of providers', () => {
  it('is what its generator writes', async () => {
    const generator = await import('../generate-registry.mjs');
    const checkedIn = readFileSync(new URL('registry.generated.ts', import.meta.url), 'utf8');
    expect(checkedIn).toBe(generator.registrySource());
  });

  it('has one provider per slug and per variable', () => {
    expect(new Set(PROVIDERS.map((provider) => provider.slug)).size).toBe(PROVIDERS.length);
    const addresses = PROVIDERS.map((provider) => provider.baseUrlEnv);
    expect(new Set(addresses).size).toBe(addresses.length);
  });
});
