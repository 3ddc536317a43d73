import { catalogueModel, eventually, startUpstreamDouble, type UpstreamDouble } from '@gateway/testing';
import { hello, startEdge, type EdgeUnderTest, type Json } from '../edge.fixture.js';
import { StreamReader } from './stream-reader.fixture.js';

const event = (value: Json): string =>
  `${typeof value.type === 'string' ? `event: ${value.type}\n` : ''}data: ${JSON.stringify(value)}\n\n`;
const chunk = (delta: Json | null, more: Json = {}): string =>
  event({
    ...{ id: 'chatcmpl-first', object: 'chat.completion.chunk', created: 1, model: 'm' },
    choices: delta === null ? [] : [{ index: 0, delta, finish_reason: null }],
    ...more,
  });
const usage = { prompt_tokens: 9, completion_tokens: 0, total_tokens: 9 };
const message = { id: 'msg_first', type: 'message', role: 'assistant', content: [], model: 'm', usage: {} };
const response = { id: 'resp_first', object: 'response', status: 'in_progress', output: [] };
const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };

/** Openings by the upstream's dialect: frames without content, the failure that follows, and the first words. */
const OPENINGS: Record<string, { opening: string[]; failure: string; words: string }> = {
  chat: {
    opening: [
      event({ id: '', choices: [], prompt_filter_results: [{ prompt_index: 0 }] }),
      chunk({ role: 'assistant', content: '' }),
      chunk({ content: '' }),
      chunk(null, { usage }),
    ],
    failure: event({ error: { message: 'busy', code: 503 } }),
    words: chunk({ content: 'first words' }),
  },
  messages: {
    opening: [
      event({ type: 'message_start', message }),
      event({ type: 'ping' }),
      event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    ],
    failure: event(overloaded),
    words: event({
      ...{ type: 'content_block_delta', index: 0 },
      delta: { type: 'text_delta', text: 'first words' },
    }),
  },
  responses: {
    opening: [
      event({ type: 'response.created', response }),
      event({ type: 'response.queued', response }),
      event({ type: 'response.in_progress', response }),
      event({ type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'msg_1' } }),
    ],
    failure: event({ type: 'error', code: 'server_error', message: 'busy' }),
    words: event({
      type: 'response.output_text.delta',
      output_index: 0,
      content_index: 0,
      delta: 'first words',
    }),
  },
  gemini: {
    opening: [event({ responseId: 'first', usageMetadata: { promptTokenCount: 9 } })],
    failure: event({ error: { code: 503, status: 'UNAVAILABLE', message: 'busy' } }),
    words: event({ candidates: [{ content: { role: 'model', parts: [{ text: 'first words' }] } }] }),
  },
};
const PROVIDER_OF: Record<string, string> = { messages: 'anthropic', gemini: 'google' };
const STREAMS: Record<string, Json> = {
  '/v1/chat/completions': { stream_options: { include_usage: true } },
  '/v1/messages': {},
  '/v1/responses': { input: 'Hello there', messages: undefined, max_tokens: undefined },
};
/** Patterns that each stream has once: its begin and its end. */
const BEGINS: Record<string, [RegExp, RegExp]> = {
  '/v1/chat/completions': [/"role":"assistant"/g, /\[DONE\]/g],
  '/v1/messages': [/event: message_start/g, /event: message_stop/g],
  '/v1/responses': [/event: response.created/g, /event: response.completed/g],
};
const ROADS = Object.keys(STREAMS).flatMap((path) =>
  Object.keys(OPENINGS).map((dialect) => [path, dialect] as const),
);

