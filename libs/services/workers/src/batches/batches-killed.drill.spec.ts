import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI, { toFile } from 'openai';
import { mintSecret, SystemRandom } from '@gateway/platform';
import { eventually, repository, startProgram, testPostgres, type TestDatabase } from '@gateway/testing';
import { MIGRATED, startWorkersApp, type WorkersApp } from '../workers.fixture.js';

const FIXTURE = join(repository, 'dist/libs/services/workers/src/batches/run-batches.fixture.js');
const KEY = mintSecret('rsk_', new SystemRandom());
const LINES = 60;
const SLOWLY = { timeoutMs: 60_000 };
const KILLS = [1, 20, 45];
/** Time of the whole test: several processes start one after the other, beside other tests. */
const TIMEOUT_MS = 240_000;

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Json = Record<string, any>;

describe('a batch whose worker is killed again and again', () => {
  let database: TestDatabase;
  let app: WorkersApp;
  let folder: string;

  beforeAll(async () => {
    database = await testPostgres();
    await MIGRATED.migrate(database.url);
    folder = mkdtempSync(join(tmpdir(), 'killed-'));
  });
  afterAll(async () => {
    await app?.close();
    await database.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  it(
    'BAT-01 ST-12 is finished by others: each line has one answer and no other unit than its own',
    async () => {
      const config = { WORKERS_LEASE_MS: 300 };
      const first = await startProgramOf();
      const url = String(first.ready[1]);
      const openai = new OpenAI({ apiKey: KEY, baseURL: `${url}/v1`, maxRetries: 0 });
      const lines = Array.from({ length: LINES }, (_, n) =>
        JSON.stringify({
          custom_id: `c-${n}`,
          method: 'POST',
          url: '/v1/embeddings',
          body: { model: 'sim/embedding', input: String(n) },
        }),
      );
      const file = await toFile(Buffer.from(lines.join('\n')), 'in.jsonl');
      const { id: input_file_id } = await openai.files.create({ file, purpose: 'batch' });
      const made = { input_file_id, endpoint: '/v1/embeddings', completion_window: '24h' } as const;
      const { id } = await openai.batches.create(made);

      const asked = new Set<string>();
      let program = first;
      for (const kill of KILLS) {
        await eventually(() => unitsOf(program.output(), asked).size >= kill, SLOWLY);
        await program.kill();
        unitsOf(program.output(), asked);
        program = await startProgramOf();
      }
      await eventually(() => unitsOf(program.output(), asked).size >= LINES, SLOWLY);
      await program.kill();

      app = await startWorkersApp(database.url, { folder, config });
      const key = app.keyOf('key_killed', KEY);
      let batch: Json = {};
      await eventually(async () => {
        batch = (await app.call('GET', `/v1/batches/${id}`, key)).body as Json;
        return batch.status === 'completed';
      }, SLOWLY);
      expect(batch.request_counts).toEqual({ total: LINES, completed: LINES, failed: 0 });
      const output = await app.call('GET', `/v1/files/${batch.output_file_id}/content`, key);
      const ids = output.text
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as Json).custom_id);
      expect(ids).toEqual(Array.from({ length: LINES }, (_, n) => `c-${n}`));
      for (const { request_id, unit } of app.inference.calls) asked.add(`${request_id} ${unit}`);
      expect(asked.size).toBe(LINES);
    },
    TIMEOUT_MS,
  );

  function startProgramOf(): ReturnType<typeof startProgram> {
    return startProgram({
      command: process.execPath,
      args: [FIXTURE, database.url, folder, KEY],
      readyWhen: /ready (\S+)\n/,
      timeoutMs: 60_000,
    });
  }
});

/** Units that the program has asked for, whole lines alone. */
function unitsOf(output: string, into: Set<string>): Set<string> {
  for (const [, unit] of output.matchAll(/^unit (\S+ \d+)\n/gm)) into.add(unit);
  return into;
}
