import type { ModelRecord } from '@gateway/contracts';
import { SystemClock } from '@gateway/platform';
import { eventually, HandClock } from '@gateway/testing';
import { hello, startEdge, testModel, type EdgeUnderTest, type Json } from '../../edge.fixture.js';
import { StreamReader } from '../stream-reader.fixture.js';

/** Time that an answer's usage is awaited after its caller has left. */
const LATE_USAGE_MS = 2_000;
const isFinished = (text: string): boolean => text.includes('"finish_reason":"stop"');

describe('U11 a caller that leaves before the usage of its answer has come', () => {
  let edge: EdgeUnderTest;
  let clock: HandClock;
  beforeEach(async () => {
    clock = new HandClock(new SystemClock());
    edge = await startEdge({ clock });
  });
  afterEach(() => edge.close());

  /** Asks, and leaves once the text satisfies the condition and the edge has noticed. */
  async function leave(
    upstreamModel: string,
    record: Partial<ModelRecord>,
    when: (text: string) => boolean,
  ): Promise<void> {
    edge.serveModels(testModel('leave/late', [{ provider: 'simulated', upstreamModel }], record));
    const caller = new AbortController();
    const body = hello('leave/late', { stream: true, max_tokens: 40 });
    const response = await edge.post(body, { signal: caller.signal });
    expect(await new StreamReader(response).until(when)).toBe(true);
    caller.abort();
    const server = edge.app.app.getHttpServer();
    const connections = (): Promise<number> =>
      new Promise((resolve, reject) =>
        server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
      );
    await eventually(async () => (await connections()) === 0);
  }
  const left = (): Promise<Json> => eventually(() => edge.shipped()[0]);

  it('after a finish the usage may still come: within two seconds it is what is billed', async () => {
    await leave('sim-chat:text=word;prompt=40;completion=9;silent=600;silent_at=3', {}, isFinished);
    clock.advance(LATE_USAGE_MS - 100);
    expect(await left()).toMatchObject({
      outcome: 'cancelled',
      usage_estimated: false,
      cost_usd: '0.000058',
    });
    expect(edge.upstream()[0].state).toBe('finished');
  });

  it('without one the upstream is closed after them, and what was delivered is estimated', async () => {
    await leave('sim-chat:text=word;silent=600000;silent_at=3', {}, isFinished);
    clock.advance(LATE_USAGE_MS - 100);
    expect(edge.upstream()[0].state).toBe('open');
    clock.advance(200);
    await eventually(() => edge.upstream()[0].state === 'aborted');
    expect(await left()).toMatchObject({
      outcome: 'cancelled',
      usage_estimated: true,
      cost_usd: '0.000005',
    });
  });

  it('a model that reasons is billed what it reports, though the caller leaves once it has begun to answer', async () => {
    const script = 'sim-chat:text=word;prompt=40;completion=671;silent=600;silent_at=2';
    await leave(script, { supports_thinking: true }, (text) => text.includes('word'));
    expect(await left()).toMatchObject({ usage_estimated: false, usage: { completion_tokens: 671 } });
  });
});

describe('U11 a caller that leaves a model that reasons, and no usage comes', () => {
  let edge: EdgeUnderTest;
  beforeAll(async () => (edge = await startEdge()));
  afterAll(() => edge.close());

  it('is billed the silence before the first word as thought, at most what max_tokens leaves', async () => {
    const upstreamModel = `sim-chat:text=${'word '.repeat(50)};delay=3000`;
    const route = { provider: 'simulated', upstreamModel };
    edge.serveModels(testModel('leave/reasoner', [route], { supports_thinking: true }));
    const caller = new AbortController();
    const body = hello('leave/reasoner', { stream: true, max_tokens: 40 });
    const response = await edge.post(body, { signal: caller.signal });
    await new StreamReader(response).until((text) => text.includes('word'));
    caller.abort();
    const record = await eventually(() => edge.shipped()[0]);
    expect(record).toMatchObject({ usage_estimated: true });
    const { completion_tokens: thought } = record.usage as Record<string, number>;
    expect(thought).toBeGreaterThan(30);
    expect(thought).toBeLessThanOrEqual(40);
  });
});
