import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ENDPOINTS } from './registry.generated.js';

describe('the registry of endpoints', () => {
  it('is what its generator writes', () => {
    const generator = fileURLToPath(new URL('../generate-registry.mjs', import.meta.url));
    const checkedIn = readFileSync(new URL('registry.generated.ts', import.meta.url), 'utf8');
    expect(execFileSync(process.execPath, [generator, '--print'], { encoding: 'utf8' })).toBe(checkedIn);
  });

  it('has each path and each name of a schema once', () => {
    const paths = ENDPOINTS.flatMap((endpoint) => endpoint.paths);
    expect(new Set(paths).size).toBe(paths.length);
    const schemas = ENDPOINTS.map(({ docs }) => docs.schemaName);
    expect(new Set(schemas).size).toBe(schemas.length);
  });
});
