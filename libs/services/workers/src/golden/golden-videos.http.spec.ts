import { objectName, type InferenceAnswer, type InferenceCall } from '@gateway/contracts';
import {
  eventually,
  goldenAnswer,
  goldenAnswers,
  GOLDEN_VERSIONS,
  InferenceDouble,
  testPostgres,
  type TestDatabase,
} from '@gateway/testing';
import { MIGRATED, startWorkersApp, type WorkersApp } from '../workers.fixture.js';

type Json = Record<string, unknown>;

const PATH = '/v1/video/generations';
const SLOWLY = { timeoutMs: 60_000 };
const REFUSAL = { code: 'model_not_found', message: 'no' };
const FAILURE = { code: 'content_policy_violation', message: 'no' };

let database: TestDatabase;
let app: WorkersApp;
let inference: InferenceDouble;

/** A provider that works on a video for ever, makes it, fails it, or refuses it: what the prompt says. */
function provider({ task, body, key_id: key, account_id: account }: InferenceCall): Promise<InferenceAnswer> {
  const answer = (status: number, given: Json): Promise<InferenceAnswer> =>
    Promise.resolve({ status, body: given, retry_after_seconds: null });
  if (body.prompt === 'refuse') return answer(404, { error: REFUSAL });
  if (task == null) return answer(202, { credential: 'veo-like', state: `task-of-${key}` });
  if (body.prompt === 'wait') return new Promise(() => undefined);
  if (body.prompt === 'fail') return answer(400, { error: FAILURE });
  return answer(200, { object: objectName('results', account, 'made.mp4'), seconds: 6 });
}

beforeAll(async () => {
  database = await testPostgres();
  await MIGRATED.migrate(database.url);
  inference = new InferenceDouble();
  inference.answer = provider;
  app = await startWorkersApp(database.url, { inference });
});
afterAll(async () => {
  await app.close();
  await database.drop();
});

describe.each(GOLDEN_VERSIONS)('the golden answers of videos of %s', (version) => {
  const golden = goldenAnswers('libs/services/workers/src/golden', version);
  afterAll(() => golden.save());

  async function call(
    method: string,
    path: string,
    key: string,
    body?: Json,
  ): ReturnType<typeof goldenAnswer> {
    const answer = await fetch(`${app.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'x-service-version': version,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return goldenAnswer(answer);
  }

  /** A task of a key of its own. Its id is read where it is not blanked: from what the edge was asked. */
  async function begun(prompt: string): Promise<{ key: string; requestId: string; providerId: string }> {
    const keyId = `key_golden_${prompt}_${version.replace('-', '_')}`;
    const key = app.keyOf(keyId);
    const from = inference.calls.length;
    const { status } = await call('POST', PATH, key, { model: 'sim/video', prompt, metadata: { a: 'b' } });
    expect(status).toBe(200);
    const own = inference.calls.slice(from).find(({ body, task }) => body.prompt === prompt && task == null);
    return { key, requestId: String(own?.request_id), providerId: `task-of-${keyId}` };
  }

  /** Members may be added, so the files hold the least that is answered. */
  function compare(name: string, answered: Json): void {
    const kept = golden.of(name, answered);
    expect(kept).toBeDefined();
    expect(answered).toMatchObject(kept ?? {});
  }

  it('VER-23 VID-08 a task that runs: begun, read, listed, and by the id of its request', async () => {
    const { key, requestId, providerId } = await begun('wait');
    compare('video-running', await call('GET', `${PATH}/${providerId}`, key));
    compare('video-by-request', await call('GET', `${PATH}/${requestId}`, key));
    compare('video-list', await call('GET', `${PATH}?status=in_progress`, key));
    const again = { model: 'sim/video', prompt: 'wait', metadata: { a: 'b' } };
    compare('video-begun', await call('POST', PATH, key, again));
  });

  it.each(['make', 'fail'])('VER-23 a task whose provider is to %s a video', async (prompt) => {
    const { key, providerId } = await begun(prompt);
    const ended = await eventually(async () => {
      const answer = await call('GET', `${PATH}/${providerId}`, key);
      return ['completed', 'failed'].includes(String((answer.body as Json).status)) ? answer : null;
    }, SLOWLY);
    compare(`video-to-${prompt}`, ended);
  });

  it('VER-23 a task that is refused, and one that is not there', async () => {
    const key = app.keyOf(`key_golden_${version.replace('-', '_')}`);
    compare('video-refused', await call('POST', PATH, key, { model: 'sim/video', prompt: 'refuse' }));
    compare('video-unknown', await call('GET', `${PATH}/vid_unknown`, key));
    compare('video-list-empty', await call('GET', PATH, key));
    compare('video-list-invalid', await call('GET', `${PATH}?limit=0`, key));
  });
});
