// `npm run reconcile -- [--journal FOLDER]… [--repair] [--json]`: proves the books of the ledger, the limit store and
// the journals given. Exit code 0: no difference; 1: some; 2: it could not be proved.
import 'reflect-metadata';
import { readFlags } from '@gateway/platform/flags';

const { values } = readFlags('usage: npm run reconcile -- [--journal FOLDER]… [--repair] [--json]', {
  journal: { type: 'string', multiple: true, default: [] },
  repair: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
});

// After the flags: what it loads takes most of a second.
const { openOperator } = await import('./operator.js');
const { report } = await import('./report.js');

try {
  const operator = await openOperator(process.env);
  try {
    const options = { journals: values.journal, isRepair: values.repair };
    const found = await operator.reconcile(options);
    process.stdout.write(values.json ? `${JSON.stringify(found)}\n` : report(found));
    // What a repair has left is the next proof's: this one reports what was found.
    process.exitCode = found.findings.length === 0 ? 0 : 1;
  } finally {
    await operator.close();
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}
