import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
});
