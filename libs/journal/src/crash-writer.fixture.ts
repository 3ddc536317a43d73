// A process that journals flat out until it is killed: `<dir>`. It prints each unit whose answer it has let go.
import { randomBytes } from 'node:crypto';
import { writeSync } from 'node:fs';
import { Journal } from './journal.js';
import { intentFor, TestClock, usage } from './journal.fixture.js';

const [, , dir] = process.argv;
const journal = await Journal.open({
  dir,
  producer: 'edge-0',
  clock: new TestClock(),
  random: { bytes: (size) => randomBytes(size), fraction: () => 0.5 },
  sync: 'group',
  budgetBytes: 1024 * 1024 * 1024,
  // Small, so that kills fall into rolls, too.
  segmentBytes: 64 * 1024,
  onAlarm: (alarm) => process.stderr.write(`${JSON.stringify(alarm)}\n`),
});

async function turn(first: number): Promise<void> {
  const units = [0, 1, 2, 3, 4].map((n) => first + n);
  for (const n of units) journal.intent(intentFor(n));
  const answers = units.slice(1).map(async (n) => {
    await journal.commit(journal.outcome('gateway.usage.v1', 'acct_1', usage(n)));
    writeSync(1, `${n}\n`);
  });
  await Promise.all(answers);
  setImmediate(() => void turn(first + 5));
}

await turn(1);
