import OpenAI, { toFile } from 'openai';
import {
  ApiError,
  type InferenceAnswer,
  type ObjectKey,
  type UpstreamBatch,
  type UpstreamBatchCall,
} from '@gateway/contracts';
import { SystemClock } from '@gateway/platform';
import {
  eventually,
  FastClock,
  InferenceDouble,
  served,
  testPostgres,
  type TestDatabase,
} from '@gateway/testing';
import { MIGRATED, startWorkersApp, type WorkersApp } from '../workers.fixture.js';

const SLOWLY = { timeoutMs: 120_000 };
const TIMEOUT_MS = 240_000;
const STATE = { credential: 'acme', file: 'file-up', path: '/chat/completions', sent: 'Dw==', id: null };
const BEGUN = { ...STATE, id: 'up-1' };

describe('a batch that its provider runs itself', () => {
  let database: TestDatabase;
  let app: WorkersApp;
  let inference: InferenceDouble;
  let openai: OpenAI;

  beforeAll(async () => {
    database = await testPostgres();
    await MIGRATED.migrate(database.url);
    inference = new InferenceDouble();
    const machine = new SystemClock();
    // A begin of which nobody knows is waited for.
    const clock = new FastClock(machine, 10, { machineMs: machine.now(), shownMs: machine.now() });
    app = await startWorkersApp(database.url, { inference, clock });
    openai = new OpenAI({ apiKey: app.keyOf('key_up'), baseURL: `${app.url}/v1`, maxRetries: 0 });
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });
  beforeEach(() => {
    const plain = { answer: settled, worthNano: 0n, noBudget: null, upstream: () => ({ kind: 'none' }) };
    Object.assign(inference, plain);
    for (const list of [inference.calls, inference.steps, inference.holds]) list.splice(0);
  });

  /** Returns the answer with which the edge prices a provider's line. */
  function settled(call: Parameters<typeof served>[0]): InferenceAnswer {
    const status = call.given?.status ?? 200;
    return { ...served(call), status, unit_ended: true };
  }

  async function begin(count: number, known: { id?: string } = {}): Promise<{ id: string; input: string }> {
    const lines = Array.from({ length: count }, (_, n) => {
      const body = { model: 'sim/chat', messages: [{ role: 'user', content: `say ${n}` }] };
      return JSON.stringify({ custom_id: `c-${n}`, method: 'POST', url: '/v1/chat/completions', body });
    });
    const file = await toFile(Buffer.from(lines.join('\n')), 'in.jsonl');
    const { id: input } = await openai.files.create({ file, purpose: 'batch' });
    known.id = input;
    const asked = {
      input_file_id: input,
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
    } as const;
    return { id: (await openai.batches.create(asked)).id, input };
  }

  async function end(id: string): Promise<OpenAI.Batches.Batch> {
    let batch = await openai.batches.retrieve(id);
    await eventually(async () => {
      batch = await openai.batches.retrieve(id);
      return ['completed', 'failed', 'expired', 'cancelled'].includes(batch.status);
    }, SLOWLY);
    return batch;
  }

  async function results(id: string | null | undefined): Promise<{ custom_id: string; error: unknown }[]> {
    const text = await (await openai.files.content(String(id))).text();
    const lines = text.split('\n').filter(Boolean);
    return lines.map((line) => JSON.parse(line) as { custom_id: string; error: unknown });
  }

  /** A provider that has the answers of these lines at the second look. */
  function provider(answers: (call: UpstreamBatchCall) => object[]): void {
    let looks = 0;
    inference.upstream = async (call): Promise<UpstreamBatch> => {
      if (call.step === 'upload') return { kind: 'at', state: STATE };
      if (call.step === 'find') return { kind: 'none' };
      if (call.step !== 'look') return { kind: 'at', state: BEGUN };
      looks += 1;
      if (looks < 2) return { kind: 'at', state: BEGUN };
      const results = `results/${call.account_id}/${call.batch_id}-answers.jsonl` as ObjectKey;
      const content = async function* (): AsyncGenerator<Uint8Array> {
        for (const answer of answers(call)) yield Buffer.from(`${JSON.stringify(answer)}\n`);
      };
      await app.objects.put(results, content(), { maxBytes: 1_000_000 });
      return { kind: 'ended', results };
    };
  }

  const good = (line: number): object => ({ line, status: 200, body: `{"answer":${line}}` });
  const stepsOf = (): string[] => inference.steps.map(({ step }) => step);

  it(
    'BAT-01 BAT-04 each line is priced by the provider’s answer, once, under its own number; failures are their own',
    async () => {
      inference.worthNano = 1_000n;
      const failed = { line: 1, status: 400, body: '{"error":{}}' };
      provider(() => [good(2), good(0), failed, good(77), { ...good(1) }, { ...failed, line: 0 }]);
      const batch = await end((await begin(3)).id);
      expect(batch).toMatchObject({
        status: 'completed',
        request_counts: { total: 3, completed: 2, failed: 1 },
      });
      expect(stepsOf()).toEqual(['upload', 'create', 'look', 'look']);
      const given = inference.calls.map(({ unit, given: one }) => [unit, one?.status, one?.body]);
      expect([...given].sort(([a], [b]) => Number(a) - Number(b))).toEqual([
        [0, 200, '{"answer":0}'],
        [1, 400, '{"error":{}}'],
        [2, 200, '{"answer":2}'],
      ]);
      expect(inference.calls[0].given?.credential).toBe('acme');
      expect((await results(batch.output_file_id)).map(({ custom_id }) => custom_id)).toEqual(['c-0', 'c-2']);
      expect((await results(batch.error_file_id)).map(({ custom_id }) => custom_id)).toEqual(['c-1']);
      expect(inference.holds.at(-1)?.nano).toBe('0');
    },
    TIMEOUT_MS,
  );

  it(
    'B1 READ-57 all of its lines are held while a provider has them and until each is posted, of a small batch too',
    async () => {
      inference.worthNano = 1_000n;
      const heldAt: string[] = [];
      const held = (): string => inference.holds.at(-1)?.nano ?? '0';
      provider(() => [good(0), good(1), good(2)]);
      const next = inference.upstream;
      inference.upstream = async (call) => {
        heldAt.push(`${call.step} ${held()}`);
        return next(call);
      };
      inference.answer = (call): InferenceAnswer => {
        heldAt.push(`${call.given === undefined ? 'run' : 'posted'} ${held()}`);
        return { ...{ status: 200, body: {}, retry_after_seconds: null, unit_ended: true } };
      };
      // Lines 0 to 2 are answered, 3 is given back.
      expect((await end((await begin(4)).id)).request_counts).toMatchObject({ completed: 4 });
      const posted = heldAt.filter((text) => text.startsWith('posted')).map((text) => Number(text.slice(7)));
      const others = new Set(heldAt.filter((text) => !text.startsWith('posted')));
      expect([...others]).toEqual(['upload 4000', 'create 4000', 'look 4000', 'run 0']);
      expect(posted).toHaveLength(3);
      posted.forEach((nano, index) => expect(nano).toBeGreaterThanOrEqual(1_000 * (4 - index)));
      expect(held()).toBe('0');
    },
    TIMEOUT_MS,
  );

  it(
    'BAT-04 the money of its lines is held on while the answers come, however long that takes',
    async () => {
      inference.worthNano = 1_000n;
      provider(() => []);
      const next = inference.upstream;
      inference.upstream = async (call) => {
        const before = inference.holds.length;
        if (call.step === 'look') await eventually(() => inference.holds.length > before, SLOWLY);
        return next(call);
      };
      expect((await end((await begin(40)).id)).request_counts).toMatchObject({ completed: 40 });
      expect(inference.holds.map(({ nano }) => nano).pop()).toBe('0');
    },
    TIMEOUT_MS,
  );

  it(
    'lines that the provider did not answer are run one by one',
    async () => {
      provider(() => [good(1)]);
      const batch = await end((await begin(3)).id);
      expect(batch.request_counts).toEqual({ total: 3, completed: 3, failed: 0 });
      const run = inference.calls.filter(({ given }) => given === undefined).map(({ unit }) => unit);
      expect([...run].sort()).toEqual([0, 2]);
    },
    TIMEOUT_MS,
  );

  it(
    'all are, where no provider takes the batch or begins it',
    async () => {
      inference.upstream = ({ step }) =>
        step === 'upload' ? { kind: 'at', state: STATE } : { kind: 'none' };
      const batch = await end((await begin(2)).id);
      expect(batch.request_counts).toEqual({ total: 2, completed: 2, failed: 0 });
      expect(stepsOf()).toEqual(['upload', 'create']);
      inference.upstream = () => ({ kind: 'none' });
      expect((await end((await begin(2)).id)).request_counts).toMatchObject({ completed: 2 });
      expect(inference.calls.every(({ given }) => given === undefined)).toBe(true);
    },
    TIMEOUT_MS,
  );

  it(
    'what was done is billed also where the input file was deleted meanwhile',
    async () => {
      provider(() => [good(0), good(1)]);
      const { id, input } = await begin(2);
      await eventually(() => inference.steps.some(({ step }) => step === 'create'), SLOWLY);
      await openai.files.delete(input);
      const batch = await end(id);
      expect(batch).toMatchObject({ status: 'completed', request_counts: { completed: 2 } });
      const copy = `batches/acct_key_up/${id}.jsonl` as const;
      await eventually(async () => (await app.objects.get(copy)) === null, SLOWLY);
    },
    TIMEOUT_MS,
  );

  it(
    'BAT-04 one whose input file is deleted before its provider has it fails, and nothing stays held',
    async () => {
      inference.worthNano = 1_000n;
      const file: { id?: string } = {};
      inference.upstream = async () => {
        await openai.files.delete(String(file.id));
        return { kind: 'none' };
      };
      const { id } = await begin(40, file);
      expect(await end(id)).toMatchObject({ status: 'failed', request_counts: { completed: 0 } });
      expect(inference.holds.map(({ nano }) => nano).at(0)).not.toBe('0');
      expect(inference.holds.at(-1)?.nano).toBe('0');
    },
    TIMEOUT_MS,
  );

  it(
    'a cancel stops it at the provider; what was answered until then is billed and kept',
    async () => {
      let isCancelled = false;
      provider(() => [good(0)]);
      const look = inference.upstream;
      inference.upstream = (call) => {
        isCancelled ||= call.step === 'cancel';
        return call.step === 'look' && !isCancelled ? { kind: 'at', state: BEGUN } : look(call);
      };
      const { id } = await begin(2);
      await eventually(() => inference.steps.some(({ step }) => step === 'look'), SLOWLY);
      await openai.batches.cancel(id);
      const batch = await end(id);
      expect(batch).toMatchObject({
        status: 'cancelled',
        request_counts: { total: 2, completed: 1, failed: 1 },
      });
      expect(await results(batch.error_file_id)).toMatchObject([
        { custom_id: 'c-1', error: { code: 'batch_cancelled' } },
      ]);
      expect(inference.calls.map(({ unit }) => unit)).toEqual([0]);
      expect(stepsOf().filter((step) => step === 'cancel')).toHaveLength(1);
    },
    TIMEOUT_MS,
  );

  it(
    'steps that fail are tried again where they stood, and nothing is begun a second time',
    async () => {
      provider(() => [good(0)]);
      const next = inference.upstream;
      const failed = new Set<string>();
      inference.upstream = (call) => {
        if (call.step === 'upload' || failed.has(call.step)) return next(call);
        failed.add(call.step);
        throw new ApiError('service_unavailable');
      };
      const batch = await end((await begin(1)).id);
      expect(batch.request_counts).toEqual({ total: 1, completed: 1, failed: 0 });
      expect(stepsOf()).toEqual([...['upload', 'create', 'find', 'find', 'create', 'look', 'look', 'look']]);
    },
    TIMEOUT_MS,
  );

  /** A provider that keeps no name of ours, and whose answer to the first begin is lost. */
  function nameless(found: UpstreamBatch, look: (call: UpstreamBatchCall) => UpstreamBatch): void {
    provider(() => [good(0)]);
    const next = inference.upstream;
    let begins = 0;
    inference.upstream = (call) => {
      if (call.step === 'find') return found;
      if (call.step === 'create' && (begins += 1) === 1) throw new ApiError('service_unavailable');
      return call.step === 'look' && call.state?.maybe !== undefined ? look(call) : next(call);
    };
  }
  const maybe = (...ids: string[]): UpstreamBatch => ({ kind: 'at', state: { ...STATE, maybe: ids } });

  it(
    'BAT-04 one of which nobody knows whether it was begun is waited for among those that may be it, and not begun again',
    async () => {
      let left = 2;
      nameless(maybe('up-a', 'up-b', 'up-c'), (call) => {
        left -= 1;
        if (left >= 0) return maybe(...(call.state?.maybe ?? []).slice(1));
        // It is known by now: whose lines they are is what the edge finds out.
        return { kind: 'ended', results: null };
      });
      const batch = await end((await begin(1)).id);
      expect(batch.request_counts).toEqual({ total: 1, completed: 1, failed: 0 });
      expect(stepsOf()).toEqual(['upload', 'create', 'find', 'look', 'look', 'look']);
      const looked = inference.steps.filter(({ step }) => step === 'look').map(({ state }) => state?.maybe);
      expect(looked).toEqual([['up-a', 'up-b', 'up-c'], ['up-b', 'up-c'], ['up-c']]);
    },
    TIMEOUT_MS,
  );

  it(
    'BAT-04 where none of them was it, its lines are run one by one, and nothing of another’s is billed',
    async () => {
      nameless(maybe('up-other'), () => ({ kind: 'none' }));
      const batch = await end((await begin(2)).id);
      expect(batch.request_counts).toEqual({ total: 2, completed: 2, failed: 0 });
      expect(inference.calls.map(({ unit, given }) => [unit, given])).toEqual([
        [0, undefined],
        [1, undefined],
      ]);
      expect(stepsOf()).toEqual(['upload', 'create', 'find', 'look']);
    },
    TIMEOUT_MS,
  );

  it(
    'BAT-04 one that another batch of ours is, is none that may be it',
    async () => {
      const held = { ...BEGUN, id: 'up-held' };
      inference.upstream = ({ step }) =>
        step === 'upload' ? { kind: 'at', state: STATE } : { kind: 'at', state: held };
      const first = await begin(1);
      await eventually(() => inference.steps.some(({ step }) => step === 'look'), SLOWLY);
      const again = inference.upstream;
      nameless(maybe('up-held'), () => ({ kind: 'none' }));
      const next = inference.upstream;
      inference.upstream = (call) => (call.batch_id === first.id ? again(call) : next(call));
      const { id } = await begin(1);
      expect((await end(id)).request_counts).toMatchObject({ completed: 1 });
      const steps = inference.steps.filter(({ batch_id }) => batch_id === id).map(({ step }) => step);
      expect(steps).toEqual(['upload', 'create', 'find', 'create', 'look', 'look']);
      inference.upstream = ({ step }) =>
        step === 'cancel' ? { kind: 'at', state: held } : { kind: 'ended', results: null };
      await openai.batches.cancel(first.id);
      await end(first.id);
    },
    TIMEOUT_MS,
  );

  it(
    'BAT-04 a cancel reaches none that may be another’s; what is not known by then is not billed, and nothing stays held',
    async () => {
      inference.worthNano = 1_000n;
      nameless(maybe('up-a'), () => maybe('up-a'));
      const { id } = await begin(40);
      await eventually(() => inference.steps.some(({ step }) => step === 'look'), SLOWLY);
      await openai.batches.cancel(id);
      const batch = await end(id);
      expect(batch).toMatchObject({ status: 'cancelled', request_counts: { completed: 0, failed: 40 } });
      expect(stepsOf()).not.toContain('cancel');
      expect(inference.calls).toEqual([]);
      expect(inference.holds.at(-1)?.nano).toBe('0');
      for (const name of [`${id}.jsonl`, `${id}-lines.jsonl`])
        await eventually(async () => (await app.objects.get(`batches/acct_key_up/${name}`)) === null, SLOWLY);
    },
    TIMEOUT_MS,
  );
});
