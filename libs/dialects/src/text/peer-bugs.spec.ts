import { TEXT_DIALECTS } from '../families.generated.js';
import type { ModelEvent } from './model-event.js';
import { FACTS, read } from './responses/responses.fixture.js';
import { ResponsesEncoder } from './responses/responses-encoder.js';
import { sent, user, type Json } from './upstream-requests.fixture.js';
import { eventFrame, streamOf, target, UPSTREAM_SAMPLES } from './upstream-streams.fixture.js';

const [gemini, converse] = UPSTREAM_SAMPLES;

function eventsOf(dialect: string, ...pieces: Uint8Array[]): ModelEvent[] {
  const decoder = TEXT_DIALECTS.get(dialect)?.upstream.decoder(target({ dialect }));
  if (decoder === undefined) throw new Error(`no dialect ${dialect}`);
  return [...pieces.flatMap((piece) => decoder.push(piece)), ...decoder.end()].flatMap(
    ({ events }) => events,
  );
}

const content = (parts: Json[], more: Json = {}): Json => ({
  candidates: [{ index: 0, content: { role: 'model', parts }, ...more }],
});
const functionCall = (city: string): Json => ({ functionCall: { name: 'weather', args: { city } } });

// Each was found in another gateway.
describe('an answer of Gemini', () => {
  it('bugs 8, 9, 10: numbers calls of one tool through all chunks, so that none becomes part of another', () => {
    const stream = streamOf(gemini, [
      content([functionCall('Bern'), functionCall('Rom')]),
      content([functionCall('Oslo')], { finishReason: 'STOP' }),
    ]);
    const events = eventsOf('gemini', stream);
    const started = events.flatMap((event) => (event.type === 'tool_start' ? [event] : []));
    expect(started.map(({ call, name }) => [call, name])).toEqual([
      [0, 'weather'],
      [1, 'weather'],
      [2, 'weather'],
    ]);
    expect(new Set(started.map(({ id }) => id)).size).toBe(3);
    const inputs = started.map(({ call }) =>
      events
        .map((event) => (event.type === 'tool_arguments' && event.call === call ? event.text : ''))
        .join(''),
    );
    expect(inputs.map((text) => (JSON.parse(text) as Json).city)).toEqual(['Bern', 'Rom', 'Oslo']);
    expect(events).toContainEqual(expect.objectContaining({ type: 'finish', reason: 'tool_calls' }));
  });

  it('bug 12: counts thoughts as completion, so that prompt and completion are the total', () => {
    const usageMetadata = {
      promptTokenCount: 9,
      candidatesTokenCount: 23,
      thoughtsTokenCount: 185,
      totalTokenCount: 217,
    };
    const stream = streamOf(gemini, [
      { ...content([{ text: 'Hi' }], { finishReason: 'STOP' }), usageMetadata },
    ]);
    const counted = eventsOf('gemini', stream).flatMap((event) =>
      event.type === 'usage' ? [event.usage] : [],
    );
    expect(counted.at(-1)).toMatchObject({ prompt_tokens: 9, completion_tokens: 208, reasoning_tokens: 185 });
  });
});

describe('a schema for Gemini', () => {
  it('bug 13: goes where all of JSON Schema is read, without the one member that is not', () => {
    const parameters = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      additionalProperties: false,
      propertyNames: { pattern: '^[a-z]+$' },
      properties: { celsius: { type: 'number', exclusiveMinimum: -274, default: 20 } },
    };
    const tools = [{ type: 'function', function: { name: 'warm', parameters } }];
    const response_format = { type: 'json_schema', json_schema: { name: 'Warm', schema: parameters } };
    const { body } = sent(
      'gemini',
      { messages: [user('x')], tools, response_format },
      { upstreamModel: 'gemini-3-flash' },
    );
    const { $schema: _dialect, ...rest } = parameters;
    expect(body).toMatchObject({
      tools: [{ functionDeclarations: [{ name: 'warm', parametersJsonSchema: rest }] }],
      generationConfig: { responseJsonSchema: rest },
    });
    for (const absent of ['"$schema"', '"parameters"', '"responseSchema"'])
      expect(JSON.stringify(body)).not.toContain(absent);
  });
});

describe('a stream of Bedrock that fails', () => {
  const exception = eventFrame({ throttlingException: { message: 'Too many tokens' } }, 'exception');

  it('bug 29: is an error with its status and message, after what was said, and has no finish', () => {
    const events = eventsOf('converse', streamOf(converse, converse.frames.slice(0, 6)), exception);
    expect(events.at(-1)).toMatchObject({
      type: 'error',
      failure: { status: 429, message: 'Too many tokens' },
    });
    expect(events.some(({ type }) => type === 'text')).toBe(true);
    expect(events.some(({ type }) => type === 'finish' || type === 'end')).toBe(false);
  });
});

describe('an upstream of responses', () => {
  it.each([
    { type: 'error', code: 'rate_limit_exceeded', message: 'Slow down', param: null, sequence_number: 1 },
    { type: 'error', error: { code: 'rate_limit_exceeded', message: 'Slow down' }, sequence_number: 1 },
    {
      type: 'response.failed',
      response: {
        id: 'resp_1',
        status: 'failed',
        error: { code: 'rate_limit_exceeded', message: 'Slow down' },
      },
    },
  ])('bug 28: is quoted where its stream fails: $type', (failure) => {
    const frame = Buffer.from(`event: ${failure.type}\ndata: ${JSON.stringify(failure)}\n\n`);
    expect(eventsOf('responses', frame).at(-1)).toMatchObject({
      type: 'error',
      failure: { message: 'Slow down' },
    });
  });

  it('bug 38: gets a result as the text that it was, and its callers get message ids of their own kind', () => {
    const call = { id: 'call_a', type: 'function', function: { name: 'now', arguments: '{}' } };
    const { body } = sent('responses', {
      messages: [
        user('x'),
        { role: 'assistant', tool_calls: [call] },
        { role: 'tool', tool_call_id: 'call_a', content: 'noon' },
      ],
      tools: [{ type: 'function', function: { name: 'now' } }],
    });
    expect(body.input).toContainEqual({ type: 'function_call_output', call_id: 'call_a', output: 'noon' });

    const events: ModelEvent[] = [
      { type: 'start', id: 'chatcmpl-1', created: 1, systemFingerprint: null, serviceTier: null },
      { type: 'text', choice: 0, text: 'Noon.' },
      { type: 'finish', choice: 0, reason: 'stop', native: 'stop', stopSequence: null },
      { type: 'end' },
    ];
    const encoder = new ResponsesEncoder(FACTS, read({ model: 'acme/model', input: 'Hello' }));
    const answer = encoder.whole({ events, raw: null, source: null });
    expect(answer).toMatchObject({
      id: expect.stringMatching(/^resp_/) as string,
      output: [{ type: 'message', id: expect.stringMatching(/^msg_/) as string }],
    });
  });
});
