import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** A setting of a config class: its decorators, then its name. */
const SETTING = /^ {2}(?:@[^;=]*\) )?([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|HOST|PORT)[!?]?(?::| =)/gm;
/** Set by the all-in-one for itself, or read by npm start alone. */
const NOT_FOR_OPERATORS = new Set(['EDGE_URL']);

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
  it('names every setting of every process', () => {
    const names = [...new Set(settings())].filter((name) => !NOT_FOR_OPERATORS.has(name));
    expect(names.length).toBeGreaterThan(40);
    const example = readFileSync(`${ROOT}.env.example`, 'utf8');
    expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(example))).toEqual([]);
  });
});
