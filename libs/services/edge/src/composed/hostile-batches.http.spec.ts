import {
  objectName,
  ObjectStore,
  type ObjectKey,
  type UpstreamBatch,
  type UpstreamBatchCall,
  type UpstreamBatchState,
} from '@gateway/contracts';
import { startUpstreamDouble, type ScriptedAnswer, type UpstreamDouble } from '@gateway/testing';
import { hello, startEdge, testModel, type EdgeUnderTest } from '../edge.fixture.js';

const TOKEN = 'fleet-token-of-the-edge-under-test';
const MIB = 1_048_576;

type Json = Record<string, unknown>;

/** Builds the result of one line, as OpenAI writes it. */
function result(line: number | string, body: unknown = { said: line }, status = 200): string {
  const response = { status_code: status, request_id: 'r', body };
  return `${JSON.stringify({ id: 'x', custom_id: String(line), response, error: null })}\n`;
}

const nested = (depth: number): string =>
  result(1).replace('{"said":1}', `${'['.repeat(depth)}${']'.repeat(depth)}`);

function* endlessly(text: string): Generator<string> {
  for (;;) yield text;
}

/** The files of a batch of four lines, of which the third cannot be sent, and the lines that count as answered. */
interface Case {
  output: ScriptedAnswer;
  errors?: ScriptedAnswer;
  /** Answered lines with their status. */
  answered: [number, number][];
}

const CASES: Record<string, Case> = {
  'a line twice, which counts as it came first': {
    output: { body: result(0, { first: true }) + result(0, { second: true }, 500) + result(0) },
    answered: [[0, 200]],
  },
  'a failure of a line that has an answer': {
    output: { body: result(0) },
    errors: { body: result(0, {}, 500) + result(1, {}, 429) },
    answered: [
      [0, 200],
      [1, 429],
    ],
  },
  'lines that it was never sent': {
    output: { body: [2, 4, 77, 9_999_999, -1, '0x1', '1e0', ' 1', ''].map((line) => result(line)).join('') },
    answered: [],
  },
  'a file that ends in the middle of a line': {
    output: { body: result(0) + result(1).slice(0, -5) },
    answered: [[0, 200]],
  },
  'a line longer than any answer, and good ones beside it': {
    output: { body: result(0) + result(1, 'x'.repeat(17 * MIB)) + result(3) },
    answered: [
      [0, 200],
      [3, 200],
    ],
  },
  'a line whose numbers would be longer if they were written anew': {
    output: { body: result(1, 0).replace('"body":0', `"body":[${'1e20,'.repeat(MIB)}0]`) + result(3) },
    answered: [
      [1, 200],
      [3, 200],
    ],
  },
  'a line without an end, before the answers': {
    output: { pieces: ['x'.repeat(20 * MIB), 'x'.repeat(20 * MIB), '\n', result(0)] },
    answered: [[0, 200]],
  },
  'the same lines for ever, once all have their answer': {
    output: { pieces: endlessly(result(1) + result(0) + result(3)) },
    errors: { pieces: endlessly(result(0)) },
    answered: [
      [1, 200],
      [0, 200],
      [3, 200],
    ],
  },
  'what is no result': {
    output: {
      body: `\n[]\nnull\n"0"\n{}\n{"custom_id":"0"}\n${result(0, {}, 99)}${result(0, {}, 600)}${nested(600)}\0\n${result(3)}`,
    },
    answered: [[3, 200]],
  },
  'bytes that are no text': {
    output: { body: Buffer.concat([Buffer.alloc(MIB, 0xff), Buffer.from(`\n${result(0)}`)]) },
    answered: [[0, 200]],
  },
  'a file of answers that is gone, and one of failures': {
    output: { status: 404, json: { error: { message: 'No such File object' } } },
    errors: { body: result(1, {}, 400) },
    answered: [[1, 400]],
  },
  'a file of failures that is gone': {
    output: { body: result(0) },
    errors: { status: 403, body: 'forbidden' },
    answered: [[0, 200]],
  },
  'nothing at all': { output: { body: '' }, answered: [] },
};

