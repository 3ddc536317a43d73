import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { example, exampleEnvironment } from './example-environment.fixture.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** A setting of a config class: its decorators, then its name. */
const SETTING = /^ {2}(?:@[^;=]*\) )?([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|HOST|PORT)[!?]?(?::| =)/gm;
const SERVICES = ['edge', 'catalogue', 'keys', 'usage', 'notifications', 'workers'];

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
  it.each(SERVICES)('as it stands, with secrets of its own, is a valid configuration of %s', (service) => {
    const main = `${ROOT}dist/apps/${service}/src/main.js`;
    const env = exampleEnvironment();
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
