import type { TextFacts } from '../text-dialect.js';
import { choiceIn, editedAnswer, foldOf, HEAD, plainEvents, USAGE } from './chat-samples.fixture.js';
import { objectOf, type JsonObject } from '../../body/json-object.js';

const CALL = { index: 0, id: 'a', type: 'function', function: { name: 'look', arguments: '{"q":1}' } };

function plain(message: JsonObject, more: JsonObject = {}, choice: JsonObject = {}): JsonObject {
  const choices = [
    { index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop', ...choice },
  ];
  return { ...HEAD, object: 'chat.completion', choices, usage: USAGE, ...more };
}

/** Both roads to a plain answer. */
const PLAIN: [string, (answer: JsonObject, more?: Partial<TextFacts>) => JsonObject][] = [
  ['folded', (answer, more) => foldOf(plainEvents(answer), more)],
  ['edited', editedAnswer],
];
describe.each(PLAIN)('a plain answer, %s', (_road, answerOf) => {
  it('CHAT-01 CHAT-03 CHAT-04 CHAT-05 CHAT-06 CHAT-07 CHAT-08 has the whole shape of a chat completion', () => {
    const answer = answerOf(plain({ content: 'Hi' }));
    expect(answer).toEqual({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1_690_000_000,
      model: 'acme/large',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hi', refusal: null, annotations: [] },
          logprobs: null,
          finish_reason: 'stop',
          native_finish_reason: 'stop',
        },
      ],
      usage: expect.objectContaining({
        prompt_tokens: 10,
        completion_tokens: 4,
        total_tokens: 14,
      }) as unknown,
      service_tier: 'default',
      system_fingerprint: '',
    });
  });

  it('gives its own id and time where the provider gives none, and the tier that served', () => {
    const answer = answerOf(
      plain({ content: 'Hi' }, { id: '', created: 0, service_tier: 'flex', system_fingerprint: 'fp_1' }),
    );
    expect(answer).toMatchObject({
      id: 'chatcmpl_own',
      created: 1_700_000_000,
      service_tier: 'flex',
      system_fingerprint: 'fp_1',
    });
  });

  it('CHAT-09 CHAT-10 CHAT-11 CHAT-12 maps stop reasons of equal meaning and keeps the others', () => {
    const reasons = [
      'end_turn',
      'content_filtered',
      'model_length',
      'eos_token',
      'insufficient_system_resource',
    ];
    const finishes = reasons.map((finish_reason) =>
      choiceIn(answerOf(plain({ content: 'a' }, {}, { finish_reason }))),
    );
    expect(finishes.map((choice) => choice.finish_reason)).toEqual([
      'stop',
      'content_filter',
      'length',
      'stop',
      'insufficient_system_resource',
    ]);
    expect(finishes.map((choice) => choice.native_finish_reason)).toEqual(reasons);
    expect(choiceIn(answerOf(plain({ content: 'a' }, {}, { finish_reason: null })))).toMatchObject({
      finish_reason: 'stop',
      native_finish_reason: null,
    });
    expect(choiceIn(answerOf(plain({}, {}, { native_finish_reason: 'end_turn' }))).native_finish_reason).toBe(
      'end_turn',
    );
  });

  it('has content null with tool calls only, and "" where the answer is empty', () => {
    const called = choiceIn(
      answerOf(plain({ content: '', tool_calls: [{ ...CALL, function: { name: 'x', arguments: '' } }] })),
    );
    expect(called.message).toMatchObject({
      content: null,
      tool_calls: [{ id: 'a', type: 'function', function: { name: 'x', arguments: '{}' } }],
    });
    expect(
      choiceIn(answerOf(plain({ content: null }, {}, { finish_reason: 'length' }))).message,
    ).toMatchObject({ content: '' });
  });

  it('CHAT-31 leaves reasoning out when it is excluded, in every spelling', () => {
    const message = {
      content: 'Hi',
      reasoning: 'secret',
      reasoning_content: 'secret',
      reasoning_details: [{ type: 'reasoning.text', text: 'secret' }],
    };
    expect(JSON.stringify(answerOf(plain(message), { excludeReasoning: true }))).not.toContain('secret');
    expect(choiceIn(answerOf(plain(message))).message).toMatchObject({ reasoning: 'secret' });
  });

  it('answers a legacy caller with function_call', () => {
    const answer = answerOf(plain({ tool_calls: [CALL] }, {}, { finish_reason: 'tool_calls' }), {
      legacyFunctions: true,
    });
    const { message, finish_reason } = choiceIn(answer);
    expect(message).toMatchObject({ content: null, function_call: { name: 'look', arguments: '{"q":1}' } });
    expect(message).not.toHaveProperty('tool_calls');
    expect(finish_reason).toBe('function_call');
  });

  it('turns sources that stand beside the choices into annotations', () => {
    const { message } = choiceIn(answerOf(plain({ content: 'Hi' }, { citations: ['https://a.example'] })));
    expect(objectOf(message).annotations).toEqual([
      {
        type: 'url_citation',
        url_citation: { url: 'https://a.example', title: '', start_index: 0, end_index: 0 },
      },
    ]);
  });

  it('USG-18 shows neither who serves nor what it costs', () => {
    const answer = plain(
      { content: 'Hi' },
      {
        provider: 'Acme Cloud',
        x_groq: { id: 'x' },
        total_cost: 3,
        usage: { ...USAGE, cost: 1, is_byok: false },
      },
    );
    const text = JSON.stringify(answerOf(answer));
    expect(text).not.toMatch(/Acme Cloud|x_groq|cost|large-2026/);
    expect(text).toContain('"is_byok":false');
  });
});
