import {
  objectName,
  ObjectStore,
  type InferenceAnswer,
  type InferenceCall,
  type UpstreamBatch,
  type UpstreamBatchCall,
  type UpstreamBatchState,
} from '@gateway/contracts';
import type { ProviderAccess } from '@gateway/providers';
import { startUpstreamDouble, type ScriptedAnswer, type UpstreamDouble } from '@gateway/testing';
import { startEdge, testModel, type EdgeUnderTest, type Json } from '../edge.fixture.js';

const TOKEN = 'fleet-token-of-the-edge-under-test';
const MIB = 1_048_576;
const MODEL = 'lab/nova';
const LINES = 100;
const ARN = 'arn:aws:bedrock:us-east-1:123456789012:model-invocation-job/abcdef123456';

function accessAt(url: string, place: ProviderAccess['batchPlace']): ProviderAccess {
  const keys = { accessKeyId: 'AKID', secretAccessKey: 'secret', sessionToken: null, region: 'us-east-1' };
  return { baseUrl: url, credential: { kind: 'aws', ...keys }, ...(place ? { batchPlace: place } : {}) };
}

function placeAt(endpoint: string): ProviderAccess['batchPlace'] {
  return { bucket: 'lines', roleArn: 'arn:aws:iam::123456789012:role/batches', endpoint };
}

function nova(): ReturnType<typeof testModel> {
  const route = { provider: 'amazon-bedrock', upstreamModel: 'sim-nova', dialect: 'converse' };
  const model = testModel(MODEL, [route], { supports_batching: true });
  model.routes[0].price.batch_prompt_usd_per_1m = '0.5';
  model.routes[0].price.batch_completion_usd_per_1m = '1';
  return model;
}

const chat = (n: number): Json => ({
  ...{ model: MODEL, max_tokens: 64, messages: [{ role: 'user', content: `Say ${n}` }] },
});

/** Steps of a batch at one edge. */
class Batch {
  private constructor(
    private readonly edge: EdgeUnderTest,
    readonly call: UpstreamBatchCall,
  ) {}

