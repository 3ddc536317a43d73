import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { PROVIDERS } from './registry.generated.js';

describe('the registry of providers', () => {
  it('is what its generator writes', () => {
    const generator = fileURLToPath(new URL('../generate-registry.mjs', import.meta.url));
    const checkedIn = readFileSync(new URL('registry.generated.ts', import.meta.url), 'utf8');
    expect(execFileSync(process.execPath, [generator, '--print'], { encoding: 'utf8' })).toBe(checkedIn);
  });

  it('has one provider per slug and per variable', () => {
    expect(new Set(PROVIDERS.map((provider) => provider.slug)).size).toBe(PROVIDERS.length);
    const addresses = PROVIDERS.map((provider) => provider.baseUrlEnv);
    expect(new Set(addresses).size).toBe(addresses.length);
  });
});
