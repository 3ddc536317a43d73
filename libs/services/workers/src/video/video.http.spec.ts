import {
  ApiError,
  objectName,
  TOPIC,
  type InferenceAnswer,
  type InferenceCall,
  type Subscription,
} from '@gateway/contracts';
import { eventually, InferenceDouble, testPostgres, type TestDatabase } from '@gateway/testing';
import { WorkersDatabase } from '../postgres/workers-database.js';
import { MIGRATED, startWorkersApp, type WorkersApp } from '../workers.fixture.js';

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Json = Record<string, any>;

const SLOWLY = { timeoutMs: 60_000 };
const PATH = '/v1/video/generations';
const VIDEO = objectName('results', 'acct_key_a', 'made.mp4');

let database: TestDatabase;
let app: WorkersApp;
let inference: InferenceDouble;
let key: string;
let events: Json[];
let tasks = 0;
let letGo: () => void;
let released: Promise<void>;

/** A provider that has a task at once and finishes it when the test says so. */
async function provider({ task }: InferenceCall): Promise<InferenceAnswer> {
  if (task == null) {
    tasks += 1;
    return {
      status: 202,
      body: { credential: 'veo-like', state: `provider-task-${tasks}` },
      retry_after_seconds: null,
    };
  }
  await released;
  return finished();
}

function finished(): InferenceAnswer {
  return { status: 200, body: { object: VIDEO, seconds: 6 }, retry_after_seconds: null };
}

beforeAll(async () => {
  database = await testPostgres();
  await MIGRATED.migrate(database.url);
  inference = new InferenceDouble();
  app = await startWorkersApp(database.url, { inference });
  key = app.keyOf('key_a');
  const bytes = async function* (): AsyncGenerator<Uint8Array> {
    yield Buffer.from('a video');
  };
  await app.objects.put(VIDEO, bytes(), { maxBytes: 100 });
  events = [];
  const handler: Subscription['handler'] = async (batch) =>
    void events.push(...batch.map(({ value }) => (JSON.parse(value) as Json).data as Json));
  await app.log.consume({ topics: [TOPIC.account], group: 'reader', maxBatch: 10, lingerMs: 0, handler });
});
afterAll(async () => {
  letGo();
  await app.close();
  await database.drop();
});
beforeEach(() => {
  inference.answer = provider;
  inference.calls.splice(0);
  released = new Promise((resolve) => (letGo = resolve));
});

async function call(
  method: string,
  path: string,
  body?: unknown,
  version = '2026-09',
  own = key,
): Promise<{ status: number; body: Json }> {
  const answer = await fetch(`${app.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${own}`,
      'content-type': 'application/json',
      'x-service-version': version,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: (await answer.json()) as Json };
}

async function begin(version?: string, prompt = 'a fox'): Promise<Json> {
  const { status, body } = await call(
    'POST',
    PATH,
    { model: 'sim/video', prompt, metadata: { a: 'b' } },
    version,
  );
  expect(status).toBe(200);
  return body;
}

async function ended(id: string): Promise<Json> {
  return eventually(async () => {
    const { body } = await call('GET', `${PATH}/${id}`);
    return ['completed', 'failed'].includes(body.status as string) ? body : null;
  }, SLOWLY);
}

const eventOf = (id: string): Promise<Json> =>
  eventually(() => events.find(({ data }) => (data as Json).task_id === id), SLOWLY);

