import 'reflect-metadata';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readFlags } from '@gateway/platform/flags';

/** Writes the generated documents into docs/; `--check` compares instead and ends with 1 where one is stale. */
const USAGE = 'usage: npm run docs:generate -- [--check]';
const { values } = readFlags(USAGE, { check: { type: 'boolean', default: false } });

// After the flags: what it loads takes most of a second.
const { documents } = await import('./documents.js');
const folder = join(process.cwd(), 'docs');
for (const [name, text] of documents()) {
  const path = join(folder, name);
  if (!values.check) {
    writeFileSync(path, text);
  } else if (!existsSync(path) || readFileSync(path, 'utf8') !== text) {
    process.stderr.write(`docs/${name} is stale: run npm run docs:generate\n`);
    process.exitCode = 1;
  }
}
