import { readFlags } from '@gateway/platform';
import { checkHouse } from './house.js';
import { readTree } from './tree.js';

readFlags('usage: npm run check-house', {});
const tree = readTree(process.cwd());
const findings = checkHouse(tree);
for (const { path, line, rule, message } of findings) {
  process.stdout.write(`${path}${line === undefined ? '' : `:${line}`}  ${rule}  ${message}\n`);
}
process.stdout.write(`check-house: ${findings.length} faults in ${tree.size} files\n`);
process.exitCode = findings.length === 0 ? 0 : 1;
