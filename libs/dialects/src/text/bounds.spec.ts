import { textMessages } from '../families.generated.js';
import { smallSeed } from './bounds.js';
import type { ModelEvent } from './model-event.js';
import { sent, user, type Json } from './upstream-requests.fixture.js';
import { target } from './upstream-streams.fixture.js';

const messages = [user('x')];
const ofMessages = (more: Json): Json => ({ max_tokens: 99, messages, ...more });
const LONG_ID = 'u'.repeat(300);

describe('fewer output tokens than OpenAI’s responses take', () => {
  it.each([
    ['messages', ofMessages({ max_tokens: 1 }), 16],
    ['chat', { messages, max_completion_tokens: 15 }, 16],
    ['chat', { messages, max_completion_tokens: 17 }, 17],
    ['chat', { messages }, undefined],
  ])('are asked for from %s as the least that they take: %j', (_caller, body, most) => {
    expect(sent('responses', body).body.max_output_tokens).toBe(most);
  });

  it('stay as they are for who speaks that format, and elsewhere', () => {
    expect(sent('responses', { input: 'x', max_output_tokens: 1 }).body.max_output_tokens).toBe(1);
    expect(sent('chat', ofMessages({ max_tokens: 1 })).body.max_completion_tokens).toBe(1);
  });
});

describe('a value beyond the scale of the upstream', () => {
  const sampling = (dialect: string, more: Json, quirks = {}): Json =>
    sent(dialect, { messages, ...more }, { quirks }).body;

  it('of the temperature is its end', () => {
    const temperatures = [0.01, 1] as const;
    expect(sampling('chat', { temperature: 1.7 }, { temperatures }).temperature).toBe(1);
    expect(sampling('chat', { temperature: 0 }, { temperatures }).temperature).toBe(0.01);
    expect(sampling('chat', { temperature: 1.7 }).temperature).toBe(1.7);
    expect(sent('chat', ofMessages({ temperature: 0 }), { quirks: { temperatures } }).body.temperature).toBe(
      0.01,
    );
    expect(sampling('messages', { temperature: 1.7 }).temperature).toBe(1);
  });

  it('of Cohere’s sampling is its end, and what it has no word for is named', () => {
    const { body, ignored } = sent('cohere', {
      messages,
      top_p: 1,
      top_k: 900,
      frequency_penalty: 1.5,
      presence_penalty: -1,
      seed: -1,
    });
    expect(body).toMatchObject({
      p: 0.99,
      k: 500,
      frequency_penalty: 1,
      presence_penalty: 0,
      seed: 2 ** 31 - 1,
    });
    expect(ignored).toEqual(['presence_penalty']);
  });

  it('of a seed is another seed, and always the same', () => {
    expect([0, 7, 2 ** 31 - 1, 2 ** 31, -1, 2 ** 53].map(smallSeed)).toEqual([
      0,
      7,
      2 ** 31 - 1,
      0,
      2 ** 31 - 1,
      0,
    ]);
    const config = sent('gemini', { messages, seed: 3_000_000_000 }).body.generationConfig as Json;
    expect(config.seed).toBe(3_000_000_000 - 2 ** 31);
  });
});

describe('stop sequences', () => {
  const stop_sequences = ['a', 'b', 'c', 'd', 'e'];

  it('go to a server in any number that it takes', () => {
    expect(sent('chat', ofMessages({ stop_sequences }), { quirks: { stopMax: 5 } }).body.stop).toEqual(
      stop_sequences,
    );
    expect(sent('chat', ofMessages({ stop_sequences })).misfit).toBe('stop_sequences');
  });

  it.each([
    ['gemini', (body: Json) => (body.generationConfig as Json).stopSequences],
    ['cohere', (body: Json) => body.stop_sequences],
    ['ollama', (body: Json) => (body.options as Json).stop],
    ['messages', (body: Json) => body.stop_sequences],
  ])('that are empty do not go to %s, and are named', (dialect, stopOf) => {
    const { body, ignored } = sent(dialect, { messages, stop: ['', 'END'] });
    expect(stopOf(body)).toEqual(['END']);
    expect(ignored).toEqual(['stop']);
  });
});

it('more answers at once than Gemini gives pass it over', () => {
  expect(sent('gemini', { messages, n: 8 }).misfit).toBeNull();
  expect(sent('gemini', { messages, n: 9 }).misfit).toBe('n');
});

it('a long id of an end user goes by its digest, which every upstream takes', () => {
  const metadata = sent('messages', { messages, user: LONG_ID }).body.metadata as { user_id: string };
  expect(metadata.user_id).toMatch(/^[0-9a-f]{64}$/);
  expect(sent('messages', { messages, user: 'u'.repeat(256) }).body.metadata).toEqual({
    user_id: 'u'.repeat(256),
  });
  const body = ofMessages({ metadata: { user_id: LONG_ID.slice(0, 256) } });
  for (const dialect of ['chat', 'responses'])
    expect(sent(dialect, body).body.safety_identifier).toMatch(/^[0-9a-f]{64}$/);
});

describe('a name of a tool that the upstream does not take', () => {
  const NAMESPACE = `mcp.${'n'.repeat(100)}`;
  const FLAT = `${NAMESPACE}__${'t'.repeat(60)}`;
  const tools = [
    {
      type: 'namespace',
      name: NAMESPACE,
      description: 'd',
      tools: [{ type: 'function', name: 't'.repeat(60) }],
    },
  ];
  const parsed = (): ReturnType<typeof sent> => sent('messages', { input: 'x', tools });

  it('is another one in its letters and of its length', () => {
    const [tool] = parsed().body.tools as { name: string }[];
    expect(tool.name).toMatch(/^[A-Za-z0-9_-]{128}$/);
  });

  it('stands so in the history and the choice', () => {
    const call = { type: 'function', id: 'call_1', function: { name: 'a.b', arguments: '{}' } };
    const history = [
      ...messages,
      { role: 'assistant', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: '1' },
    ];
    const { body } = sent('messages', { messages: history });
    const [, turn] = body.messages as { content: Json[] }[];
    expect(turn.content[0].name).toMatch(/^a_b_[0-9a-f]{8}$/);
  });

  it('begins with a letter for Gemini', () => {
    const functions = [{ type: 'function', function: { name: '3d-render' } }];
    const [{ functionDeclarations }] = sent('gemini', { messages, tools: functions }).body.tools as {
      functionDeclarations: { name: string }[];
    }[];
    expect(functionDeclarations[0].name).toMatch(/^_3d-render_[0-9a-f]{8}$/);
  });

  it('comes back as the caller’s own from a model of messages', () => {
    const route = target({ dialect: 'messages' });
    const [tool] = parsed().body.tools as { name: string }[];
    const decoder = textMessages.upstream.decoder(route, { [tool.name]: FLAT });
    const content = [{ type: 'tool_use', id: 'toolu_1', name: tool.name, input: {} }];
    const { events } = decoder.whole({
      type: 'message',
      role: 'assistant',
      content,
      stop_reason: 'tool_use',
    });
    const named = (event: ModelEvent): string[] => (event.type === 'tool_start' ? [event.name] : []);
    expect(events.flatMap(named)).toEqual([FLAT]);
  });
});
