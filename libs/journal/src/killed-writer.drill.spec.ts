import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  crashRecord,
  eventsInto,
  openJournal,
  seededRandom,
  TestLedger,
  withFolder,
} from './journal.fixture.js';
import { Shipper } from './shipper.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const KILLS = 20;

/** Starts the writer, lets it acknowledge some hundred units, kills it; answers what it had acknowledged. */
async function killWriter(dir: string, afterBytes: number): Promise<number[]> {
  const script = join(root, 'dist/libs/journal/src/crash-writer.fixture.js');
  const child = spawn(process.execPath, [script, dir], { stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
    if (printed.length > afterBytes) child.kill('SIGKILL');
  });
  await once(child, 'close');
  return printed
    .slice(0, printed.lastIndexOf('\n'))
    .split('\n')
    .map((line) => Number(line));
}

describe('kill -9 of a process that writes flat out', () => {
  it(`B01 ${KILLS} kills: every acknowledged unit is found and shipped once, every other one is closed`, async () => {
    const random = seededRandom(20_261_121);
    for (let kill = 0; kill < KILLS; kill += 1) {
      await withFolder(async (dir) => {
        const acknowledged = await killWriter(dir, 500 + random.fraction() * 8_000);
        expect(acknowledged.length).toBeGreaterThan(50);
        const { journal, clock, alarms } = await openJournal(dir);
        const { crashed, epochs } = await journal.recover(crashRecord);
        const ledger = new TestLedger();
        const { append, watermark } = ledger;
        const shipper = new Shipper({
          append,
          watermark,
          clock,
          random,
          events: eventsInto(() => journal, alarms),
        });
        journal.follow(shipper);
        shipper.start();
        await clock.until(() => shipper.stats().backlog === 0 && journal.stats().takenOverEpochs === 0, 200);
        const served = ledger.landed.filter((record) => record.code === null);
        const units = new Set(served.map((record) => record.requestId));
        expect(acknowledged.filter((n) => !units.has(`req_${n}`))).toEqual([]);
        expect(units.size).toBe(served.length);
        expect(served.map((record) => record.seq)).toEqual(served.map((_, index) => index + 1));
        expect(epochs[0].lastSeq).toBe(served.length);
        // One of five units is never finished by the writer.
        const closed = new Set(
          ledger.landed.filter((record) => record.code === 'gateway_crash').map((record) => record.requestId),
        );
        expect(closed.size).toBe(crashed);
        expect([...closed].filter((id) => units.has(id))).toEqual([]);
        expect(crashed).toBeGreaterThanOrEqual(Math.floor(served.length / 4));
        expect(alarms.filter((alarm) => alarm.kind !== 'crashed_units')).toEqual([]);
        await shipper.stop();
        await journal.close();
      });
    }
  }, 600_000);
});
