import { readFlags } from '@gateway/platform/flags';
import { judged, packagesInside, runIn } from './inside.js';

const USAGE = `usage: npm run packages -- [--require-advisories] [--help]

Names each package of the images whose licence is not allowed, or that has an advisory of high or critical severity.
  --require-advisories  fail where the registry gives no advisories
`;
const { values } = readFlags(USAGE, { 'require-advisories': { type: 'boolean', default: false } });
const root = process.cwd();
const inside = await packagesInside(root);
const { faults, notes } = judged(inside, runIn(root), values['require-advisories']);
for (const line of [...notes, ...faults]) process.stdout.write(`${line}\n`);
process.stdout.write(`packages: ${inside.size} are inside, ${faults.length} faults\n`);
process.exitCode = faults.length === 0 ? 0 : 1;
