import { readFlags } from '@gateway/platform/flags';

readFlags('usage: npm run check-house', {});

// After the flags: what it loads takes most of a second.
const { checkHouse } = await import('./house.js');
const { readTree } = await import('./tree.js');
const tree = readTree(process.cwd());
const findings = checkHouse(tree);
for (const { path, line, rule, message } of findings) {
  process.stdout.write(`${path}${line === undefined ? '' : `:${line}`}  ${rule}  ${message}\n`);
}
process.stdout.write(`check-house: ${findings.length} faults in ${tree.size} files\n`);
process.exitCode = findings.length === 0 ? 0 : 1;
