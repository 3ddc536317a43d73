import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startProgram, type Program } from '@gateway/testing';

const main = fileURLToPath(new URL('../dist/lab/chaos/src/main.js', import.meta.url));

describe('npm run chaos', () => {
  let folder: string;
  let program: Program | null = null;
  beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'chaos-report-'))));
  afterAll(async () => {
    // It stops what it has started before it ends.
    program?.signal('SIGTERM');
    await program?.ended;
    rmSync(folder, { recursive: true, force: true });
  });

  it('B01 B02 B03 B04 loses and doubles nothing when edges, ledger, PostgreSQL, Kafka or anything else is killed: two seeds each', async () => {
    if (!existsSync(main)) throw new Error(`${main} is missing: run "npm run build", or "npm test".`);
    const report = join(folder, 'report');
    const cases = ['--case', 'B01,B02,B03,B04,any', '--seeds', '2', '--requests', '40'];
    program = await startProgram({
      command: process.execPath,
      args: [main, ...cases, '--report', report],
      readyWhen: /the fleet serves/,
      timeoutMs: 200_000,
    });
    const ended = await program.ended;
    // What a failed seed was, and the command that repeats it.
    expect([ended, ended === 0 ? '' : program.output().slice(-6_000)]).toEqual([0, '']);
    const { lost, doubled, failures, whole, kills, events } = JSON.parse(
      readFileSync(`${report}.json`, 'utf8'),
    ) as Record<string, unknown>;
    expect({ lost, doubled, failures }).toEqual({ lost: 0, doubled: 0, failures: [] });
    expect(kills).toBeGreaterThan(10);
    // Most answers arrive all the same, and every one that began has its event.
    expect(whole).toBeGreaterThan(200);
    expect(events).toBeGreaterThanOrEqual(whole as number);
  }, 900_000);
});
