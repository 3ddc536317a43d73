import { eventually } from '@gateway/testing';
import { hello, testModel, testPrincipal, type Json } from '../../edge.fixture.js';
import { tenantOf } from '../../tenant.fixture.js';
import { StreamReader } from '../stream-reader.fixture.js';
import { started } from './callers.fixture.js';

const edge = tenantOf(started, 'disconnect');

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
  interface Left {
    record: Json;
    usage: Record<string, number>;
  }

  /**
   * Asks, leaves once the text satisfies the condition, and waits for the one record. The upstream has then not ended by
   * itself: how fast it is left is measured by `npm run bench -- --only left`.
   */
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
    caller.abort();
    await eventually(() => edge.upstream()[0]?.state === 'aborted');
    await eventually(() => edge.shipped().length > before);
    const [record] = edge.shipped().slice(before);
    return { record, usage: record.usage as Record<string, number> };
  }

  it.each(ROADS)('%s: before the first token, the prompt is estimated', async (_road, path, upstream) => {
    for (const stream of [true, false]) {
      const { record, usage } = await leave(path, `${upstream}:latency=600000`, { stream }, () => true);
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
      const { record, usage } = await leave(
        path,
        `${upstream}:text=${'word '.repeat(2_000)};delay=20;prompt=40`,
        { stream: true },
        (text) => text.split('word').length > 10,
      );
      expect(record).toMatchObject({
        status: 'success',
        outcome: 'cancelled',
        http_status: 200,
        usage_estimated: true,
      });
      expect(usage.prompt_tokens).toBe(upstream === 'sim-claude' ? 40 : PROMPT_TOKENS);
      expect(usage.completion_tokens).toBeGreaterThanOrEqual(10);
      expect(usage.completion_tokens).toBeLessThan(2_000);
      expect(Number(record.cost_usd)).toBeCloseTo(
        (usage.prompt_tokens + 2 * usage.completion_tokens) / 1e6,
        12,
      );
    },
  );

  it('a caller that leaves between two attempts owes nothing, and no further route is tried', async () => {
    const key = edge.addKey(testPrincipal('key_leaving', { routingPolicy: null }));
    const model = edge.serve('leave/scripted', 'sim-chat:error=503-overloaded;retry_after=2', 'sim-claude');
    const ofKey = (): Json[] => edge.shipped().filter((record) => record.key_id === 'key_leaving');
    // The wait is two seconds: where the machine stands still for longer it is over before the caller has left.
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
