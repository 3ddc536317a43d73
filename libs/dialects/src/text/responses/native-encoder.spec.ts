import { ApiError } from '@gateway/contracts';
import { NativeResponsesEncoder } from './native-encoder.js';
import { ResponsesDecoder } from './responses-decoder.js';
import { FACTS, read } from './responses.fixture.js';

const REQUEST = read({ model: 'acme/model', input: 'Hello' });

const response = {
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  model: 'provider-name',
  provider: 'Acme',
  output: [
    { id: 'ws_1', type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'x' } },
    {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Hi', odd: 1 }],
    },
  ],
  tool_usage: { web_search: { num_requests: 2 }, cost: 4 },
  usage: {
    input_tokens: 10,
    input_tokens_details: { cached_tokens: 4, image_tokens: 3 },
    output_tokens: 5,
    output_tokens_details: { reasoning_tokens: 1 },
    total_tokens: 99,
    cost: 0.1,
    num_sources_used: 2,
  },
  shape_of_tomorrow: true,
};
const frames = (...objects: object[]): Uint8Array =>
  Buffer.from(objects.map((object) => `data: ${JSON.stringify(object)}\n\n`).join(''));
const usage = {
  input_tokens: 10,
  input_tokens_details: {
    cached_tokens: 4,
    cache_write_tokens: 0,
    cache_write_1h_tokens: 0,
    audio_tokens: 0,
    image_tokens: 3,
  },
  output_tokens: 5,
  output_tokens_details: { reasoning_tokens: 1 },
  total_tokens: 99,
  num_sources_used: 2,
  byok_used: false,
  fallback_triggered: false,
};

function stream(...objects: object[]): { text: string; encoder: NativeResponsesEncoder } {
  const encoder = new NativeResponsesEncoder(FACTS, REQUEST);
  const decoder = new ResponsesDecoder();
  const decoded = [...decoder.push(frames(...objects)), ...decoder.end()];
  return { text: decoded.map((frame) => encoder.write(frame)).join(''), encoder };
}

describe('responses on both sides', () => {
  it('RESP-05 USG-25 USG-26 USG-27 USG-29 USG-30 USG-31 keeps what nobody knows, rewrites model and usage, shows no money', () => {
    const whole = new NativeResponsesEncoder(FACTS, REQUEST).whole(new ResponsesDecoder().whole(response));
    const { provider: _provider, ...kept } = response;
    expect(whole).toEqual({
      ...whole,
      ...kept,
      model: FACTS.model,
      usage,
      previous_response_id: null,
      tool_usage: { web_search: { num_requests: 2 } },
    });
  });

  it('gives a thin upstream’s response every member that SDKs read, with what was asked or its default', () => {
    const request = read({ model: 'acme/model', input: 'Hello', temperature: 0.5 });
    const whole = new NativeResponsesEncoder(FACTS, request).whole(new ResponsesDecoder().whole(response));
    expect(whole).toMatchObject({
      completed_at: null,
      temperature: 0.5,
      top_p: 1,
      presence_penalty: 0,
      frequency_penalty: 0,
      top_logprobs: 0,
      background: false,
      text: { format: { type: 'text' } },
      tools: [],
    });
  });

  it('RESP-01 RESP-05 passes unknown events on as they are, and counts on the closing event alone', () => {
    const odd = { type: 'response.tomorrow', sequence_number: 2, deep: { model: 'provider-name' } };
    const { text } = stream(
      {
        type: 'response.created',
        sequence_number: 0,
        response: { ...response, status: 'in_progress', output: [], usage: null },
      },
      {
        type: 'response.in_progress',
        sequence_number: 1,
        response: { ...response, status: 'in_progress', output: [], usage: null },
      },
      odd,
      {
        type: 'response.output_text.delta',
        output_index: 1,
        content_index: 0,
        delta: 'Hi',
        sequence_number: 3,
      },
      { type: 'response.completed', sequence_number: 4, response },
    );
    expect(text).toContain(`event: response.tomorrow\ndata: ${JSON.stringify(odd)}\n\n`);
    const objects = [...text.matchAll(/^data: (\{.*)$/gm)].map(
      ([, data]) => JSON.parse(data) as { response?: { usage: unknown; model: string } },
    );
    expect(objects[0].response).toMatchObject({ usage: null, model: FACTS.model });
    expect(objects.at(-1)?.response).toMatchObject({ usage, model: FACTS.model });
    expect(text.endsWith('\n\ndata: [DONE]\n\n')).toBe(true);
  });

  it('says nothing before the provider has: an early refusal leaves room for another route', () => {
    const decoder = new ResponsesDecoder();
    const opening = {
      type: 'response.created',
      response: { ...response, output: [], status: 'in_progress' },
    };
    expect(decoder.push(frames(opening))).toEqual([]);
    const error = {
      type: 'error',
      error: { type: 'insufficient_quota', code: 'insufficient_quota', message: 'No' },
    };
    const bare = { error: { code: 429, message: 'Slow down' } };
    const [early] = new ResponsesDecoder().push(Buffer.from(`data: ${JSON.stringify(bare)}\n\n`));
    expect(early.events).toMatchObject([
      { type: 'error', failure: { kind: 'in_band', status: 429, message: 'Slow down', body: bare.error } },
    ]);
    const [frame] = decoder.push(frames(error));
    expect(frame.events).toMatchObject([
      { type: 'error', failure: { kind: 'in_band', status: 429, message: 'No' } },
    ]);
  });

  it('RESP-05 goes on counting where its stream breaks off', () => {
    const { encoder } = stream(
      {
        type: 'response.created',
        sequence_number: 0,
        response: { ...response, status: 'in_progress', usage: null },
      },
      {
        type: 'response.output_text.delta',
        output_index: 0,
        content_index: 0,
        delta: 'Hi',
        sequence_number: 7,
      },
    );
    const text = encoder.fail(new ApiError('upstream_error', { message: 'gone' }), 'req_1');
    const objects = [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data) as object);
    expect(objects).toMatchObject([
      { type: 'error', code: 'upstream_error', message: 'gone', sequence_number: 8, request_id: 'req_1' },
      { type: 'response.failed', sequence_number: 9, response: { id: 'resp_1', status: 'failed' } },
    ]);
  });

  it('RESP-05 ends a stream that broke off before its first event in a failed response, and names a throttle', () => {
    const { encoder } = stream();
    const throttled = { message: 'slow down', providerCode: 'rate_limit_exceeded' };
    const text = encoder.fail(new ApiError('upstream_error', throttled), 'req_1');
    const objects = [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data) as object);
    expect(objects).toMatchObject([
      { type: 'error', code: 'upstream_error', sequence_number: 0 },
      {
        type: 'response.failed',
        sequence_number: 1,
        response: {
          id: FACTS.answerId(),
          object: 'response',
          model: FACTS.model,
          status: 'failed',
          output: [],
          error: { code: 'rate_limit_exceeded', message: 'slow down' },
        },
      },
    ]);
  });

  it('gives an answer without an id of this format one of its own', () => {
    const whole = new NativeResponsesEncoder(FACTS, REQUEST).whole(
      new ResponsesDecoder().whole({ ...response, id: 'gen-1' }),
    );
    expect(whole.id).toBe(FACTS.answerId());
  });
});