describe('video tasks', () => {
  it('VID-01 VID-02 VID-13 EVT-29 go from their begin to a video that can be fetched', async () => {
    const made = await begin();
    expect(made).toMatchObject({
      id: expect.stringMatching(/^vid_/) as string,
      request_id: expect.stringMatching(/^req_/) as string,
      object: 'video.generation',
      model: 'sim/video',
      status: 'in_progress',
      video: null,
      error: null,
      metadata: { a: 'b' },
    });
    expect((await call('GET', `${PATH}/${made.id}`)).body).toMatchObject({
      id: made.id,
      status: 'in_progress',
    });
    letGo();
    const done = await ended(made.id as string);
    expect(done).toMatchObject({
      status: 'completed',
      progress: 100,
      video: { duration: 6 },
      usage: { seconds: 6 },
    });
    const { pathname, search } = new URL((done.video as Json).url as string);
    expect(await (await fetch(`${app.url}${pathname}${search}`)).text()).toBe('a video');
    expect(await eventOf(made.id as string)).toMatchObject({
      type: 'video.completed',
      data: { status: 'completed', model: 'sim/video', provider: 'veo-like', error_code: null },
    });
    const body = { model: 'sim/video', prompt: 'a fox', metadata: { a: 'b' } };
    const own = inference.calls.filter(({ request_id }) => request_id === made.request_id);
    expect(own).toMatchObject([
      { request_id: made.request_id, unit: 0, recorded_path: PATH, body, task: null },
      { request_id: made.request_id, unit: 0, task: { credential: 'veo-like' } },
    ]);
  });

  it('EDGE-08 begin once per Idempotency-Key: the same task again, 409 conflict for another body', async () => {
    const body = { model: 'sim/video', prompt: 'once' };
    const make = (asked: object, own = key) =>
      app.call('POST', PATH, own, asked, { 'idempotency-key': 'video-1' });
    const first = await make(body);
    const again = await make({ prompt: 'once', model: 'sim/video' });
    expect([first.status, again.status, again.body]).toEqual([200, 200, first.body]);
    expect(inference.calls.filter(({ task }) => task == null)).toHaveLength(1);
    const other = await make({ ...body, prompt: 'twice' });
    expect([other.status, other.body.error.code]).toEqual([409, 'conflict']);
    expect((await make(body, app.keyOf('key_b'))).body.id).not.toBe(first.body.id);
  });

  it('EDGE-08 a begin that was refused gives its Idempotency-Key back', async () => {
    const make = () =>
      app.call('POST', PATH, key, { model: 'sim/video', prompt: 'a' }, { 'idempotency-key': 'video-2' });
    inference.answer = () =>
      Promise.reject(new ApiError('rate_limit_exceeded', { retryAfterSeconds: 1, shouldRetry: true }));
    expect((await make()).status).toBe(429);
    inference.answer = provider;
    expect((await make()).status).toBe(200);
  });

  it('EDGE-08 a repeat after the first died gets the task that it began, and begins no second one', async () => {
    const asked = { model: 'sim/video', prompt: 'dies' };
    const make = (body: object) => app.call('POST', PATH, key, body, { 'idempotency-key': 'video-dead' });
    const ofIt = (): InferenceCall[] =>
      inference.calls.filter(({ body, task }) => body.prompt === 'dies' && task == null);
    inference.answer = (call) => (ofIt().length === 1 ? released.then(() => provider(call)) : provider(call));
    const first = make(asked);
    await eventually(() => ofIt().length === 1, SLOWLY);
    expect(await make(asked)).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } });
    // As if its process had died then.
    await app.app
      .get(WorkersDatabase)
      .pool.query(
        "UPDATE idempotency SET created_at = created_at - interval '3 minutes' WHERE key = 'video-dead'",
      );
    const again = await make(asked);
    expect([again.status, again.body.status]).toEqual([200, 'queued']);
    expect((await call('GET', `${PATH}/${again.body.id}`)).status).toBe(200);
    expect((await make({ ...asked, prompt: 'other' })).status).toBe(409);
    letGo();
    expect((await first).body.id).toBe(again.body.id);
    expect(ofIt()).toHaveLength(1);
  });

  it('VID-01 409 past a hundred of one key that have not ended, however many are begun at once', async () => {
    const { pool } = app.app.get(WorkersDatabase);
    await pool.query(
      `INSERT INTO video_tasks (id, key_id, account_id, request_id, model, status, created_at, updated_at, expires_at, worker,
         leased_until)
       SELECT 'vid_brim_' || n, 'key_brim', 'acct_key_brim', 'req_brim_' || n, 'sim/video', 'queued', now(), now(),
         now() + interval '1 hour', 'another', now() + interval '1 hour' FROM generate_series(1, 97) n`,
    );
    const brim = app.keyOf('key_brim');
    const asked = { model: 'sim/video', prompt: 'a' };
    const answers = await Promise.all(Array.from({ length: 8 }, () => app.call('POST', PATH, brim, asked)));
    const statuses = answers.map(({ status }) => status).sort((a, b) => a - b);
    expect(statuses).toEqual([200, 200, 200, 409, 409, 409, 409, 409]);
    expect(inference.calls.filter(({ key_id, task }) => key_id === 'key_brim' && task == null)).toHaveLength(
      3,
    );
    await pool.query("DELETE FROM video_tasks WHERE key_id = 'key_brim'");
  });

  it('VID-04 VID-05 VID-07 VID-10 are read by their own id, the provider’s and the request’s', async () => {
    const made = await begin();
    for (const id of [made.id, made.request_id, `provider-task-${tasks}`])
      expect((await call('GET', `${PATH}/${id}`)).body).toMatchObject({
        id: made.id,
        request_id: made.request_id,
      });
    const { data } = (await call('GET', PATH)).body;
    expect((data as Json[])[0]).toMatchObject({ id: made.id, request_id: made.request_id });
  });

  it('VID-08 VID-09 have no request_id under 2026-08, and are not found by it', async () => {
    const made = await begin('2026-08');
    expect(made).not.toHaveProperty('request_id');
    const { request_id: request } = inference.calls[0];
    expect((await call('GET', `${PATH}/${request}`, undefined, '2026-08')).status).toBe(404);
    expect((await call('GET', `${PATH}/provider-task-${tasks}`, undefined, '2026-08')).status).toBe(200);
    const read = await call('GET', `${PATH}/${made.id}`, undefined, '2026-08');
    expect([read.status, 'request_id' in read.body]).toEqual([200, false]);
    const { data } = (await call('GET', PATH, undefined, '2026-08')).body;
    expect((data as Json[]).some((task) => 'request_id' in task)).toBe(false);
  });

  it('VID-03 VID-06 are listed for their key alone; unknown ids and others’ are 404', async () => {
    const made = await begin();
    const newest = (await call('GET', `${PATH}?limit=1&status=in_progress`)).body;
    expect([(newest.data as Json[])[0].id, newest.object]).toEqual([made.id, 'list']);
    const thief = app.keyOf('key_thief');
    expect((await call('GET', PATH, undefined, '2026-09', thief)).body.data).toEqual([]);
    for (const id of [made.id, made.request_id, 'vid_unknown']) {
      const { status, body } = await call('GET', `${PATH}/${id}`, undefined, '2026-09', thief);
      expect([status, (body.error as Json).code]).toEqual([404, 'not_found']);
    }
  });

  it('VID-11 a rejection of the begin is the answer, and leaves no task', async () => {
    const details = [{ type: 'content_invalid', loc: ['body', 'content', 1, 'role'], msg: 'no' }];
    const error = { code: 'validation_error', message: 'no', details };
    inference.answer = () => ({ status: 422, body: { error }, retry_after_seconds: null });
    // Their links are signed anew for each answer, with the second they expire in.
    const tasks = async (): Promise<unknown[]> =>
      ((await call('GET', `${PATH}?limit=100`)).body.data as Json[]).map(({ id, status }) => [id, status]);
    const before = await tasks();
    const refused = await call('POST', PATH, { model: 'sim/video', prompt: 'a' });
    expect([refused.status, refused.body.error]).toMatchObject([422, error]);
    const later = { code: 'service_unavailable', message: 'later' };
    inference.answer = () => ({ status: 503, body: { error: later }, retry_after_seconds: 1 });
    expect((await call('POST', PATH, { model: 'sim/video', prompt: 'a' })).status).toBe(503);
    expect(await tasks()).toEqual(before);
  });

  it('VID-01 200 for a begin whose answer is lost: the task is kept, and gone on with as the same unit', async () => {
    let lost = 1;
    inference.answer = (asked) => {
      lost -= 1;
      return lost < 0 ? provider(asked) : Promise.reject(new ApiError('service_unavailable'));
    };
    const made = await begin();
    expect(made).toMatchObject({ status: 'queued', video: null, error: null });
    letGo();
    expect(await ended(made.id as string)).toMatchObject({ status: 'completed' });
    const own = inference.calls.filter(({ request_id }) => request_id === made.request_id);
    expect(own.map(({ unit, task }) => [unit, task === null])).toEqual([
      [0, true],
      [0, true],
      [0, false],
    ]);
  });

  it('VID-01 200 for a begin that cannot be noted: the task is there, and is noted later', async () => {
    const { pool } = app.app.get(WorkersDatabase);
    const failing = ['SET credential', 'SET worker = NULL'];
    const query = pool.query.bind(pool) as (...all: unknown[]) => unknown;
    const failOnce = (text: unknown, ...more: unknown[]): unknown => {
      const at = failing.findIndex((part) => String(text).includes(part));
      if (at === -1) return query(text, ...more);
      failing.splice(at, 1);
      return Promise.reject(new Error('Connection terminated unexpectedly'));
    };
    Object.assign(pool, { query: failOnce });
    try {
      const made = await begin();
      expect([made.status, failing]).toEqual(['queued', []]);
      // As if the time of who began it were over.
      await query('UPDATE video_tasks SET leased_until = NULL WHERE id = $1', [made.id]);
      letGo();
      expect(await ended(made.id as string)).toMatchObject({ status: 'completed' });
    } finally {
      Object.assign(pool, { query });
    }
  });

  it('VID-01 waits for no other account, however many that one has under way', async () => {
    const { pool } = app.app.get(WorkersDatabase);
    await pool.query(
      `INSERT INTO video_tasks (id, key_id, account_id, request_id, model, status, credential, provider_task_id,
         created_at, updated_at, expires_at)
       SELECT 'vid_many_' || n, 'key_many', 'acct_many', 'req_many_' || n, 'sim/video', 'in_progress', 'veo-like', 'many-' || n,
         now(), now(), now() + interval '1 hour' FROM generate_series(1, 501) n`,
    );
    const ofMany = (): number =>
      inference.calls.filter(({ account_id }) => account_id === 'acct_many').length;
    inference.answer = async (asked) => {
      if (asked.account_id === 'acct_many') await released;
      return asked.task == null ? provider(asked) : finished();
    };
    await eventually(() => ofMany() > 200, SLOWLY);
    const made = await begin();
    expect(await ended(made.id as string)).toMatchObject({ status: 'completed' });
    expect(ofMany()).toBeLessThanOrEqual(250);
    await pool.query("DELETE FROM video_tasks WHERE account_id = 'acct_many'");
    letGo();
  });

  it('ST-12 EVT-30 ERR-59 fail once and for all, and one that the provider forgot says so', async () => {
    const error = { code: 'provider_resource_not_found', message: 'gone' };
    inference.answer = (asked) =>
      asked.task == null ? provider(asked) : { status: 404, body: { error }, retry_after_seconds: null };
    const made = await begin();
    expect(await eventOf(made.id as string)).toMatchObject({
      type: 'video.failed',
      data: {
        status: 'failed',
        video_url: null,
        error_code: 'provider_resource_not_found',
        error_message: 'gone',
      },
    });
    const { status, body } = await call('GET', `${PATH}/${made.id}`);
    expect([status, (body.error as Json).code]).toEqual([404, 'provider_resource_not_found']);
  });

  it('are gone on with as another unit where one ended without an answer', async () => {
    const answers = [504, 503];
    inference.answer = (asked) => {
      const isOurs = asked.body.prompt === 'again' && asked.task != null;
      const status = isOurs ? answers.shift() : undefined;
      if (status === undefined) return provider(asked);
      const code = status === 504 ? 'gateway_timeout' : 'service_unavailable';
      return { status, body: { error: { code, message: 'later' } }, retry_after_seconds: null };
    };
    letGo();
    const made = await begin('2026-09', 'again');
    expect(await ended(made.id as string)).toMatchObject({ status: 'completed' });
    const own = inference.calls.filter(({ request_id }) => request_id === made.request_id);
    expect(own.map(({ unit }) => unit)).toEqual([0, 0, 1, 1]);
  });
});
