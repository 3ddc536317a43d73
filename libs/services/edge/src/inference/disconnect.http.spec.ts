import { Drain } from '@gateway/platform';
import { eventually } from '@gateway/testing';
import {
  hello,
  startEdge,
  testModel,
  testPrincipal,
  type EdgeUnderTest,
  type Json,
} from '../edge.fixture.js';
import { StreamReader } from './stream-reader.fixture.js';

const CHAT = '/v1/chat/completions';
const MESSAGES = '/v1/messages';
const ROADS: [string, string, string][] = [
  ['chat over chat', CHAT, 'sim-chat'],
  ['chat over messages', CHAT, 'sim-claude'],
  ['messages over messages', MESSAGES, 'sim-claude'],
  ['messages over chat', MESSAGES, 'sim-chat'],
];
/** `Hello there` and what stands around it: ceil of its bytes by four. */
const PROMPT_TOKENS = 3;

describe('U11 a caller that leaves', () => {
  let edge: EdgeUnderTest;
  beforeAll(async () => (edge = await startEdge()));
  afterAll(() => edge.close());

  interface Left {
    record: Json;
    usage: Record<string, number>;
    closedAfterMs: number;
  }

  /** Asks, leaves once the text satisfies the condition, and waits for the one record. */
  async function leave(
    path: string,
    upstreamModel: string,
    more: Json,
    when: (text: string) => boolean,
  ): Promise<Left> {
    edge.sim.reset();
    const model = 'leave/scripted';
    const provider = upstreamModel.startsWith('sim-claude') ? 'simulated-messages' : 'simulated';
    edge.serveModels(testModel(model, [{ provider, upstreamModel }], { supports_thinking: false }));
    const caller = new AbortController();
    const before = edge.shipped().length;
    const asked = edge.post(hello(model, more), { path, signal: caller.signal });
    const gone = asked.then((response) => new StreamReader(response).until(when));
    gone.catch(() => undefined);
    if (when('')) await eventually(() => edge.upstream().length === 1);
    else await gone;
    const leftAt = Date.now();
    caller.abort();
    await eventually(() => edge.upstream()[0]?.state !== 'open');
    await eventually(() => edge.shipped().length > before);
    const [record] = edge.shipped().slice(before);
    return {
      record,
      usage: record.usage as Record<string, number>,
      closedAfterMs: (edge.upstream()[0].abortedAt ?? Infinity) - leftAt,
    };
  }

  it.each(ROADS)('%s: before the first token, the prompt is estimated', async (_road, path, upstream) => {
    for (const stream of [true, false]) {
      const { record, usage, closedAfterMs } = await leave(
        path,
        `${upstream}:latency=5000`,
        { stream },
        () => true,
      );
      expect(closedAfterMs).toBeLessThan(500);
      expect(record).toMatchObject({
        status: 'success',
        outcome: 'cancelled',
        http_status: 499,
        usage_estimated: true,
      });
      expect(usage).toMatchObject({ prompt_tokens: PROMPT_TOKENS, completion_tokens: 0 });
      expect(record.cost_usd).toBe('0.000003');
      expect((record.attempts as Json[])[0]).toMatchObject({
        status: 'cancelled',
        house_usd: null,
        served: false,
      });
    }
  });

  it.each(ROADS)(
    '%s: mid-stream, what was delivered is estimated and what was reported stands',
    async (_road, path, upstream) => {
      const { record, usage, closedAfterMs } = await leave(
        path,
        `${upstream}:text=${'word '.repeat(400)};delay=20;prompt=40`,
        { stream: true },
        (text) => text.split('word').length > 10,
      );
      expect(closedAfterMs).toBeLessThan(500);
      expect(record).toMatchObject({
        status: 'success',
        outcome: 'cancelled',
        http_status: 200,
        usage_estimated: true,
      });
      expect(usage.prompt_tokens).toBe(upstream === 'sim-claude' ? 40 : PROMPT_TOKENS);
      expect(usage.completion_tokens).toBeGreaterThanOrEqual(10);
      expect(usage.completion_tokens).toBeLessThan(300);
      expect(Number(record.cost_usd)).toBeCloseTo(
        (usage.prompt_tokens + 2 * usage.completion_tokens) / 1e6,
        12,
      );
    },
  );

  it('after a finish the usage may still come: within two seconds it is what is billed', async () => {
    const script = 'sim-chat:text=word;prompt=40;completion=9;silent=600;silent_at=3';
    const left = await leave(CHAT, script, { stream: true }, (text) =>
      text.includes('"finish_reason":"stop"'),
    );
    expect(left.record).toMatchObject({ outcome: 'cancelled', usage_estimated: false, cost_usd: '0.000058' });
    expect(edge.upstream()[0].state).toBe('finished');
  });

  it('a model that reasons is billed what it thought, though the caller leaves once it has begun to answer', async () => {
    const reasoning = (upstreamModel: string): string => {
      edge.serveModels(
        testModel('leave/reasoner', [{ provider: 'simulated', upstreamModel }], { supports_thinking: true }),
      );
      return 'leave/reasoner';
    };
    const leaveAt = async (model: string): Promise<Json> => {
      edge.sim.reset();
      const caller = new AbortController();
      const before = edge.shipped().length;
      const response = await edge.post(hello(model, { stream: true, max_tokens: 40 }), {
        signal: caller.signal,
      });
      await new StreamReader(response).until((text) => text.includes('word'));
      caller.abort();
      await eventually(() => edge.shipped().length > before);
      return edge.shipped()[before];
    };
    // Its usage comes within two seconds: it is what is billed.
    const told = await leaveAt(
      reasoning('sim-chat:text=word;prompt=40;completion=671;silent=600;silent_at=2'),
    );
    expect(told).toMatchObject({ usage_estimated: false, usage: { completion_tokens: 671 } });
    // It does not: a second of silence before the first word counts as thought, at most what max_tokens leaves.
    const silent = await leaveAt(
      reasoning(`sim-chat:text=${'word '.repeat(50)};silent=1000;silent_at=1;delay=5000`),
    );
    expect(silent).toMatchObject({ usage_estimated: true });
    const { completion_tokens: thought } = silent.usage as Record<string, number>;
    expect(thought).toBeGreaterThan(30);
    expect(thought).toBeLessThanOrEqual(40);
  });

  it('after a finish without usage the upstream is closed within two seconds and a half', async () => {
    const script = 'sim-chat:text=word;silent=9000;silent_at=3';
    const left = await leave(CHAT, script, { stream: true }, (text) =>
      text.includes('"finish_reason":"stop"'),
    );
    expect(left.closedAfterMs).toBeGreaterThan(1_900);
    expect(left.closedAfterMs).toBeLessThan(2_500);
    expect(left.record).toMatchObject({ outcome: 'cancelled', usage_estimated: true, cost_usd: '0.000005' });
  });

  it('a caller that leaves between two attempts owes nothing, and no further route is tried', async () => {
    const routingPolicy = { retry_backoff_ms: 100_000 };
    const key = edge.addKey(testPrincipal('key_leaving', { routingPolicy }));
    const model = edge.serve('leave/scripted', 'sim-chat:error=500', 'sim-claude');
    const ofKey = (): Json[] => edge.shipped().filter((record) => record.key_id === 'key_leaving');
    // The wait is drawn from 0 to 2 s: a short one may be over before the caller has left, and shows nothing.
    let left: Json | undefined;
    for (let round = 1; round <= 10 && left === undefined; round += 1) {
      edge.sim.reset();
      const caller = new AbortController();
      const asked = edge.post(hello(model), { key, signal: caller.signal });
      asked.catch(() => undefined);
      await eventually(() => edge.upstream()[0]?.state === 'finished');
      caller.abort();
      await eventually(() => ofKey().length === round);
      const last = ofKey()[round - 1];
      if ((last.attempts as Json[]).length === 1) left = last;
    }
    expect(left).toMatchObject({ outcome: 'cancelled', cost_usd: null, provider: 'simulated' });
    expect(edge.upstream()).toHaveLength(1);
  });

  it('U06 a reader that stalls is closed, its upstream too, and memory stays bounded', async () => {
    const stalling = await startEdge({ config: { CLIENT_STALL_TIMEOUT_MS: 300 } });
    const model = stalling.serve('leave/scripted', 'sim-chat:bytes=30000000;chunk=60000');
    const response = await stalling.post(hello(model, { stream: true }));
    expect(response.status).toBe(200);
    await eventually(() => stalling.shipped().length === 1, { timeoutMs: 10_000 });
    const [record] = stalling.shipped();
    expect(record).toMatchObject({ outcome: 'cancelled', http_status: 200 });
    expect((record.usage as Record<string, number>).completion_tokens).toBeLessThan(8_000_000 / 4);
    await eventually(() => stalling.sim.connections().open === 0);
    await response.body?.cancel().catch(() => undefined);
    await stalling.close();
  });

  it('U06 a reader that takes nothing of a whole answer is closed', async () => {
    const stalling = await startEdge({ config: { CLIENT_STALL_TIMEOUT_MS: 300 } });
    const model = stalling.serve('leave/scripted', 'sim-chat:bytes=30000000');
    const response = await stalling.post(hello(model));
    expect(response.status).toBe(200);
    const drain = stalling.app.app.get(Drain);
    expect(drain.requestsInFlight).toBe(1);
    await eventually(() => drain.requestsInFlight === 0, { timeoutMs: 10_000 });
    await expect(response.text()).rejects.toThrow();
    await stalling.close();
  });

  it('a slow reader gets everything', async () => {
    const model = edge.serve('leave/scripted', 'sim-chat:bytes=6000000;chunk=100000');
    const response = await edge.post(hello(model, { stream: true }));
    const reader = new StreamReader(response);
    let seen = 0;
    while (await reader.until((text) => text.length > seen + 500_000)) {
      seen = reader.text.length;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(reader.text.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(reader.text.length).toBeGreaterThan(6_000_000);
  });
});
