import OpenAI, { toFile } from 'openai';
import { eventually, InferenceDouble, served, testPostgres, type TestDatabase } from '@gateway/testing';
import { WorkersDatabase } from '../postgres/workers-database.js';
import { MIGRATED, startWorkersApp, type WorkersApp } from '../workers.fixture.js';

const SLOWLY = { timeoutMs: 60_000 };
/** Number of batches that one process works on at once. */
const AT_ONCE = 4;

let database: TestDatabase;
let app: WorkersApp;
const inference = new InferenceDouble();
const full = { status: 429, body: {}, retry_after_seconds: 3_600 };

beforeAll(async () => {
  database = await testPostgres();
  await MIGRATED.migrate(database.url);
  app = await startWorkersApp(database.url, { inference, config: { WORKERS_LEASE_MS: 600 } });
});
afterAll(async () => {
  await app.close();
  await database.drop();
});

async function upload(openai: OpenAI): Promise<string> {
  const body = { model: 'sim/chat', messages: [{ role: 'user', content: 'hello' }] };
  const line = { custom_id: 'c', method: 'POST', url: '/v1/chat/completions', body };
  const file = await toFile(Buffer.from(JSON.stringify(line)), 'in.jsonl');
  return (await openai.files.create({ file, purpose: 'batch' })).id;
}

async function begin(openai: OpenAI): Promise<string> {
  const input_file_id = await upload(openai);
  const made = { input_file_id, endpoint: '/v1/chat/completions', completion_window: '24h' } as const;
  return (await openai.batches.create(made)).id;
}

it('BAT-01 batches whose limit is full keep nobody else’s waiting, and go on when it is not', async () => {
  const [mine, others] = ['key_full', 'key_other'].map(
    (keyId) => new OpenAI({ apiKey: app.keyOf(keyId), baseURL: `${app.url}/v1`, maxRetries: 0 }),
  );
  const limited = new Set(['key_full']);
  inference.answer = (call) => (limited.has(call.key_id) ? full : served(call));
  const waiting = await Promise.all(Array.from({ length: AT_ONCE }, () => begin(mine)));
  await eventually(() => inference.calls.length === AT_ONCE, SLOWLY);
  const other = await begin(others);
  await eventually(async () => (await others.batches.retrieve(other)).status === 'completed', SLOWLY);
  const statuses = await Promise.all(waiting.map(async (id) => (await mine.batches.retrieve(id)).status));
  expect(statuses).toEqual(Array(AT_ONCE).fill('in_progress'));

  limited.clear();
  await begin(others);
  await eventually(
    async () => (await mine.batches.list()).data.some(({ status }) => status === 'completed'),
    SLOWLY,
  );
  const units = inference.calls.filter(({ key_id }) => key_id === 'key_full').map(({ unit }) => unit);
  expect(new Set(units)).toEqual(new Set([0]));
}, 600_000);

it('BAT-01 a batch whose last lines wait for a limit until its time is over has expired', async () => {
  const openai = new OpenAI({ apiKey: app.keyOf('key_late'), baseURL: `${app.url}/v1`, maxRetries: 0 });
  inference.answer = (call) => (call.key_id === 'key_late' ? full : served(call));
  const id = await begin(openai);
  await eventually(() => inference.calls.some(({ key_id }) => key_id === 'key_late'), SLOWLY);
  // Whoever works on it loses it, and the next one knows the new time.
  await app.app
    .get(WorkersDatabase)
    .pool.query(
      `UPDATE batches SET expires_at = now() + interval '3 s', worker = NULL, leased_until = NULL WHERE id = $1`,
      [id],
    );
  await eventually(async () => (await openai.batches.retrieve(id)).status !== 'in_progress', SLOWLY);
  await eventually(async () => (await openai.batches.retrieve(id)).status !== 'finalizing', SLOWLY);
  const batch = await openai.batches.retrieve(id);
  expect(batch).toMatchObject({ status: 'expired', request_counts: { total: 1, completed: 0, failed: 1 } });
  const errors = await (await openai.files.content(String(batch.error_file_id))).text();
  expect(JSON.parse(errors)).toMatchObject({ response: null, error: { code: 'batch_expired' } });
}, 600_000);

it('F1 a batch keeps the order of its metadata whose names are numbers, when made, read, listed and ended', async () => {
  const apiKey = app.keyOf('key_odd');
  const openai = new OpenAI({ apiKey, baseURL: `${app.url}/v1`, maxRetries: 0 });
  inference.answer = served;
  const metadata = '"metadata":{"id":"1234567890123456789","10":"2","2":"x","b":"1"}';
  const read = async (path: string, body?: string): Promise<string> => {
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
    return (await fetch(`${app.url}${path}`, { method: body ? 'POST' : 'GET', headers, body })).text();
  };
  const asked = `{"input_file_id":"${await upload(openai)}","endpoint":"/v1/chat/completions","completion_window":"24h"`;
  const made = await read('/v1/batches', `${asked},${metadata}}`);
  const { id } = JSON.parse(made) as { id: string };
  await eventually(async () => (await openai.batches.retrieve(id)).status === 'completed', SLOWLY);
  for (const shown of [made, await read(`/v1/batches/${id}`), await read('/v1/batches')])
    expect(shown).toContain(metadata);
}, 600_000);
