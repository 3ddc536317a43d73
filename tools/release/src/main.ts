import { readFileSync } from 'node:fs';
import { readFlags } from '@gateway/platform/flags';

const USAGE = `usage: npm run release -- [--dry-run] [--key FILE] [--base IMAGE@sha256:DIGEST] [--require-advisories] [--help]

Makes the files of a release in .cache/release/<version> and then its tag; docs/operations/release.md says how to prepare one.
  --dry-run             make the files, say what is left to do, and tag nothing
  --key FILE            an Ed25519 key in PEM, which signs release.json
  --base IMAGE          the base image of the build, by its digest
  --require-advisories  fail where the registry gives no advisories
`;
const flag = { type: 'boolean', default: false } as const;
const { values } = readFlags(USAGE, {
  'dry-run': flag,
  'require-advisories': flag,
  key: { type: 'string' },
  base: { type: 'string' },
});
// After the flags: what it loads is not needed to answer them.
const { runIn } = await import('./inside.js');
const { release } = await import('./release.js');
const root = process.cwd();
try {
  const { lines, faults } = await release({
    root,
    run: runIn(root),
    isDryRun: values['dry-run'],
    requireAdvisories: values['require-advisories'],
    key: values.key === undefined ? undefined : readFileSync(values.key),
    base: values.base,
  });
  process.stdout.write(lines.map((line) => `${line}\n`).join(''));
  process.stderr.write(faults.map((line) => `${line}\n`).join(''));
  process.exitCode = faults.length === 0 ? 0 : 1;
} catch (failure) {
  process.stderr.write(`${failure instanceof Error ? failure.message : String(failure)}\n`);
  process.exitCode = 1;
}
