// `npm run check`: every check runs, also after one has failed, and the result is one line each.
// `--summary FILE` writes {passed, failed} for a caller that adds up.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { packageEnvironment, root, runGroup } from './bootstrap.mjs';

const HELP = `usage: npm run check -- [--summary FILE] [--help]

  --summary FILE  write {passed, failed} to the file, as JSON
  --help          print this
`;
const flags = readFlags();

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
// The type check needs the generated clients, and the tools of this repository are run from the build.
const steps = [
  'build',
  'format:check',
  'lint',
  'typecheck',
  'unused',
  'check-house',
  'requirements',
  'docs:check',
  'chart',
  'alerts',
  'packages',
];

const results = [];
for (const step of steps.filter((name) => name in scripts)) {
  process.stdout.write(`\n> ${step}\n`);
  const started = performance.now();
  const options = { env: packageEnvironment(), stdio: ['ignore', 'inherit', 'inherit'] };
  const { code } = await runGroup('npm', ['run', '--silent', step], options);
  results.push({ step, isPassed: code === 0, seconds: (performance.now() - started) / 1000 });
}

process.stdout.write('\n');
for (const { step, isPassed, seconds } of results) {
  process.stdout.write(`${isPassed ? 'passed' : 'FAILED'}  ${step} (${seconds.toFixed(1)} s)\n`);
}
const failed = results.filter(({ isPassed }) => !isPassed).length;
if (flags.summary !== undefined) {
  writeFileSync(flags.summary, JSON.stringify({ passed: results.length - failed, failed }));
}
process.exitCode = failed === 0 ? 0 : 1;

/** Ends the process for `--help` and for a flag that is not known. */
function readFlags() {
  try {
    const options = { help: { type: 'boolean', default: false }, summary: { type: 'string' } };
    const { values } = parseArgs({ options });
    if (!values.help) return values;
    process.stdout.write(HELP);
  } catch (error) {
    process.stderr.write(`${error.message.split('. ')[0]}.\n`);
    process.exit(2);
  }
  process.exit(0);
}
