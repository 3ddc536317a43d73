import 'reflect-metadata';
import { readFlags } from '@gateway/platform/flags';

const USAGE = `usage: npm run import -- litellm config.yaml [--out DIR]
Prints what a configuration of LiteLLM becomes here and what has no counterpart. --out writes gateway.yaml,
plan.json and no-counterpart.md into a new folder.
`;

const { values, positionals } = readFlags(USAGE, { out: { type: 'string' } }, { takesWords: true });
const [source, path, ...others] = positionals;
if (source !== 'litellm' || path === undefined || others.length > 0) {
  process.stderr.write(USAGE);
  process.exitCode = 2;
} else {
  // After the flags: what it loads takes most of a second.
  const { runImport } = await import('./run-import.js');
  const { lines, fault, code } = runImport(path, values, process.env);
  process.stdout.write(lines.map((line) => `${line}\n`).join(''));
  if (fault !== null) process.stderr.write(`${fault}\n`);
  process.exitCode = code;
}
