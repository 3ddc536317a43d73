import type { ScriptedAnswer } from '@gateway/testing';
import { hello, type Json } from '../../edge.fixture.js';
import { tenantOf } from '../../tenant.fixture.js';
import { first, started } from './upstreams.fixture.js';

const edge = tenantOf(started, 'one_sided_usage');

/** 250 tokens by the estimate. */
const TEXT = 'x'.repeat(1_000);

function framesOf(events: Json[], isNamed: boolean): string {
  const lines = events.map((event) => {
    const name = isNamed ? `event: ${String(event.type)}\n` : '';
    return `${name}data: ${JSON.stringify(event)}\n\n`;
  });
  return lines.join('') + (isNamed ? '' : 'data: [DONE]\n\n');
}

function chatAnswer(usage: Json, isStream: boolean): ScriptedAnswer {
  const base = { id: 'x', created: 1, model: 'm' };
  if (!isStream) {
    const choices = [{ index: 0, message: { role: 'assistant', content: TEXT }, finish_reason: 'stop' }];
    return { json: { ...base, object: 'chat.completion', choices, usage } };
  }
  const chunk = (delta: Json, finish_reason: string | null): Json => ({
    ...{ ...base, object: 'chat.completion.chunk', usage: null },
    choices: [{ index: 0, delta, finish_reason }],
  });
  const last = { ...base, object: 'chat.completion.chunk', choices: [], usage };
  const events = [chunk({ role: 'assistant', content: TEXT }, null), chunk({}, 'stop'), last];
  return { headers: { 'content-type': 'text/event-stream' }, body: framesOf(events, false) };
}

function messagesAnswer(usage: Json, isStream: boolean): ScriptedAnswer {
  const message = { id: 'x', type: 'message', role: 'assistant', model: 'm', stop_sequence: null };
  if (!isStream) {
    const content = [{ type: 'text', text: TEXT }];
    return { json: { ...message, content, stop_reason: 'end_turn', usage } };
  }
  const { input_tokens, output_tokens } = usage;
  const events = [
    {
      type: 'message_start',
      message: { ...message, content: [], stop_reason: null, usage: { input_tokens } },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: TEXT } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens } },
    { type: 'message_stop' },
  ];
  return { headers: { 'content-type': 'text/event-stream' }, body: framesOf(events, true) };
}

const PROVIDERS = {
  simulated: { answer: chatAnswer, input: 'prompt_tokens', output: 'completion_tokens' },
  'simulated-messages': { answer: messagesAnswer, input: 'input_tokens', output: 'output_tokens' },
};
type Provider = keyof typeof PROVIDERS;

const CASES = (Object.keys(PROVIDERS) as Provider[]).flatMap((provider) =>
  [false, true].flatMap((isStream) =>
    [undefined, '9', null, 0.5, -1, 0].map((odd): [Provider, boolean, unknown] => [provider, isStream, odd]),
  ),
);

describe('a provider that counts one side of a request', () => {
  let usage: Json;
  beforeAll(() => {
    first.answer = ({ path, body }) => {
      const { stream = false } = JSON.parse(body.toString()) as { stream?: boolean };
      const { answer } = PROVIDERS[path.endsWith('/messages') ? 'simulated-messages' : 'simulated'];
      return answer(usage, stream);
    };
  });

  async function billed(provider: Provider, isStream: boolean): Promise<Record<string, number>> {
    const model = edge.serve('one/sided', { provider, upstreamModel: 'counts-one-side' });
    const response = await edge.post(hello(model, { stream: isStream }));
    expect(response.status).toBe(200);
    await response.text();
    const record = await edge.record(response);
    expect(record).toMatchObject({ outcome: 'served', usage_estimated: true });
    const { prompt_tokens, completion_tokens } = record.usage as Record<string, number>;
    // A million tokens in are 1 USD, a million out are 2.
    expect(Number(record.cost_usd)).toBeCloseTo((prompt_tokens + 2 * completion_tokens) / 1e6, 12);
    return { prompt_tokens, completion_tokens };
  }

  it.each(CASES)(
    '%s, stream %s: an output of %j is estimated, billed and flagged, and the input stands',
    async (provider, isStream, odd) => {
      const { input, output } = PROVIDERS[provider];
      usage = { [input]: 12, [output]: odd };
      expect(await billed(provider, isStream)).toEqual({ prompt_tokens: 12, completion_tokens: 250 });
    },
  );

  it('A5 a route whose counts differ tenfold from its texts is counted, and billed as it counts', async () => {
    const model = edge.serve('one/sided', 'counts-one-side');
    const counted = async (): Promise<number> => {
      const text = await (await fetch(`${edge.url}/metrics`)).text();
      const line = /^gateway_usage_far_off_total\{.*model="counts-one-side".*\} (\d+)$/m.exec(text);
      return Number(line?.[1] ?? 0);
    };
    for (const [output, far] of [
      [250, 0],
      [26, 0],
      [25, 1],
      [1, 2],
      [2_499, 2],
      [2_500, 3],
    ] as const) {
      usage = { prompt_tokens: 12, completion_tokens: output };
      const response = await edge.post(hello(model));
      await response.text();
      const { usage: billed, usage_estimated } = await edge.record(response);
      expect(billed).toMatchObject({ completion_tokens: output });
      expect([output, usage_estimated, await counted()]).toEqual([output, false, far]);
    }
  });

  it.each(CASES)(
    '%s, stream %s: an input of %j is estimated, billed and flagged, and the output stands',
    async (provider, isStream, odd) => {
      const { input, output } = PROVIDERS[provider];
      usage = { [input]: odd, [output]: 7 };
      const { prompt_tokens, completion_tokens } = await billed(provider, isStream);
      expect(completion_tokens).toBe(7);
      expect(prompt_tokens).toBeGreaterThan(0);
      expect(prompt_tokens).toBeLessThan(12);
    },
  );
});
