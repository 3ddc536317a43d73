import 'reflect-metadata';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { readFlags } from '@gateway/platform/flags';

/** Writes the generated documents; `--check` compares instead and ends with 1 where one is stale. */
const USAGE = 'usage: npm run docs:generate -- [--check]';
const { values } = readFlags(USAGE, { check: { type: 'boolean', default: false } });

// After the flags: what it loads takes most of a second.
const { documents } = await import('./documents.js');
for (const [path, text] of documents()) {
  if (!values.check) {
    writeFileSync(path, text);
  } else if (!existsSync(path) || readFileSync(path, 'utf8') !== text) {
    process.stderr.write(`${path} is stale: run npm run docs:generate\n`);
    process.exitCode = 1;
  }
}
