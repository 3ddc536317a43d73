import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run, type Options } from './commands.js';
import { shifted, type Candidate } from './public-tables.js';

const NOW = new Date('2026-11-28T07:00:00Z');
const folder = mkdtempSync(join(tmpdir(), 'catalogue-tool-'));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (name: string): string => join(folder, name);
const go = (words: string, options: Options = {}) => run(words.split(' '), options, NOW);

describe('npm run catalogue', () => {
  it('issue 37 makes a key, builds, signs and verifies the data of this release, which differs in nothing', () => {
    const { lines, code } = go('keygen', { out: at('key.pem') });
    expect([code, lines]).toEqual([0, [expect.stringMatching(/^catalogue-2026-11-28=[A-Za-z0-9+/]{43}=$/)]]);
    const [keys] = lines;
    expect(go('build', { out: at('payload.json') }).lines).toEqual([
      expect.stringMatching(/^version 202611280700: \d+ models/),
    ]);
    const signing = { key: at('key.pem'), keyid: 'catalogue-2026-11-28', out: at('feed.json') };
    expect(go(`sign ${at('payload.json')}`, signing).code).toBe(0);
    expect(go(`verify ${at('feed.json')}`, { keys })).toMatchObject({
      code: 0,
      lines: [expect.stringContaining('signed by')],
    });
    expect(go(`diff ${at('feed.json')}`)).toEqual({ lines: ['nothing differs'], code: 0 });

    const payload = JSON.parse(readFileSync(at('payload.json'), 'utf8')) as {
      models: { id: string; name: string }[];
    };
    payload.models[0].name = 'Renamed';
    writeFileSync(at('other.json'), JSON.stringify(payload));
    expect(go(`diff ${at('feed.json')} ${at('other.json')}`)).toEqual({
      lines: [`changed ${payload.models[0].id}: name`],
      code: 1,
    });
    writeFileSync(at('forged.json'), readFileSync(at('feed.json'), 'utf8').replace('"sig":"', '"sig":"AA'));
    expect(go(`verify ${at('forged.json')}`, { keys })).toEqual({
      lines: ['The signature does not fit the document.'],
      code: 1,
    });
    expect(go('sign', {}).code).toBe(2);
  });

  it('issue 37 signs with a key that OpenSSL has made', () => {
    execFileSync('openssl', ['genpkey', '-algorithm', 'ed25519', '-out', at('openssl.pem')], {
      timeout: 20_000,
    });
    const out = at('by-openssl.json');
    const options = { key: at('openssl.pem'), keyid: 'o', out };
    expect(go(`sign ${at('payload.json')}`, options).code).toBe(0);
  });

  it('issue 37 reads public tables without rounding, and says how they differ from ours', () => {
    const table =
      '{"gpt-5.5": {"litellm_provider": "openai", "input_cost_per_token": 1.25e-06}, "sample_spec": {"litellm_provider": 1}}';
    writeFileSync(at('litellm.json'), table);
    expect(go(`import litellm ${at('litellm.json')}`, { out: at('rows.json') }).code).toBe(0);
    expect(JSON.parse(readFileSync(at('rows.json'), 'utf8')) as Candidate[]).toMatchObject([
      {
        provider: 'openai',
        upstream_model: 'gpt-5.5',
        model: 'openai/gpt-5.5',
        theirs: { prompt_usd_per_1m: '1.25' },
      },
    ]);
    writeFileSync(
      at('dev.json'),
      '{"groq": {"models": {"no-such": {"cost": {"input": 0.10, "output": 3}}}}}',
    );
    go(`import models.dev ${at('dev.json')}`, { out: at('rows.json') });
    expect(JSON.parse(readFileSync(at('rows.json'), 'utf8'))).toMatchObject([
      {
        provider: 'groq',
        model: null,
        ours: null,
        theirs: { prompt_usd_per_1m: '0.1', completion_usd_per_1m: '3' },
      },
    ]);
    writeFileSync(at('none.json'), '{');
    expect(go(`import litellm ${at('none.json')}`, { out: at('rows.json') }).code).toBe(1);
  });

  it.each([
    ['1.5e-07', 6, '0.15'],
    ['3e-06', 6, '3'],
    ['0.000000075', 6, '0.075'],
    ['2E-5', 6, '20'],
    ['0.10', 0, '0.1'],
    ['12', 0, '12'],
    ['0', 6, '0'],
    ['1.234567890123e-4', 6, '123.4567890123'],
  ])('issue 37 %s times 10^%i is %s', (text, power, expected) => {
    expect(shifted(text, power)).toBe(expected);
  });
});
