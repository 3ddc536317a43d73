import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { ApiError, type UpstreamBatch } from '@gateway/contracts';
import { FolderStore } from '@gateway/object-store';
import { SystemClock, SystemRandom } from '@gateway/platform';
import { eventually, FixedClock, InferenceDouble, testPostgres, type TestDatabase } from '@gateway/testing';
import { pino } from 'pino';
import { contentOf, FileStore } from '../files/files.store.js';
import { WorkersDatabase } from '../postgres/workers-database.js';
import { WorkersConfig } from '../workers.config.js';
import { MIGRATED } from '../workers.fixture.js';
import { BatchAnswers } from './batch-answers.js';
import { BatchWork } from './batch-work.js';
import { BatchStore, type Batch } from './batches.store.js';
import { UpstreamRunner } from './upstream-runner.js';
import { UpstreamWork } from './upstream-work.js';

const START = '2026-11-24T10:00:00Z';
const WORKER = 'worker';
const LEASE_MS = 30_000;
const WHOSE = { key_id: 'key_up', account_id: 'acct_up' };
const STATE = { credential: 'acme', file: 'file-up', path: '/messages', sent: 'AQ==', id: null };

describe('a batch whose begin at its provider fails', () => {
  let test: TestDatabase;
  let database: WorkersDatabase;
  let folder: string;
  const random = new SystemRandom();
  const config = Object.assign(new WorkersConfig(), {
    WORKERS_BATCH_LINES: 8,
    WORKERS_UPSTREAM_BATCHES: true,
    WORKERS_LEASE_MS: LEASE_MS,
  });

  beforeAll(async () => {
    test = await testPostgres();
    await MIGRATED.migrate(test.url);
    database = new WorkersDatabase({ url: test.url, maxConnections: 2, onIdleError: () => undefined });
    folder = mkdtempSync(join(tmpdir(), 'upstream-work-'));
  });
  afterAll(async () => {
    await database.onApplicationShutdown();
    await test.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('BAT-04 is looked for after the time that a begin may take, and not begun before that', async () => {
    const clock = new FixedClock(START);
    const batches = new BatchStore(database, clock, random);
    const files = new FileStore(database, clock, random);
    const objects = new FolderStore({ folder, publicUrl: 'http://127.0.0.1', clock, random });
    const inference = new InferenceDouble();
    const answers = new BatchAnswers(database);
    const work = new UpstreamWork(batches, answers, files, objects, inference, clock, config);
    await add(batches, files, objects, clock);

    /** Each step and the second at which it is asked for. */
    const asked: string[] = [];
    inference.upstream = ({ step }): UpstreamBatch => {
      asked.push(`${step} ${(clock.now() - Date.parse(START)) / 1_000}`);
      if (step === 'upload') return { kind: 'at', state: STATE };
      if (step === 'create') throw new ApiError('service_unavailable');
      // It is listed late.
      return { kind: 'at', state: { ...STATE, id: 'up-1' } };
    };
    const claimed = await batches.claim(WORKER, LEASE_MS, false);
    await work.upload(claimed as Batch, WORKER, new AbortController().signal);
    for (let second = 0; second < 60; second += 1) {
      const batch = await batches.claim(WORKER, LEASE_MS, true);
      if (batch !== null) await work.pollStep(batch, WORKER);
      await clock.advance(1_000);
    }
    expect(asked.slice(0, 3)).toEqual(['upload 0', 'create 1', 'find 37']);
    expect(asked.filter((step) => step.startsWith('create'))).toHaveLength(1);
  });

  it('BAT-04 visits wait for no other account, however long those of that one take', async () => {
    const clock = new SystemClock();
    const at = (id: string, account: string): Promise<unknown> =>
      database.pool.query(
        `INSERT INTO batches (id, key_id, account_id, request_id, endpoint, model, provider, input_file_id, status,
           created_at, expires_at, upstream)
         VALUES ($1, 'key', $2, $1, '/v1/messages', 'm', 'p', 'f', 'in_progress', now(), now() + interval '1 day', $3)`,
        [id, account, { kind: 'at' }],
      );
    for (let n = 0; n < 20; n += 1) await at(`many-${n}`, 'acct_many');
    const visited: string[] = [];
    let letGo = (): void => undefined;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    const pollStep = async ({ account_id }: Batch): Promise<void> => {
      visited.push(account_id);
      await held;
    };
    const runner = new UpstreamRunner(
      new BatchStore(database, clock, random),
      { pollStep } as unknown as UpstreamWork,
      { WORKERS_LEASE_MS: 60_000 } as WorkersConfig,
      clock,
      random,
      pino({ level: 'silent' }),
    );
    runner.onApplicationBootstrap();
    await eventually(() => visited.length >= 8);
    await at('other', 'acct_other');
    await eventually(() => visited.includes('acct_other'));
    await database.pool.query('DELETE FROM batches');
    letGo();
    await runner.beforeApplicationShutdown();
    expect(visited.filter((account) => account === 'acct_many').length).toBeLessThan(20);
  });

  it('BAT-05 cancelled, it ends a day later where its provider never ends it', async () => {
    const clock = new FixedClock(START);
    const batches = new BatchStore(database, clock, random);
    const files = new FileStore(database, clock, random);
    const objects = new FolderStore({ folder, publicUrl: 'http://127.0.0.1', clock, random });
    const inference = new InferenceDouble();
    const answers = new BatchAnswers(database);
    const upstream = new UpstreamWork(batches, answers, files, objects, inference, clock, config);
    await add(batches, files, objects, clock);
    inference.upstream = ({ step }): UpstreamBatch => ({
      kind: 'at',
      state: step === 'upload' ? STATE : { ...STATE, id: 'up-1' },
    });
    const { signal } = new AbortController();
    await upstream.upload((await batches.claim(WORKER, LEASE_MS, false)) as Batch, WORKER, signal);
    const pollStep = async (): Promise<void> => {
      const batch = await batches.claim(WORKER, LEASE_MS, true);
      if (batch !== null) await upstream.pollStep(batch, WORKER);
      await clock.advance(3_600_000);
    };
    await pollStep();
    await pollStep();
    await batches.cancel(WHOSE.key_id, 'batch_up');
    for (let hours = 0; hours < 24; hours += 1) await pollStep();
    expect(inference.steps.map(({ step }) => step)).toEqual(
      expect.arrayContaining(['create', 'cancel', 'look']),
    );
    expect(await batches.claim(WORKER, LEASE_MS, false)).toBeNull();
    await pollStep();
    const work = new BatchWork(batches, files, objects, inference, clock, answers, upstream, config);
    await work.run((await batches.claim(WORKER, LEASE_MS, false)) as Batch, WORKER, signal);
    expect(await batches.read(WHOSE.key_id, 'batch_up')).toMatchObject({ status: 'cancelled' });
  });

  async function add(
    batches: BatchStore,
    files: FileStore,
    objects: FolderStore,
    clock: FixedClock,
  ): Promise<void> {
    const file = { id: 'file-in', ...WHOSE, bytes: 3, filename: 'in.jsonl', purpose: 'batch' };
    await objects.put(contentOf(file), Readable.from([Buffer.from('{}\n')]), { maxBytes: 10 });
    await files.add({ ...file, expires_at: null });
    const made = { id: 'batch_up', ...WHOSE, org_id: null, request_id: 'req_up', endpoint: '/v1/messages' };
    const times = { created_at: new Date(clock.now()), expires_at: new Date(clock.now() + 86_400_000) };
    const row = { ...made, ...times, model: 'sim/claude', provider: 'acme', input_file_id: file.id };
    await batches.add({ ...row, output_seconds: null, metadata: null, status: 'in_progress' } as Batch);
  }
});
