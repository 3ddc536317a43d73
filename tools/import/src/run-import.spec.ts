import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readCatalogueConfig } from '@gateway/catalogue';
import { runImport as run } from './run-import.js';

const runImport = (file: string, options = {}) =>
  run('litellm', file, options, { env: {}, now: new Date('2026-11-29T00:00:00Z') });

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'import-'));
  path = join(folder, 'config.yaml');
  writeFileSync(
    path,
    'model_list: [{ model_name: gpt, litellm_params: { model: openai/gpt-5.5 } }]\nguardrails: [{ a: b }]\n',
  );
});
afterEach(() => rmSync(folder, { recursive: true }));

const modeOf = (name: string): number => statSync(name).mode & 0o777;

describe('npm run import', () => {
  it('prints what it would write, and writes nothing', async () => {
    expect(await runImport(path)).toEqual({
      lines: [
        '+ alias gpt: openai/gpt-5.5 1',
        '',
        'Without a counterpart:',
        '  config.yaml, line 2: guardrails[0]: guardrails have no counterpart',
      ],
      ...{ fault: null, code: 0 },
    });
    expect(readdirSync(folder)).toEqual(['config.yaml']);
  });

  it('writes a new folder for its owner alone, with a gateway.yaml that a start takes', async () => {
    const out = join(folder, 'out');
    expect((await runImport(path, { out })).code).toBe(0);
    const files = ['gateway.yaml', 'no-counterpart.md', 'plan.json'];
    expect([modeOf(out), readdirSync(out).toSorted()]).toEqual([0o700, files]);
    expect(files.map((name) => modeOf(join(out, name)))).toEqual([0o600, 0o600, 0o600]);
    readCatalogueConfig({
      GATEWAY_CONFIG: join(out, 'gateway.yaml'),
      CATALOGUE_DATABASE_URL: 'postgresql://gateway@127.0.0.1/gateway',
    });
    expect(readFileSync(join(out, 'no-counterpart.md'), 'utf8')).toContain(
      '- config.yaml, line 2: guardrails',
    );
    expect(await runImport(path, { out })).toMatchObject({
      code: 2,
      fault: expect.stringMatching(/there already/),
    });
  });

  it('ends with 2 where the file is not there, and with 1 where it cannot be read', async () => {
    expect(await runImport(join(folder, 'none'))).toMatchObject({ code: 2 });
    writeFileSync(path, 'a: [');
    expect(await runImport(path)).toMatchObject({
      code: 1,
      fault: expect.stringMatching(/^config\.yaml, line 1/),
    });
  });
});
