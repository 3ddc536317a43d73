import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** A setting of a config class: its decorators, then its name. */
const SETTING = /^ {2}(?:@[^;=]*\) )?([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|HOST|PORT)[!?]?(?::| =)/gm;
const SERVICES = ['edge', 'catalogue', 'keys', 'usage', 'notifications', 'workers'];
/** Left empty in the file, because nobody else may have them. */
const OWN_SECRETS = /^(?:FLEET_TOKEN|KEYS_PEPPER|[A-Z]+_KEK)$/;

function settings(): string[] {
  const files = globSync(
    ['libs/**/src/**/*.config.ts', 'apps/*/src/*.config.ts', 'apps/edge/src/edge-limits.ts'],
    {
      cwd: ROOT,
    },
  ).filter((file) => !file.includes('node_modules'));
  return files.flatMap((file) =>
    [...readFileSync(`${ROOT}${file}`, 'utf8').matchAll(SETTING)].map(([, name]) => name),
  );
}

describe('.env.example', () => {
  const example = readFileSync(`${ROOT}.env.example`, 'utf8');

  it.each(SERVICES)('as it stands, with secrets of its own, is a valid configuration of %s', (service) => {
    const set = [...example.matchAll(/^([A-Z][A-Z0-9_]*)=(.*)$/gm)].map(([, name, value]) => {
      const isOwn = value === '' && OWN_SECRETS.test(name);
      return [name, isOwn ? Buffer.alloc(32, name).toString('base64') : value] as const;
    });
    const main = `${ROOT}dist/apps/${service}/src/main.js`;
    const env = { ...Object.fromEntries(set), PATH: process.env.PATH };
    const checked = spawnSync(process.execPath, [main, '--check-config'], {
      cwd: ROOT,
      env,
      encoding: 'utf8',
    });
    expect(checked).toMatchObject({ status: 0, stdout: `${service}: the configuration is valid\n` });
  });

  it('names every setting of every process', () => {
    const names = [...new Set(settings())];
    expect(names.length).toBeGreaterThan(40);
    expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(example))).toEqual([]);
  });
});