describe('an upstream that opens its stream and has said nothing yet', () => {
  let edge: EdgeUnderTest;
  let provider: UpstreamDouble;
  let count = 0;

  beforeAll(async () => {
    provider = await startUpstreamDouble();
    const { url } = provider;
    edge = await startEdge({ upstreams: async () => ({ openai: url, anthropic: url, google: url }) });
  });
  beforeEach(() => {
    count += 1;
    provider.seen.length = 0;
    edge.sim.reset();
  });
  afterAll(async () => {
    await edge.close();
    await provider.close();
  });

  /** A model whose first provider is the double; a second one, which serves, follows where asked for. */
  function model(dialect: string, isAlone = false): string {
    const slug = PROVIDER_OF[dialect] ?? 'openai';
    const price = (usd: string): Json => ({ prompt_usd_per_1m: usd, completion_usd_per_1m: usd });
    const first = { provider: slug, upstreamModel: `opens-${count}`, dialect, price: price('1') };
    const second = {
      provider: 'simulated',
      upstreamModel: 'sim-chat:prompt=9',
      dialect: 'chat',
      price: price('2'),
    };
    edge.serveModels(catalogueModel('acme/opens', isAlone ? [first] : [first, second]));
    return 'acme/opens';
  }

  const ask = (path: string, id: string): Promise<Response> =>
    edge.post(hello(id, { stream: true, ...STREAMS[path] }), { path });

  describe.each(ROADS)('%s over %s', (path, dialect) => {
    const { opening, failure } = OPENINGS[dialect];

    it.each([
      ['fails', [...opening, failure], 'end'],
      ['ends', opening, 'end'],
      ['breaks off', opening, 'reset'],
    ] as const)('%s: another route serves, as one answer', async (_how, pieces, ending) => {
      const headers = { 'content-type': 'text/event-stream' };
      provider.answer = () => ({ headers, pieces, gapMs: 1, ending });
      const answer = await ask(path, model(dialect));
      const text = await answer.text();
      expect(answer.status).toBe(200);
      expect(text).not.toMatch(/first|event: error|response\.failed|"error":\s*\{/);
      for (const once of BEGINS[path]) expect(text.match(once)).toHaveLength(1);
      expect(text.match(/"fallback_triggered":\s*true/g)?.length).toBeGreaterThan(0);
      expect(edge.upstream()).toHaveLength(1);
      const record = await edge.record(answer);
      expect(record).toMatchObject({ outcome: 'served', provider: 'simulated', routing_fallback: true });
      expect((record.attempts as Json[]).at(-1)).toMatchObject({ served: true, house_usd: null });
      expect(record.usage).toMatchObject({ prompt_tokens: 9 });
    });
  });

  it.each(['chat', 'messages', 'gemini'])(
    '%s: it passes at once where no other route is left',
    async (dialect) => {
      let release: () => void = () => undefined;
      const released = new Promise<void>((resolve) => (release = resolve));
      const { opening, words } = OPENINGS[dialect];
      async function* pieces(): AsyncGenerator<string> {
        yield* opening;
        await released;
        yield words;
      }
      provider.answer = () => ({ headers: { 'content-type': 'text/event-stream' }, pieces: pieces() });
      const answer = await ask('/v1/messages', model(dialect, true));
      const reader = new StreamReader(answer);
      expect(await reader.until((text) => text.includes('message_start'))).toBe(true);
      release();
      expect(await reader.until((text) => text.includes('first words'))).toBe(true);
    },
  );

  it.each(Object.keys(OPENINGS))('%s: content commits, and what fails after it is final', async (dialect) => {
    const { opening, words, failure } = OPENINGS[dialect];
    const headers = { 'content-type': 'text/event-stream' };
    provider.answer = () => ({ headers, pieces: [...opening, words, failure], gapMs: 1 });
    const answer = await ask('/v1/chat/completions', model(dialect));
    expect(await answer.text()).toMatch(/first words[^]*"error"/);
    expect(provider.seen).toHaveLength(1);
    expect(edge.upstream()).toHaveLength(0);
  });

  it('the caller that leaves while it is waited for pays for what was sent, and ends the upstream', async () => {
    const { opening } = OPENINGS.messages;
    const headers = { 'content-type': 'text/event-stream' };
    provider.answer = () => ({ headers, pieces: opening, ending: 'stall' });
    const caller = new AbortController();
    const body = hello(model('messages'), { stream: true });
    const asked = edge.post(body, { signal: caller.signal }).catch(() => null);
    await eventually(() => provider.open() === 1 && provider.seen.length === 1);
    caller.abort();
    await asked;
    await eventually(() => provider.open() === 0);
    const record = await eventually(() => edge.shipped().find(({ outcome }) => outcome === 'cancelled'));
    expect(record).toMatchObject({ http_status: 499, attempts: [{ status: 'cancelled', served: false }] });
    expect(edge.upstream()).toHaveLength(0);
  });
});
