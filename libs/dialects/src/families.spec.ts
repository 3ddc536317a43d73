import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { TEXT_DIALECTS } from './families.generated.js';

describe('the registry of dialects', () => {
  it('is what its generator writes', () => {
    const generator = fileURLToPath(new URL('../generate-registry.mjs', import.meta.url));
    const checkedIn = readFileSync(new URL('families.generated.ts', import.meta.url), 'utf8');
    expect(execFileSync(process.execPath, [generator, '--print'], { encoding: 'utf8' })).toBe(checkedIn);
  });

  it('has each text dialect under its own name', () => {
    expect([...TEXT_DIALECTS.entries()].every(([name, dialect]) => dialect.name === name)).toBe(true);
  });
});
