import { existsSync, globSync, readFileSync } from 'node:fs';
import { readFlags } from '@gateway/platform/flags';

readFlags('usage: npm run requirements', {});

// After the flags: what it loads takes most of a second.
const { cover, missingHeld, parseHeld, parseRequirements } = await import('./requirements.js');
const { titleIds } = await import('./titles.js');
const requirements = parseRequirements(readFileSync('docs/requirements.tsv', 'utf8'));
const heldList = 'docs/requirements.held';
const held = existsSync(heldList) ? parseHeld(readFileSync(heldList, 'utf8')) : [];
const specs = globSync(['apps', 'libs', 'tools', 'lab', 'e2e'].map((top) => `${top}/**/*.spec.{ts,tsx}`));
const coverage = cover(
  requirements,
  specs.flatMap((path) => titleIds(path, readFileSync(path, 'utf8'))),
);

for (const { slice, carried, missing } of coverage.slices) {
  process.stdout.write(
    `${slice}: ${carried.length} of ${carried.length + missing.length} carried by a test\n`,
  );
  if (missing.length > 0) process.stdout.write(`  not carried: ${missing.join(' ')}\n`);
}
for (const { id, path } of coverage.unknown) process.stdout.write(`${path}: ${id} is no requirement\n`);

const broken = missingHeld(requirements, coverage, held);
if (broken.length > 0) process.stdout.write(`held, but carried by no test: ${broken.join(' ')}\n`);
process.exitCode = broken.length + coverage.unknown.length === 0 ? 0 : 1;
