import { Inference, type InferenceCall } from '@gateway/contracts';
import { keyPrincipal } from '@gateway/testing';
import { hello, startEdge, testModel, testPrincipal, type EdgeUnderTest } from '../edge.fixture.js';

const TOKEN = 'fleet-token-of-the-edge-under-test';

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Json = Record<string, any>;

describe('/internal/infer', () => {
  let edge: EdgeUnderTest;
  let calls = 0;

  beforeAll(async () => {
    edge = await startEdge();
    const route = { provider: 'simulated', upstreamModel: 'sim-chat' };
    const takesBatches = testModel('simulator/batches', [route], { supports_batching: true });
    takesBatches.routes[0].price.batch_prompt_usd_per_1m = '0.5';
    takesBatches.routes[0].price.batch_completion_usd_per_1m = '1';
    edge.serveModels(takesBatches);
  });
  afterAll(() => edge.close());

  function call(more: Partial<InferenceCall> = {}): InferenceCall {
    calls += 1;
    return {
      key_id: 'key_test',
      account_id: 'acct_test',
      request_id: `req_long_${calls}`,
      unit: 7,
      recorded_path: '/v1/batches',
      endpoint: '/v1/chat/completions',
      body: JSON.parse(JSON.stringify(hello('simulator/batches'))) as Record<string, unknown>,
      is_batch: true,
      ...more,
    };
  }

  async function post(path: string, body: unknown, token = TOKEN): Promise<{ status: number; body: Json }> {
    const answer = await fetch(`${edge.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-fleet-token': token },
      body: JSON.stringify(body),
    });
    return { status: answer.status, body: (await answer.json()) as Json };
  }

  it('BAT-04 runs one unit of a batch: its own event under the path, at the batch tier', async () => {
    const asked = call();
    const { status, body } = await post('/internal/infer', asked);
    expect([status, body.status, body.body.object]).toEqual([200, 200, 'chat.completion']);
    const record = await edge.record(asked.request_id);
    expect(record).toMatchObject({ unit: 7, endpoint: '/v1/batches', priced_from: { tier: 'batch' } });
  });

  it('gives who asks again the same answer, without another unit', async () => {
    const asked = call();
    const sent = edge.upstream().length;
    const [one, two] = await Promise.all([post('/internal/infer', asked), post('/internal/infer', asked)]);
    const three = await edge.app.app.get(Inference).infer(asked);
    expect([two.body, three]).toEqual([one.body, one.body]);
    expect(edge.upstream().length).toBe(sent + 1);
  });

  it('BAT-03 refuses a model that takes no batches, and one that is not there', async () => {
    const other = call({ body: { ...call().body, model: 'simulator/chat' } });
    const refused = await post('/internal/infer', other);
    expect(refused.body).toMatchObject({ status: 400, body: { error: { code: 'unsupported_operation' } } });
    const plan = await post('/internal/infer/plan', other);
    expect(plan.body).toMatchObject({ status: 400, refusal: { code: 'unsupported_operation' } });
    const unknown = call({ body: { ...call().body, model: 'no/model' } });
    expect((await post('/internal/infer/plan', unknown)).body).toMatchObject({ status: 404 });
    expect((await post('/internal/infer/plan', call())).body).toEqual({
      plan: { model: 'simulator/batches', provider: 'simulated' },
    });
  });

  it('runs nothing for a key that was suspended since', async () => {
    const suspended = { ...testPrincipal('key_suspended'), status: 'suspended' as const };
    edge.addKey(keyPrincipal(suspended));
    const answer = await post('/internal/infer', call({ key_id: 'key_suspended' }));
    expect(answer.body).toMatchObject({ status: 403, body: { error: { code: 'forbidden' } } });
  });

  it('is not there for anybody outside of the fleet', async () => {
    for (const token of ['', 'wrong'])
      expect((await post('/internal/infer', call(), token)).status).toBe(404);
  });
});
