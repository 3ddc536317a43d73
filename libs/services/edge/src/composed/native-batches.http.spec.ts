import {
  objectName,
  ObjectStore,
  type InferenceAnswer,
  type InferenceCall,
  type ObjectKey,
  type UpstreamBatch,
  type UpstreamBatchCall,
  type UpstreamBatchState,
} from '@gateway/contracts';
import { startUpstreamDouble, type ScriptedAnswer, type UpstreamDouble } from '@gateway/testing';
import { startEdge, testModel, testPrincipal, type EdgeUnderTest } from '../edge.fixture.js';

const TOKEN = 'fleet-token-of-the-edge-under-test';
const MIB = 1_048_576;
const OWN = 'sk-own-0123456789abcdefghijklmnop';

type Json = Record<string, unknown>;
type State = UpstreamBatchState;

/** Steps of batches, as a spec runs them. */
class Steps {
  private batches = 0;

  constructor(private readonly edge: () => EdgeUnderTest) {}

  async post<T>(path: string, body: unknown): Promise<{ status: number; body: T }> {
    const answer = await fetch(`${this.edge().url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-fleet-token': TOKEN },
      body: JSON.stringify(body),
    });
    return { status: answer.status, body: (await answer.json()) as T };
  }

  async put(key: ObjectKey, text: string): Promise<void> {
    const content = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.from(text);
    };
    await this.edge()
      .app.app.get(ObjectStore)
      .put(key, content(), { maxBytes: 64 * MIB });
  }

  async textOf(key: string): Promise<string> {
    const found = await this.edge()
      .app.app.get(ObjectStore)
      .get(key as ObjectKey);
    const chunks: Uint8Array[] = [];
    for await (const chunk of found?.content ?? []) chunks.push(chunk);
    return Buffer.concat(chunks).toString('utf8');
  }

  async begin(endpoint: string, bodies: Json[], keyId = 'key_test'): Promise<UpstreamBatchCall> {
    this.batches += 1;
    const batch_id = `batch_01980000-0000-7000-8000-${String(this.batches).padStart(12, '0')}`;
    const input = objectName('batches', 'acct_test', `${batch_id}.jsonl`);
    const lines = objectName('batches', 'acct_test', `${batch_id}-lines.jsonl`);
    await this.put(
      input,
      bodies.map((body) => JSON.stringify({ custom_id: 'secret name', body })).join('\n'),
    );
    const whose = { key_id: keyId, account_id: 'acct_test', request_id: `req_native_${batch_id}` };
    return { ...whose, endpoint, batch_id, input, lines, step: 'upload', state: null };
  }

  async step(call: UpstreamBatchCall, more: Partial<UpstreamBatchCall> = {}): Promise<UpstreamBatch> {
    const { status, body } = await this.post<UpstreamBatch>('/internal/infer/batch', { ...call, ...more });
    if (status !== 200) throw new Error(`a step was answered ${status}`);
    return body;
  }

  async state(call: UpstreamBatchCall, more: Partial<UpstreamBatchCall> = {}): Promise<State> {
    return ((await this.step(call, more)) as Extract<UpstreamBatch, { kind: 'at' }>).state;
  }

  async ended(call: UpstreamBatchCall, state: State): Promise<Json[]> {
    for (let looks = 0; looks < 5; looks += 1) {
      const seen = await this.step(call, { step: 'look', state });
      if (seen.kind === 'ended') return this.answers(seen);
    }
    throw new Error('the batch has no end');
  }

  async answers(seen: UpstreamBatch): Promise<Json[]> {
    const { results } = seen as Extract<UpstreamBatch, { kind: 'ended' }>;
    const lines = (await this.textOf(String(results))).split('\n').filter(Boolean);
    return lines.map((line) => JSON.parse(line) as Json);
  }
}

function batched(
  id: string,
  provider: string,
  upstreamModel: string,
  dialect: string,
): ReturnType<typeof testModel> {
  const model = testModel(id, [{ provider, upstreamModel, dialect }], { supports_batching: true });
  model.routes[0].price.batch_prompt_usd_per_1m = '0.5';
  model.routes[0].price.batch_completion_usd_per_1m = '2.5';
  return model;
}

const chat = (model: string, content = 'Hello'): Json => ({
  ...{ model, max_tokens: 64, messages: [{ role: 'user', content }] },
});

describe('batches that Anthropic and Google run', () => {
  let edge: EdgeUnderTest;
  const steps = new Steps(() => edge);

  beforeAll(async () => {
    edge = await startEdge({ upstreams: async ({ url }) => ({ google: url }) });
    edge.serveModels(
      batched('simulator/anthropic', 'simulated-messages', 'sim-claude', 'messages'),
      batched('simulator/overloaded', 'simulated-messages', 'sim-claude:error=529', 'messages'),
      batched('simulator/google', 'google', 'sim-gemini', 'gemini'),
      batched('simulator/own', 'anthropic', 'sim-claude', 'messages'),
      batched('simulator/away', 'google', 'sim-gemini:error=503-overloaded', 'gemini'),
    );
  });
  afterAll(() => edge.close());

  it.each([
    ['Anthropic', '/v1/messages', 'simulator/anthropic'],
    ['Anthropic', '/v1/chat/completions', 'simulator/anthropic'],
    ['Google', '/v1/chat/completions', 'simulator/google'],
  ])(
    'BAT-01 BAT-04 %s runs lines of %s, each priced as its own unit at the batch tier',
    async (_who, endpoint, model) => {
      const call = await steps.begin(endpoint, [
        chat(model),
        chat(model),
        { ...chat(model), messages: 'wrong' },
      ]);
      const { state } = { state: await steps.state(call) };
      const begun = await steps.state(call, { step: 'create', state });
      expect(begun.id).toEqual(expect.any(String));
      const answers = await steps.ended(call, begun);
      expect(answers.map(({ line, status }) => [line, status])).toEqual([
        [0, 200],
        [1, 200],
      ]);
      const { key_id, account_id, request_id } = call;
      const given = { credential: begun.credential, status: 200, body: String(answers[1].body) };
      const line: InferenceCall = {
        ...{ key_id, account_id, request_id, endpoint, recorded_path: '/v1/batches', unit: 1 },
        ...{ body: chat(model), is_batch: true, given },
      };
      const sent = edge.upstream().length;
      const { body: priced } = await steps.post<InferenceAnswer>('/internal/infer', line);
      expect(priced).toMatchObject({ status: 200, unit_ended: true });
      expect(edge.upstream().length).toBe(sent);
      const record = (await edge.record(request_id)) as { usage: Json; cost_usd: string } & Json;
      expect(record).toMatchObject({ unit: 1, outcome: 'served', priced_from: { tier: 'batch' } });
      const { prompt_tokens, completion_tokens } = record.usage as Record<string, number>;
      // 0.5 and 2.5 USD a million.
      expect(Number(record.cost_usd) * 10_000_000).toBeCloseTo(prompt_tokens * 5 + completion_tokens * 25, 6);
      expect(JSON.stringify(edge.upstream())).not.toContain('secret name');
    },
  );

  it.each(['simulator/overloaded', 'simulator/away'])(
    'BAT-04 a failure of a line of %s is its own: recorded, not billed',
    async (model) => {
      const call = await steps.begin('/v1/chat/completions', [chat(model)]);
      const begun = await steps.state(call, { step: 'create', state: await steps.state(call) });
      const [{ status, body }] = await steps.ended(call, begun);
      expect(status).toBeGreaterThanOrEqual(500);
      const { key_id, account_id, request_id, endpoint } = call;
      const given = { credential: begun.credential, status: Number(status), body: String(body) };
      const { body: priced } = await steps.post<InferenceAnswer>('/internal/infer', {
        ...{ key_id, account_id, request_id, endpoint, recorded_path: '/v1/batches', unit: 0 },
        ...{ body: chat(model), is_batch: true, given },
      });
      expect(priced).toMatchObject({ unit_ended: true });
      expect(priced.status).toBeGreaterThanOrEqual(500);
      expect(await edge.record(request_id)).toMatchObject({ outcome: 'failed', cost_usd: null });
    },
  );

  it.each(['simulator/anthropic', 'simulator/google'])(
    'cancels one of %s: what was done comes back',
    async (model) => {
      const call = await steps.begin(
        '/v1/chat/completions',
        Array.from({ length: 4 }, () => chat(model)),
      );
      const begun = await steps.state(call, { step: 'create', state: await steps.state(call) });
      expect(await steps.step(call, { step: 'cancel', state: begun })).toMatchObject({ kind: 'at' });
      expect((await steps.ended(call, begun)).map(({ line }) => line)).toEqual([0, 1]);
    },
  );

  it.each(['simulator/anthropic', 'simulator/google'])('ends one of %s that is forgotten', async (model) => {
    const call = await steps.begin('/v1/chat/completions', [chat(model)]);
    const state = { ...(await steps.state(call)), id: model.endsWith('google') ? 'batches/gone' : 'gone' };
    expect(await steps.step(call, { step: 'look', state })).toEqual({ kind: 'ended', results: null });
  });

  it('finds Google’s by its name, and of Anthropic’s those that may be it, which their lines show', async () => {
    const google = await steps.begin('/v1/chat/completions', [chat('simulator/google')]);
    const named = await steps.state(google);
    expect(await steps.step(google, { step: 'find', state: named })).toEqual({ kind: 'none' });
    const begun = await steps.state(google, { step: 'create', state: named });
    expect(await steps.state(google, { step: 'find', state: named })).toEqual(begun);

    const [first, second] = [1, 2].map(() => steps.begin('/v1/messages', [chat('simulator/anthropic')]));
    const [ours, other] = [await first, await second];
    const state = await steps.state(ours);
    expect(await steps.step(ours, { step: 'find', state })).toEqual({ kind: 'none' });
    const { id } = await steps.state(ours, { step: 'create', state });
    const { id: otherId } = await steps.state(other, { step: 'create', state: await steps.state(other) });
    const maybe = await steps.state(ours, { step: 'find', state });
    expect(maybe).toMatchObject({ id: null, maybe: [otherId, id] });
    const cancels = (): number => edge.upstream().filter(({ path }) => path.endsWith('/cancel')).length;
    const before = cancels();
    expect(await steps.step(ours, { step: 'cancel', state: maybe })).toEqual({ kind: 'none' });
    expect(cancels()).toBe(before);
    expect(await steps.ended(ours, maybe)).toMatchObject([{ line: 0, status: 200 }]);
    const wrong = { ...maybe, maybe: [String(otherId), 'gone-simulated-messages'] };
    expect(await steps.step(ours, { step: 'look', state: wrong })).toEqual({ kind: 'none' });
  });

  it('begins nothing without its lines, nor where the lines are gone', async () => {
    const call = await steps.begin('/v1/messages', [chat('simulator/anthropic')]);
    const state = await steps.state(call);
    const gone = { ...call, lines: `${call.lines}x` };
    expect(await steps.step(gone, { step: 'create', state })).toEqual({ kind: 'none' });
  });

  it('BAT-01 USG-14 a customer’s own key pays for its batch, and what it did is billed as its own', async () => {
    const own = {
      id: 'pk_batch',
      provider: 'anthropic',
      version: 1,
      allowedModels: null,
      allowPlatformFallback: true,
    };
    edge.vault.credentials.set(own.id, { kind: 'api_key', key: OWN });
    edge.addKey(testPrincipal('key_own', { accountId: 'acct_test', providerKeys: [own] }));
    const call = await steps.begin('/v1/messages', [chat('simulator/own')], 'key_own');
    const state = await steps.state(call);
    expect(state.credential).toBe('anthropic#pk_batch');
    const begun = await steps.state(call, { step: 'create', state });
    const [{ status, body }] = await steps.ended(call, begun);
    const { key_id, account_id, request_id, endpoint } = call;
    await steps.post<InferenceAnswer>('/internal/infer', {
      ...{ key_id, account_id, request_id, endpoint, recorded_path: '/v1/batches', unit: 0 },
      ...{ body: chat('simulator/own'), is_batch: true },
      given: { credential: begun.credential, status: Number(status), body: String(body) },
    });
    expect(await edge.record(request_id)).toMatchObject({ byok_used: true, outcome: 'served' });
    const asked = edge
      .upstream()
      .filter(({ path }) => path.includes(String(begun.id)) || path.endsWith('/batches'));
    expect(asked.at(-1)?.headers['x-api-key']).toBe(OWN);
  });
});

/** A line of results as Anthropic writes it. */
function result(name: string, more: Json = { type: 'succeeded', message: { id: 'msg' } }): string {
  return `${JSON.stringify({ custom_id: name, result: more })}\n`;
}

describe('a provider in Anthropic’s manner that cannot be trusted', () => {
  let edge: EdgeUnderTest;
  let provider: UpstreamDouble;
  /** Answer for the provider's results. */
  let results: ScriptedAnswer = {};
  const steps = new Steps(() => edge);

  beforeAll(async () => {
    provider = await startUpstreamDouble(({ method, path }) => {
      if (path.endsWith('/results')) return results;
      if (path.includes('/batches?')) return { json: { data: [], has_more: false } };
      if (method === 'POST') return { json: { id: 'up-1' } };
      return { json: { id: 'up-1', processing_status: 'ended', results_url: 'http://127.0.0.1:1/internal' } };
    });
    edge = await startEdge({ upstreams: async () => ({ 'simulated-messages': provider.url }) });
    edge.serveModels(batched('simulator/anthropic', 'simulated-messages', 'sim-claude', 'messages'));
  });
  afterAll(async () => {
    await edge.close();
    await provider.close();
  });

  const failed = { type: 'errored', error: { type: 'error', error: { type: 'api_error', message: 'no' } } };
  const CASES: Record<string, { given: (name: string) => ScriptedAnswer; answered: [number, number][] }> = {
    'a line twice, which counts as it came first': {
      given: (name) => ({
        body: result(`${name}_0`) + result(`${name}_0`, failed) + result(`${name}_1`, failed),
      }),
      answered: [
        [0, 200],
        [1, 500],
      ],
    },
    'lines of another batch, and lines that it was never sent': {
      given: (name) => ({
        body: ['0', 'batch_x_0', `${name}_2`, `${name}_77`, `x${name}_0`, `${name}_1e0`]
          .map((id) => result(id))
          .join(''),
      }),
      answered: [],
    },
    'lines that were cancelled or have expired': {
      given: (name) => ({
        body: result(`${name}_0`, { type: 'expired' }) + result(`${name}_1`, { type: 'canceled' }),
      }),
      answered: [],
    },
    'a line longer than any answer, half a line and what is no JSON': {
      given: (name) => ({
        body:
          result(`${name}_0`, { type: 'succeeded', message: { text: 'x'.repeat(17 * MIB) } }) +
          `{"custom_id":"${name}_0"\nnull\n[]\n${result(`${name}_1`)}${result(`${name}_0`).slice(0, -4)}`,
      }),
      answered: [[1, 200]],
    },
    'a file that is gone': { given: () => ({ status: 404, json: {} }), answered: [] },
  };

  it.each(Object.entries(CASES))(
    'BAT-04 each line has one answer at most: %s',
    async (_name, { given, answered }) => {
      const call = await steps.begin('/v1/messages', [
        chat('simulator/anthropic'),
        chat('simulator/anthropic'),
      ]);
      const begun = await steps.state(call, { step: 'create', state: await steps.state(call) });
      results = given(call.batch_id);
      const answers = await steps.ended(call, begun);
      expect(answers.map(({ line, status }) => [line, status])).toEqual(answered);
      expect(provider.seen.every(({ path }) => !path.includes('internal'))).toBe(true);
    },
  );

  it('reads of a batch that is another’s no more than to the first name', async () => {
    const call = await steps.begin('/v1/messages', [chat('simulator/anthropic')]);
    const state = { ...(await steps.state(call)), maybe: ['up-2'] };
    const endlessly = function* (): Generator<string> {
      yield 'no json\n';
      for (;;) yield result('batch_of_another_0');
    };
    results = { pieces: endlessly() };
    expect(await steps.step(call, { step: 'look', state })).toEqual({ kind: 'none' });
    results = { body: '' };
    expect(await steps.step(call, { step: 'look', state })).toEqual({ kind: 'none' });
    results = { pieces: [result('x').slice(0, 5)], ending: 'reset' };
    const broken = await steps.post('/internal/infer/batch', { ...call, step: 'look', state });
    expect(broken.status).toBe(503);
  });
});