describe('a provider whose batches cannot be trusted', () => {
  let edge: EdgeUnderTest;
  let objects: ObjectStore;
  let provider: UpstreamDouble;
  /** Answers for the provider's files. */
  let files: Pick<Case, 'output' | 'errors'> = { output: {} };
  let batches = 0;

  beforeAll(async () => {
    provider = await startUpstreamDouble(({ method, path }) => {
      if (path.endsWith('/files/file-out/content')) return files.output;
      if (path.endsWith('/files/file-err/content')) return files.errors ?? { body: '' };
      if (path.endsWith('/files')) return { json: { id: 'file-in' } };
      if (path.includes('/batches?')) return { json: { data: [], has_more: false } };
      if (method === 'POST') return { json: { id: 'up-1' } };
      return {
        json: { id: 'up-1', status: 'completed', output_file_id: 'file-out', error_file_id: 'file-err' },
      };
    });
    edge = await startEdge({ upstreams: async () => ({ simulated: provider.url }) });
    objects = edge.app.app.get(ObjectStore);
    const routes = [{ provider: 'simulated', upstreamModel: 'sim-chat' }];
    const model = testModel('simulator/batches', routes, { supports_batching: true });
    edge.serveModels(model);
  });
  afterAll(async () => {
    await edge.close();
    await provider.close();
  });

  async function post(call: UpstreamBatchCall): Promise<{ status: number; body: UpstreamBatch }> {
    const answer = await fetch(`${edge.url}/internal/infer/batch`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-fleet-token': TOKEN },
      body: JSON.stringify(call),
    });
    return { status: answer.status, body: (await answer.json()) as UpstreamBatch };
  }

  const stateOf = ({ body }: { body: UpstreamBatch }): UpstreamBatchState =>
    (body as Extract<UpstreamBatch, { kind: 'at' }>).state;

  /** A batch of four lines that the provider has begun; the third is one that it is not sent. */
  async function begun(): Promise<UpstreamBatchCall> {
    batches += 1;
    const batch_id = `batch_01980000-0000-7000-8000-${String(batches).padStart(12, '0')}`;
    const input = objectName('batches', 'acct_test', `${batch_id}.jsonl`);
    const good = JSON.parse(JSON.stringify(hello('simulator/batches'))) as Json;
    const bodies = [good, good, { ...good, messages: 'wrong' }, good];
    const text = bodies.map((body, n) => JSON.stringify({ custom_id: `c-${n}`, body })).join('\n');
    const content = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.from(text);
    };
    await objects.put(input, content(), { maxBytes: MIB });
    const whose = { key_id: 'key_test', account_id: 'acct_test', request_id: `req_bad_${batches}` };
    const upload = { step: 'upload', lines: `${input}-lines`, state: null } as const;
    const call = { ...whose, endpoint: '/v1/chat/completions', batch_id, input, ...upload };
    const created = await post({ ...call, step: 'create', state: stateOf(await post(call)) });
    return { ...call, step: 'look', state: stateOf(created) };
  }

  async function answersIn(seen: UpstreamBatch): Promise<[number, number, string][]> {
    const { results } = seen as Extract<UpstreamBatch, { kind: 'ended' }>;
    const found = await objects.get(results as ObjectKey);
    const chunks: Uint8Array[] = [];
    for await (const chunk of found?.content ?? []) chunks.push(chunk);
    const lines = Buffer.concat(chunks).toString('utf8').split('\n').filter(Boolean);
    return lines.map((line) => {
      const { line: number, status, body } = JSON.parse(line) as Json;
      return [number as number, status as number, String(body)];
    });
  }

  it.each(Object.entries(CASES))(
    'BAT-04 each line that was sent has one answer at most: %s',
    async (_name, { answered, ...given }) => {
      const look = await begun();
      files = given;
      const seen = await post(look);
      expect(seen).toMatchObject({ status: 200, body: { kind: 'ended', results: expect.any(String) } });
      const answers = await answersIn(seen.body);
      expect(answers.map(([line, status]) => [line, status])).toEqual(answered);
      expect(answers.every(([, , body]) => !body.includes('second'))).toBe(true);
    },
  );

  it('BAT-04 what breaks off is asked for again, whole: 503', async () => {
    const look = await begun();
    files = { output: { pieces: [result(0), result(1).slice(0, 9)], ending: 'reset' } };
    expect((await post(look)).status).toBe(503);
    files = { output: { body: result(1) + result(0) } };
    const answers = await answersIn((await post(look)).body);
    expect(answers.map(([line]) => line)).toEqual([1, 0]);
    files = { output: { status: 500, body: '' } };
    expect((await post(look)).status).toBe(503);
  });

  it('sends no line that would be refused, and says which it has sent', async () => {
    const { state } = await begun();
    const upload = provider.seen.filter(({ path }) => path.endsWith('/files')).at(-1);
    const sent = [...String(upload?.body).matchAll(/"custom_id":"(\d+)"/g)].map(([, line]) => line);
    expect(sent).toEqual(['0', '1', '3']);
    expect(Buffer.from(String(state?.sent), 'base64')).toEqual(Buffer.from([0b1011]));
  });
});
