import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI, { toFile } from 'openai';
import { mintSecret, SystemClock, SystemRandom } from '@gateway/platform';
import {
  eventually,
  FastClock,
  repository,
  startProgram,
  testPostgres,
  type TestDatabase,
} from '@gateway/testing';
import { MIGRATED, startWorkersApp } from '../workers.fixture.js';

const FIXTURE = join(repository, 'dist/libs/services/workers/src/batches/run-upstream.fixture.js');
const KEY = mintSecret('rsk_', new SystemRandom());
const LINES = 4;
/** A begin of which nobody knows is waited for half a minute: every worker's clock runs this much faster. */
const SPEED = 20;
const FROM_MS = new SystemClock().now();
const clock = new FastClock(new SystemClock(), SPEED, { machineMs: FROM_MS, shownMs: FROM_MS });
/** 300 ms of the machine's. */
const config = { WORKERS_LEASE_MS: 300 * SPEED };
const SLOWLY = { timeoutMs: 120_000 };
const TIMEOUT_MS = 600_000;
/** Each worker of the chain dies there; the last one ends what is left. */
const DEATHS = [
  'before upload',
  'after upload',
  'before create',
  'after create',
  'before look',
  'after look',
  'after unit',
];

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Json = Record<string, any>;

describe('a batch at its provider whose worker is killed at every step', () => {
  let database: TestDatabase;
  let folder: string;

  beforeAll(async () => {
    database = await testPostgres();
    await MIGRATED.migrate(database.url);
    folder = mkdtempSync(join(tmpdir(), 'killed-upstream-'));
  });
  afterAll(async () => {
    await database.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  function start(dies: string): ReturnType<typeof startProgram> {
    return startProgram({
      command: process.execPath,
      args: [FIXTURE, database.url, folder, KEY, dies, ...[LINES, FROM_MS, SPEED].map(String)],
      readyWhen: /starting\n/,
      timeoutMs: 60_000,
    });
  }

  it(
    'BAT-01 BAT-04 ST-12 is begun once, each line is priced once by its answer, nothing stays held',
    async () => {
      const seed = await startWorkersApp(database.url, { folder, config, clock });
      seed.keyOf('key_killed', KEY);
      const openai = new OpenAI({ apiKey: KEY, baseURL: `${seed.url}/v1`, maxRetries: 0 });
      const lines = Array.from({ length: LINES }, (_, n) =>
        JSON.stringify({
          custom_id: `c-${n}`,
          method: 'POST',
          url: '/v1/messages',
          body: { model: 'sim/claude', max_tokens: 1, messages: [{ role: 'user', content: String(n) }] },
        }),
      );
      const file = await toFile(Buffer.from(lines.join('\n')), 'in.jsonl');
      const { id: input_file_id } = await openai.files.create({ file, purpose: 'batch' });
      await seed.close();

      let output = '';
      let id = '';
      for (const dies of DEATHS) {
        const program = await start(dies);
        if (id === '') {
          const url = await eventually(() => /ready (\S+)\n/.exec(program.output())?.[1], SLOWLY);
          const at = new OpenAI({ apiKey: KEY, baseURL: `${url}/v1`, maxRetries: 0 });
          const made = { input_file_id, endpoint: '/v1/messages', completion_window: '24h' };
          id = (await at.batches.create(made as never)).id;
        }
        expect(await program.ended).toBe('SIGKILL');
        output += program.output();
      }
      const last = await startWorkersApp(database.url, { folder, config, clock });
      const key = last.keyOf('key_killed', KEY);
      last.inference.hold = async ({ nano }) => appendFileSync(join(folder, 'holds'), `${nano}\n`);
      last.inference.answer = (call) => ({
        ...{ status: 200, body: { answer: call.unit }, retry_after_seconds: null, unit_ended: true },
      });
      let batch: Json = {};
      await eventually(async () => {
        batch = (await last.call('GET', `/v1/batches/${id}`, key)).body as Json;
        return batch.status === 'completed';
      }, SLOWLY);
      expect(batch.request_counts).toEqual({ total: LINES, completed: LINES, failed: 0 });
      expect(readFileSync(join(folder, 'begun'), 'utf8')).toBe('up-0\n');
      const units = new Set([...output.matchAll(/^unit (\S+ \d+) (\w+)$/gm)].map(([, unit]) => unit));
      for (const { request_id, unit, given } of last.inference.calls) {
        expect(given).toBeDefined();
        units.add(`${request_id} ${unit}`);
      }
      expect(output).not.toContain(' run\n');
      expect(units.size).toBe(LINES);
      // Of all workers, in the order of asking: a provider has all lines, so all of them are held.
      const holds = readFileSync(join(folder, 'holds'), 'utf8').trim().split('\n');
      expect(holds[0]).toBe('4000');
      expect(holds.at(-1)).toBe('0');
      await last.close();
    },
    TIMEOUT_MS,
  );
});
