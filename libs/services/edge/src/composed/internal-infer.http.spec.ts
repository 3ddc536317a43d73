import { jest } from '@jest/globals';
import {
  counterScope,
  heldCounter,
  Inference,
  type AdmitRequest,
  type InferenceCall,
} from '@gateway/contracts';
import { eventually, keyPrincipal } from '@gateway/testing';
import { BatchPace } from '../admission/batch-pace.js';
import { hello, keyScope, startEdge, testModel, testPrincipal, type EdgeUnderTest } from '../edge.fixture.js';

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

  it('422 for a member that a later release sends: nothing is begun that it may forbid', async () => {
    const before = edge.upstream().length;
    const { status, body } = await post('/internal/infer', { ...call(), is_of_a_later_release: true });
    expect([status, body.error.param, edge.upstream().length]).toEqual([
      422,
      'is_of_a_later_release',
      before,
    ]);
  });

  it('BAT-01 a line waits for its turn beside callers, whose requests never do', async () => {
    let begin = (): void => undefined;
    const turn = jest.spyOn(BatchPace.prototype, 'turn');
    turn.mockImplementationOnce(() => new Promise((begun) => (begin = begun)));
    const answer = post('/internal/infer', call());
    const pace = await eventually(() => turn.mock.contexts.at(0) as BatchPace | undefined);
    const callerMs = pace.callerMs;
    const chat = await edge.post(hello('simulator/batches'));
    expect([chat.status, turn.mock.calls.length]).toEqual([200, 1]);
    expect(pace.callerMs).toBeGreaterThan(callerMs);
    const chatMs = pace.callerMs;
    begin();
    expect((await answer).body.status).toBe(200);
    await post('/internal/infer', call({ is_batch: false }));
    expect([turn.mock.calls.length, pace.callerMs]).toEqual([1, chatMs]);
    jest.restoreAllMocks();
  });

  it('BAT-04 sends a line whole: members with names that every object has, too', async () => {
    const parameters = { type: 'object', properties: { constructor: { type: 'string' }, toString: {} } };
    const tools = [{ type: 'function', function: { name: 'find', parameters } }];
    const before = edge.upstream().length;
    const { body } = await post(
      '/internal/infer',
      call({ is_batch: false, body: { ...hello('simulator/chat'), tools } }),
    );
    expect([body.status, body.body]).toEqual([200, expect.anything()]);
    expect(JSON.parse(edge.upstream()[before].body)).toMatchObject({ tools });
  });

  it('READ-57 holds the money of a line as a batch’s', async () => {
    const admit = edge.limits.admit.bind(edge.limits);
    const asked: AdmitRequest[] = [];
    edge.limits.admit = async (request) => {
      asked.push(request);
      return admit(request);
    };
    const line = call();
    await post('/internal/infer', line);
    edge.limits.admit = admit;
    // The store watch of the edge asks for admission too, at its own times.
    const ofLine = asked.filter(({ unitId: unit }) => unit.startsWith(`${line.request_id}/`));
    expect(ofLine.map(({ extra }) => extra.map(({ name }) => name))).toEqual([[heldCounter('batch')]]);
  });

  it('READ-57 holds money for lines that have not begun, as much as they would reserve', async () => {
    edge.addKey({ ...testPrincipal('key_holds'), accountId: 'acct_holds' });
    const batch = call({ request_id: 'req_held_1', key_id: 'key_holds', account_id: 'acct_holds' });
    const bodies = [
      { ...batch.body, max_tokens: 100 },
      { ...batch.body, max_tokens: 10 },
      { model: 'no/model', messages: [] },
    ];
    const { body: worth } = await post('/internal/infer/worth', { ...batch, bodies });
    // 110 tokens at 1 USD a million, and the input; a line that is refused adds nothing.
    expect(BigInt(String(worth.nano))).toBeGreaterThan(110_000n);
    expect(BigInt(String(worth.nano))).toBeLessThan(115_000n);
    const { key_id, account_id, request_id } = batch;
    const whose = { key_id, account_id, request_id, model: 'simulator/batches' };
    const held = async (): Promise<[bigint, number]> => {
      const scope = counterScope('key_holds', heldCounter('batch'));
      const { scopes } = await edge.limits.read('acct_holds', [scope, { kind: 'key', id: 'key_holds' }]);
      return [scopes[0].reservedNano, scopes[1].rpm];
    };
    const ask = (nano: bigint, is_first = false): Promise<{ status: number; body: Json }> =>
      post('/internal/infer/hold', { ...whose, nano: String(nano), is_first });
    expect((await ask(5_000_000n, true)).body).toEqual({});
    expect(await held()).toEqual([5_000_000n, 0]);
    await ask(2_000_000n);
    expect(await held()).toEqual([2_000_000n, 0]);
    await ask(2_000_000n);
    expect(await held()).toEqual([2_000_000n, 0]);
    await ask(0n);
    expect(await held()).toEqual([0n, 0]);
  });

  it('refuses a hold that an account has no room for, and holds nothing then', async () => {
    const poor = { ...testPrincipal('key_poor'), accountId: 'acct_poor', creditLimitUsd: '0' };
    edge.addKey(keyPrincipal(poor));
    const whose = {
      key_id: 'key_poor',
      account_id: 'acct_poor',
      request_id: 'req_poor',
      model: 'simulator/batches',
    };
    const { status, body } = await post('/internal/infer/hold', {
      ...whose,
      nano: '900000000000',
      is_first: true,
    });
    expect([status, body.status, body.refusal.code]).toEqual([200, 402, 'spend_limit_exceeded']);
    expect((await edge.limits.read('acct_poor', [])).reservedNano).toBe(0n);
    // The account has 100 USD: what was held by a worker that died does not stand in the way of the next one.
    const most = { ...whose, nano: '90000000000', is_first: true };
    for (const body of [
      (await post('/internal/infer/hold', most)).body,
      (await post('/internal/infer/hold', most)).body,
    ])
      expect(body).toEqual({});
    expect((await edge.limits.read('acct_poor', [])).reservedNano).toBe(90_000_000_000n);
    await post('/internal/infer/hold', { ...most, nano: '0' });
    const unknown = { ...whose, model: 'no/model', nano: '1', is_first: true };
    expect((await post('/internal/infer/hold', unknown)).body).toEqual({});
  });

  it('refuses a hold that a hard budget has no room for, and holds nothing then', async () => {
    const budget = {
      ...{ id: 'bud_batch', name: 'Batches', scope: 'key' as const, scopeId: 'key_bounded' },
      ...{ amountUsd: '2', raise: null, period: 'month' as const, timeZone: 'UTC', countedFromMs: 7 },
    };
    const limits = [keyScope('key_bounded', {})];
    edge.addKey(testPrincipal('key_bounded', { accountId: 'acct_bounded', limits, budgets: [budget] }));
    const whose = { key_id: 'key_bounded', account_id: 'acct_bounded', request_id: 'req_bounded' };
    const ask = (nano: string): Promise<{ body: Json }> =>
      post('/internal/infer/hold', { ...whose, model: 'simulator/batches', nano, is_first: true });
    const { body } = await ask('2000000001');
    expect([body.status, body.refusal.code, body.refusal.message]).toEqual([
      402,
      'spend_limit_exceeded',
      expect.stringContaining('the budget of the key does not cover'),
    ]);
    expect((await edge.limits.read('acct_bounded', [])).reservedNano).toBe(0n);
    expect((await ask('2000000000')).body).toEqual({});
  });

  it('BAT-04 lets the ledger free what is posted and still counted, before it refuses a hold for good', async () => {
    edge.addKey(
      keyPrincipal({ ...testPrincipal('key_twice'), accountId: 'acct_twice', creditLimitUsd: '0' }),
    );
    const whose = { key_id: 'key_twice', account_id: 'acct_twice', request_id: 'req_twice' };
    const ask = (usd: string): Promise<{ body: Json }> =>
      post('/internal/infer/hold', {
        ...whose,
        model: 'simulator/batches',
        nano: `${usd}000000000`,
        is_first: true,
      });
    expect((await ask('1')).body).toEqual({});
    const unit = {
      accountId: 'acct_twice',
      unit: 'req_posted/0',
      action: 'settle',
      nano: 60_000_000_000n,
    } as const;
    await edge.limits.put([{ ...unit, scopes: [], tokens: 0, tokenEstimate: 0, minute: 0, leaseMs: 90_000 }]);
    expect((await ask('90')).body.refusal.code).toBe('spend_limit_exceeded');
    edge.funds.posted.add(unit.unit);
    const due = jest.spyOn(edge.limits, 'due').mockResolvedValue([unit.unit]);
    expect((await ask('90')).body).toEqual({});
    due.mockRestore();
    await ask('0');
  });

  it('gives who asks again the same answer, without another unit', async () => {
    const asked = call();
    const sent = edge.upstream().length;
    const [one, two] = await Promise.all([post('/internal/infer', asked), post('/internal/infer', asked)]);
    const three = await edge.app.app.get(Inference).infer(asked);
    expect([two.body, three]).toEqual([one.body, one.body]);
    expect(edge.upstream().length).toBe(sent + 1);
  });

  it('lets a unit in again whose answer a crash took, once its event is posted, under the same number', async () => {
    const asked = call();
    const unit = `${asked.request_id}/${asked.unit}`;
    const whose = { accountId: 'acct_test', scopes: [{ kind: 'key' as const, id: 'key_test' }] };
    const spent = { action: 'settle' as const, nano: 5n, tokens: 1, tokenEstimate: 1, minute: 0, leaseMs: 0 };
    await edge.limits.put([{ ...whose, ...spent, unit }]);
    const sent = edge.upstream().length;
    const early = await post('/internal/infer', asked);
    expect(early.body).toMatchObject({ status: 503, unit_ended: false });
    expect(edge.upstream()).toHaveLength(sent);
    const posted = { gen: null, version: 1, balanceNano: 0n, scopes: [], units: [{ unit, crash: false }] };
    await edge.limits.mirror({ accountId: 'acct_test', ...posted });
    expect((await post('/internal/infer', asked)).body).toMatchObject({ status: 200, unit_ended: true });
    expect(await edge.record(asked.request_id)).toMatchObject({ unit: 7, outcome: 'served' });
  });

  it('BAT-03 refuses a model that takes no batches, and one that is not there', async () => {
    const other = call({ body: { ...call().body, model: 'simulator/chat' } });
    const refused = await post('/internal/infer', other);
    const message = 'simulator/chat does not support batches.';
    const error = { code: 'model_capability_not_supported', message };
    expect(refused.body).toMatchObject({ status: 400, body: { error } });
    const plan = await post('/internal/infer/plan', other);
    expect(plan.body).toMatchObject({ status: 400, refusal: error });
    const unknown = call({ body: { ...call().body, model: 'no/model' } });
    expect((await post('/internal/infer/plan', unknown)).body).toMatchObject({ status: 404 });
    expect((await post('/internal/infer/plan', call())).body).toEqual({
      plan: { model: 'simulator/batches', provider: 'simulated' },
    });
  });

  it('CHAT-22 plans and weighs a line with the template that it names', async () => {
    const content = { messages: [], variables: [], defaults: {}, tools: null, response_format: null };
    edge.stored.templates.set('brief', { ...content, defaults: { max_tokens: 100 } });
    const line = call({ body: { ...call().body, template: 'brief' } });
    expect(await post('/internal/infer/plan', line)).toEqual({
      status: 200,
      body: { plan: { model: 'simulator/batches', provider: 'simulated' } },
    });
    const { body: worth } = await post('/internal/infer/worth', { ...line, bodies: [line.body] });
    expect(BigInt(String(worth.nano))).toBeGreaterThan(100_000n);
    expect(BigInt(String(worth.nano))).toBeLessThan(105_000n);
    const unknown = call({ body: { ...call().body, template: 'none' } });
    expect((await post('/internal/infer/plan', unknown)).body).toMatchObject({ status: 404 });
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
