import { ApiError, objectName, type InferenceAnswer, type InferenceCall } from '@gateway/contracts';
import { writeJson } from '@gateway/json-body';
import { eventually, InferenceDouble, testPostgres, type TestDatabase } from '@gateway/testing';
import { WorkersDatabase } from '../postgres/workers-database.js';
import { MIGRATED, startWorkersApp, type WorkersApp } from '../workers.fixture.js';

type Json = Record<string, unknown>;

const PATH = '/v1/video/generations';
const SLOWLY = { timeoutMs: 90_000 };
const VIDEO = objectName('results', 'acct_key_a', 'made.mp4');

let database: TestDatabase;
let app: WorkersApp;
let inference: InferenceDouble;
let headers: Record<string, string>;

/** A provider that has a task at once and has finished it when it is asked for. */
function provider({ task }: InferenceCall): InferenceAnswer {
  if (task != null) return { status: 200, body: { object: VIDEO, seconds: 6 }, retry_after_seconds: null };
  const body = { credential: 'veo-like', state: 'provider-task' };
  return { status: 202, body, retry_after_seconds: null };
}

beforeAll(async () => {
  database = await testPostgres();
  await MIGRATED.migrate(database.url);
  inference = new InferenceDouble();
  app = await startWorkersApp(database.url, { inference });
  headers = { authorization: `Bearer ${app.keyOf('key_a')}`, 'content-type': 'application/json' };
});
afterAll(async () => {
  await app.close();
  await database.drop();
});
beforeEach(() => {
  inference.answer = provider;
  inference.calls.splice(0);
});

async function post(body: string): Promise<string> {
  return (await fetch(`${app.url}${PATH}`, { method: 'POST', headers, body })).text();
}

async function read(id: string): Promise<string> {
  return (await fetch(`${app.url}${PATH}/${id}`, { headers })).text();
}

async function ended(id: string): Promise<Json> {
  return eventually(async () => {
    const shown = JSON.parse(await read(id)) as Json;
    return ['completed', 'failed'].includes(shown.status as string) ? shown : null;
  }, SLOWLY);
}

describe('the begin of a video', () => {
  it('F1 keep their metadata, and send their body, as the caller wrote both', async () => {
    const odd = '{"id":1234567890123456789,"b":1,"10":2,"rate":1.0,"e":1e400,"z":-0}';
    const text = await post(
      `{"model":"sim/video","prompt":"a","seed":1234567890123456789,"metadata":${odd}}`,
    );
    expect(text).toContain(`"metadata":${odd}`);
    const { id } = JSON.parse(text) as { id: string };
    expect(await read(id)).toContain(`"metadata":${odd}`);
    const [{ body }] = inference.calls;
    expect(writeJson(body)).toContain('"seed":1234567890123456789');
  });

  it('B2 a begin that may have reached its provider is not sent again: it fails where no edge knows of it', async () => {
    const begins: boolean[] = [];
    inference.answer = (asked) => {
      // The video of the test before may still be looked for.
      if (asked.task !== null) return provider(asked);
      const { is_repeat: isRepeat = false } = asked;
      begins.push(isRepeat);
      if (!isRepeat) return Promise.reject(new ApiError('service_unavailable'));
      const body = { error: { code: 'service_unavailable', message: 'unknown' } };
      return { status: 503, body, retry_after_seconds: null, unit_ended: false, is_unknown: true };
    };
    const begun = await post('{"model":"sim/video","prompt":"a"}');
    expect(begun).toContain('"status":"queued"');
    const failed = await ended((JSON.parse(begun) as { id: string }).id);
    expect(failed).toMatchObject({ status: 'failed', error: { code: 'upstream_error' } });
    expect(begins.filter((isRepeat) => !isRepeat)).toHaveLength(1);
  });

  it('B2 a begin whose worker died is asked for as a repeat, one that an edge refused as a begin', async () => {
    const { pool } = app.app.get(WorkersDatabase);
    let rejections = 1;
    inference.answer = (asked) => {
      rejections -= 1;
      if (rejections < 0) return provider(asked);
      const body = { error: { code: 'rate_limit_exceeded', message: 'later' } };
      return { status: 429, body, retry_after_seconds: null, unit_ended: false };
    };
    const copy = (id: string): Promise<unknown> =>
      pool.query(
        `INSERT INTO video_tasks (id, key_id, account_id, request_id, model, body, status, created_at, updated_at,
           expires_at, is_asked) VALUES ($1, 'key_a', 'acct_key_a', $1, 'sim/video', '{}', 'queued', now(), now(),
           now() + interval '1 hour', $2)`,
        [id, id.endsWith('asked')],
      );
    await copy('vid_asked');
    await ended('vid_asked');
    rejections = 1;
    await copy('vid_new');
    await ended('vid_new');
    const seen = inference.calls.map(({ request_id, task, is_repeat }) => [
      request_id,
      task === null,
      is_repeat,
    ]);
    expect(seen).toEqual([
      ['vid_asked', true, true],
      ['vid_asked', true, true],
      ['vid_asked', false, undefined],
      ['vid_new', true, undefined],
      ['vid_new', true, undefined],
      ['vid_new', false, undefined],
    ]);
  });

  it('B2 a repeat that an edge of the release before refuses is asked again, and begun by none of them', async () => {
    // It knows no `is_repeat`: 422, which HttpInference throws as this.
    let rejections = 0;
    inference.answer = (asked) => {
      if (asked.task !== null || !asked.is_repeat) return Promise.reject(new ApiError('service_unavailable'));
      rejections += 1;
      if (rejections < 3) return Promise.reject(new ApiError('service_unavailable'));
      // The edges are rolled: one of them has the task.
      inference.answer = provider;
      return provider(asked);
    };
    const begun = await post('{"model":"sim/video","prompt":"a"}');
    const { id } = JSON.parse(begun) as { id: string };
    expect(await ended(id)).toMatchObject({ status: 'completed', error: null });
    const begins = inference.calls.filter(({ task, is_repeat }) => task === null && !is_repeat);
    expect([begins.length, rejections]).toEqual([1, 3]);
  });
});
