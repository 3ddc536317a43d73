import { eventually, InferenceDouble, served, testPostgres, type TestDatabase } from '@gateway/testing';
import { Metrics } from '@gateway/platform';
import { MIGRATED, startWorkersApp, type WorkersApp } from '../workers.fixture.js';
import { OpenWork } from './open-work.js';

describe('metrics of long work', () => {
  let database: TestDatabase;
  let app: WorkersApp;
  let inference: InferenceDouble;

  beforeAll(async () => {
    database = await testPostgres();
    await MIGRATED.migrate(database.url);
    inference = new InferenceDouble();
    app = await startWorkersApp(database.url, { inference });
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });

  async function shown(): Promise<string[]> {
    await app.app.get(OpenWork).read();
    const text = await app.app.get(Metrics).scrape();
    return text.split('\n').filter((line) => line.startsWith('gateway_long_work'));
  }

  it('count batches and videos that have not ended by state, and how old the oldest is', async () => {
    expect(await shown()).toContain('gateway_long_work{kind="batch",state="in_progress"} 0');
    expect(await shown()).toContain('gateway_long_work_oldest_seconds{kind="video"} 0');
    let letGo = (): void => undefined;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    inference.answer = async (call) => {
      await held;
      return served(call);
    };
    const key = app.keyOf('key_metrics');
    const body = { model: 'sim/chat', messages: [] };
    const line = { custom_id: 'c', method: 'POST', url: '/v1/chat/completions', body };
    const form = new FormData();
    form.append('purpose', 'batch');
    form.append('file', new Blob([JSON.stringify(line)]), 'in.jsonl');
    const headers = { authorization: `Bearer ${key}` };
    const sent = await fetch(`${app.url}/v1/files`, { method: 'POST', headers, body: form });
    const { id: input_file_id } = (await sent.json()) as { id: string };
    const asked = { endpoint: '/v1/chat/completions', completion_window: '24h', input_file_id };
    const made = await app.call('POST', '/v1/batches', key, asked);
    await eventually(async () =>
      (await shown()).includes('gateway_long_work{kind="batch",state="in_progress"} 1'),
    );
    const age = (await shown()).find((text) =>
      text.startsWith('gateway_long_work_oldest_seconds{kind="batch"}'),
    );
    expect(Number(age?.split(' ').at(-1))).toBeGreaterThanOrEqual(0);
    letGo();
    const { id } = made.body as { id: string };
    await eventually(async () => {
      const { status } = (await app.call('GET', `/v1/batches/${id}`, key)).body as { status: string };
      return status === 'completed';
    });
    expect(await shown()).toContain('gateway_long_work{kind="batch",state="in_progress"} 0');
  });
});