  static async of(edge: EdgeUnderTest, count: number, at: number): Promise<Batch> {
    const batch_id = `batch_01980000-0000-7000-8000-${String(at).padStart(12, '0')}`;
    const input = objectName('batches', 'acct_test', `${batch_id}.jsonl`);
    const lines = objectName('batches', 'acct_test', `${batch_id}-lines.jsonl`);
    const text = Array.from({ length: count }, (_, n) =>
      JSON.stringify({ custom_id: 'secret name', body: chat(n) }),
    );
    const content = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.from(text.join('\n'));
    };
    await edge.app.app.get(ObjectStore).put(input, content(), { maxBytes: MIB });
    const whose = { key_id: 'key_test', account_id: 'acct_test', request_id: `req_${batch_id}` };
    const endpoint = '/v1/chat/completions';
    return new Batch(edge, { ...whose, endpoint, batch_id, input, lines, step: 'upload', state: null });
  }

  async post<T>(path: string, body: unknown): Promise<{ status: number; body: T }> {
    const answer = await fetch(`${this.edge.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-fleet-token': TOKEN },
      body: JSON.stringify(body),
    });
    return { status: answer.status, body: (await answer.json()) as T };
  }

  async step(
    step: UpstreamBatchCall['step'],
    state: UpstreamBatchState | null = null,
  ): Promise<UpstreamBatch> {
    const { status, body } = await this.post<UpstreamBatch>('/internal/infer/batch', {
      ...this.call,
      step,
      state,
    });
    if (status !== 200) throw new Error(`a step was answered ${status}`);
    return body;
  }

  async state(
    step: UpstreamBatchCall['step'],
    state: UpstreamBatchState | null = null,
  ): Promise<UpstreamBatchState> {
    return ((await this.step(step, state)) as Extract<UpstreamBatch, { kind: 'at' }>).state;
  }

  async ended(state: UpstreamBatchState): Promise<Json[]> {
    for (let looks = 0; looks < 5; looks += 1) {
      const seen = await this.step('look', state);
      if (seen.kind !== 'ended') continue;
      const found = await this.edge.app.app.get(ObjectStore).get(seen.results as never);
      const chunks: Uint8Array[] = [];
      for await (const chunk of found?.content ?? []) chunks.push(chunk);
      const lines = Buffer.concat(chunks).toString('utf8').split('\n').filter(Boolean);
      return lines.map((line) => JSON.parse(line) as Json);
    }
    throw new Error('the batch has no end');
  }
}

describe('batches that Amazon Bedrock runs', () => {
  let edge: EdgeUnderTest;

  beforeAll(async () => {
    edge = await startEdge({
      upstreams: async ({ url }) => ({ 'amazon-bedrock': accessAt(url, placeAt(url)) }),
    });
    edge.serveModels(nova());
  });
  afterAll(() => edge.close());

  it('BAT-01 BAT-04 each line is priced as its own unit at the batch tier; no name of a caller goes there', async () => {
    const batch = await Batch.of(edge, LINES, 1);
    const state = await batch.state('create', await batch.state('upload'));
    const answers = await batch.ended(state);
    expect(answers.map(({ line, status }) => [line, status])).toEqual(
      Array.from({ length: LINES }, (_, n) => [n, 200]),
    );
    const { key_id, account_id, request_id, endpoint } = batch.call;
    const line: InferenceCall = {
      ...{ key_id, account_id, request_id, endpoint, recorded_path: '/v1/batches', unit: 7 },
      ...{ body: chat(7), is_batch: true },
      given: { credential: state.credential, status: 200, body: String(answers[7].body) },
    };
    const sent = edge.upstream().length;
    const { body: priced } = await batch.post<InferenceAnswer>('/internal/infer', line);
    expect(priced).toMatchObject({ status: 200, unit_ended: true });
    expect(edge.upstream().length).toBe(sent);
    const record = (await edge.record(request_id)) as { usage: Json; cost_usd: string } & Json;
    expect(record).toMatchObject({ unit: 7, outcome: 'served', priced_from: { tier: 'batch' } });
    const { prompt_tokens, completion_tokens } = record.usage as Record<string, number>;
    // 0.5 and 1 USD a million.
    expect(Number(record.cost_usd) * 10_000_000).toBeCloseTo(prompt_tokens * 5 + completion_tokens * 10, 6);
    expect(JSON.stringify(edge.upstream())).not.toContain('secret name');
  });

  it('BAT-04 one that is begun twice is one job, and is found by its name', async () => {
    const batch = await Batch.of(edge, LINES, 2);
    const state = await batch.state('upload');
    expect(await batch.step('find', state)).toEqual({ kind: 'none' });
    const begun = await batch.state('create', state);
    expect(await batch.state('create', state)).toEqual(begun);
    expect(await batch.state('find', state)).toEqual(begun);
  });

  it('BAT-04 one that is cancelled brings what was done until then', async () => {
    const batch = await Batch.of(edge, LINES, 3);
    const begun = await batch.state('create', await batch.state('upload'));
    expect(await batch.step('cancel', begun)).toMatchObject({ kind: 'at' });
    expect(await batch.step('cancel', begun)).toMatchObject({ kind: 'at' });
    expect(await batch.ended(begun)).toHaveLength(LINES / 2);
  });

  it('fewer lines than a job takes are run one by one', async () => {
    const batch = await Batch.of(edge, LINES - 1, 4);
    const before = edge.upstream().length;
    expect(await batch.step('upload')).toEqual({ kind: 'none' });
    expect(edge.upstream().length).toBe(before);
  });
});

describe('batches of an operator without a bucket for them', () => {
  it('are run one by one', async () => {
    const edge = await startEdge({
      upstreams: async ({ url }) => ({ 'amazon-bedrock': accessAt(url, undefined) }),
    });
    try {
      edge.serveModels(nova());
      expect(await (await Batch.of(edge, LINES, 1)).step('upload')).toEqual({ kind: 'none' });
      expect(edge.upstream()).toEqual([]);
    } finally {
      await edge.close();
    }
  });
});

/** A line of a job's output. */
function record(recordId: unknown, more: Json = { modelOutput: { output: {} } }): string {
  return `${JSON.stringify({ recordId, modelInput: {}, ...more })}\n`;
}

describe('a bucket whose objects cannot be trusted', () => {
  let edge: EdgeUnderTest;
  let upstream: UpstreamDouble;
  let output: ScriptedAnswer = {};
  let jobName = '';
  let batches = 0;

  beforeAll(async () => {
    upstream = await startUpstreamDouble(({ method, path }) => {
      if (path.endsWith('.out')) return output;
      if (method === 'PUT') return { body: '' };
      if (method === 'POST') return { json: { jobArn: ARN } };
      const s3Uri = 's3://of-others/internal/';
      return { json: { status: 'Completed', jobName, outputDataConfig: { s3OutputDataConfig: { s3Uri } } } };
    });
    const { url } = upstream;
    edge = await startEdge({ upstreams: async () => ({ 'amazon-bedrock': accessAt(url, placeAt(url)) }) });
    edge.serveModels(nova());
  });
  afterAll(async () => {
    await edge.close();
    await upstream.close();
  });

  async function begun(): Promise<{ batch: Batch; state: UpstreamBatchState }> {
    const batch = await Batch.of(edge, LINES, (batches += 1));
    jobName = batch.call.batch_id.replace('_', '-');
    return { batch, state: await batch.state('create', await batch.state('upload')) };
  }

  const failed = { error: { errorCode: 500, errorMessage: 'no' } };
  const huge = function* (): Generator<string> {
    yield '{"recordId":"LINE0000000","modelOutput":{"text":"';
    for (let mib = 0; mib < 1_024; mib += 1) yield 'x'.repeat(MIB);
    yield `"}}\n${record('LINE0000001')}`;
  };
  const CASES: Record<string, { given: () => ScriptedAnswer; answered: [number, number][] }> = {
    'a line twice, which counts as it came first': {
      given: () => ({
        body: record('LINE0000000') + record('LINE0000000', failed) + record('LINE0000001', failed),
      }),
      answered: [
        [0, 200],
        [1, 500],
      ],
    },
    'lines with foreign names, and lines that it was never sent': {
      given: () => ({
        body: ['0', 'LINE0000100', 'LINE9999999', 'LINE1', '__proto__', 3, null]
          .map((id) => record(id))
          .join(''),
      }),
      answered: [],
    },
    'half a line, what is no JSON, and an output that is none': {
      given: () => ({
        body:
          `nonsense\nnull\n[]\n${record('LINE0000002', { modelOutput: 'text' })}${record('LINE0000003')}` +
          record('LINE0000004').slice(0, -4),
      }),
      answered: [[3, 200]],
    },
    'a line of 1 GiB, which is passed over': { given: () => ({ pieces: huge() }), answered: [[1, 200]] },
    'an object that is not there': { given: () => ({ status: 404, body: '<Error/>' }), answered: [] },
  };

  it.each(Object.entries(CASES))(
    'BAT-04 each line has one answer at most: %s',
    async (_name, { given, answered }) => {
      const { batch, state } = await begun();
      output = given();
      expect((await batch.ended(state)).map(({ line, status }) => [line, status])).toEqual(answered);
      expect(upstream.seen.every(({ path }) => !path.includes('of-others'))).toBe(true);
    },
    600_000,
  );

  it('a job of another name, and an output that breaks off, are looked at again', async () => {
    const { batch, state } = await begun();
    jobName = '../../other';
    expect((await batch.post('/internal/infer/batch', { ...batch.call, step: 'look', state })).status).toBe(
      503,
    );
    jobName = batch.call.batch_id.replace('_', '-');
    output = { pieces: [record('LINE0000000').slice(0, 9)], ending: 'reset' };
    expect((await batch.post('/internal/infer/batch', { ...batch.call, step: 'look', state })).status).toBe(
      503,
    );
  });
});
