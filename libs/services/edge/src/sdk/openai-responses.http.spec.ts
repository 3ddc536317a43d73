import OpenAI from 'openai';
import EarlierOpenAI from 'openai-6';
import type { Response, ResponseInputItem, ResponseStreamEvent } from 'openai/resources/responses/responses';
import {
  FAULTS,
  errorOf,
  IMAGE,
  imagePart,
  NO_ARGUMENTS,
  partsOf,
  startEdgeForSdks,
  UPSTREAMS,
  WEATHER_SCHEMA,
  type EdgeForSdks,
} from './sdk.fixture.js';

// The same program runs with both generations: types of the older one would only say the same again.
const SDKS: [string, typeof OpenAI][] = [
  ['openai 7', OpenAI],
  ['openai 6', EarlierOpenAI as unknown as typeof OpenAI],
];
const CASES = SDKS.flatMap(([sdk, Sdk]) => UPSTREAMS.map((upstream) => ({ sdk, Sdk, upstream })));

const weatherTool = {
  type: 'function' as const,
  name: 'get_weather',
  description: 'Weather of a city',
  parameters: WEATHER_SCHEMA,
  strict: false,
};
const timeTool = { type: 'function' as const, name: 'get_time', parameters: NO_ARGUMENTS, strict: false };

let edge: EdgeForSdks;
beforeAll(async () => {
  edge = await startEdgeForSdks({
    ...FAULTS,
    tools: { word: 'tools' },
    parallel: { script: 'tools=3' },
    thinks: { script: 'think=Let%20me%20think;reasoning=7;completion=20' },
    refuses: { script: 'refusal=I%20will%20not' },
    counted: { script: 'prompt=100;cached=40;completion=9' },
  });
});
afterAll(() => edge.close());
beforeEach(() => edge.forget());

describe.each(CASES)('$sdk, responses over a $upstream upstream', ({ Sdk, upstream }) => {
  const client = (base = '/v1'): OpenAI =>
    new Sdk({ baseURL: `${edge.url}${base}`, apiKey: edge.key, maxRetries: 0 });
  const model = (behaviour?: string): string => edge.model(upstream, behaviour);
  const collect = async (stream: AsyncIterable<ResponseStreamEvent>): Promise<ResponseStreamEvent[]> => {
    const events: ResponseStreamEvent[] = [];
    for await (const event of stream) events.push(event);
    return events;
  };

  it.each(['/openai/v1', '/v1'])('RESP-05 EDGE-05 reads a plain answer under %s', async (base) => {
    const asked = { model: model(), input: 'Hello there', instructions: 'Be kind', metadata: { a: 'b' } };
    const response = await client(base).responses.create(asked);
    expect(response).toMatchObject({
      object: 'response',
      status: 'completed',
      model: model(),
      error: null,
      incomplete_details: null,
    });
    expect(response.id).toMatch(/^resp_/);
    expect(response.output_text).toContain('Hello there');
    expect(response.output[0]).toMatchObject({ type: 'message', role: 'assistant', status: 'completed' });
  });

  it('RESP-01 RESP-05 streams numbered events whose last response is the plain answer', async () => {
    const asked = { model: model('counted'), input: 'Hello there' };
    const events = await collect(await client().responses.create({ ...asked, stream: true }));
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, at) => at));
    expect(events.slice(0, 4).map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
    ]);
    const text = events
      .map((event) => (event.type === 'response.output_text.delta' ? event.delta : ''))
      .join('');
    const last = events.at(-1) as { type: string; response: Response };
    expect(last.type).toBe('response.completed');
    const plain = await client().responses.create(asked);
    expect(text).toBe(plain.output_text);
    const shape = ({ output, usage, status }: Response): unknown => ({
      usage,
      status,
      output: output.map((item) => ({ ...item, id: null })),
    });
    expect(shape(last.response)).toEqual(shape(plain));
  });

  it('USG-25 USG-26 USG-27 USG-29 USG-30 counts as the spec says', async () => {
    const { usage } = await client().responses.create({ model: model('counted'), input: 'Hello' });
    expect(usage).toMatchObject({
      input_tokens: 100,
      input_tokens_details: {
        cached_tokens: 40,
        cache_write_tokens: 0,
        cache_write_1h_tokens: 0,
        audio_tokens: 0,
      },
      output_tokens: 9,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 109,
      byok_used: false,
      fallback_triggered: false,
    });
  });

  it('USG-28 shows the other completion details on a translated route, and on no other', async () => {
    const { usage } = await client().responses.create({ model: model('counted'), input: 'Hello' });
    const translated = { audio_tokens: 0, accepted_prediction_tokens: 0, rejected_prediction_tokens: 0 };
    expect(usage?.output_tokens_details).toEqual({
      reasoning_tokens: 0,
      ...(upstream === 'responses' ? {} : translated),
    });
  });

  it('RESP-05 ends in the marker and frames each event by its name', async () => {
    const answer = await edge.post(
      { model: model(), input: 'Hello', stream: true },
      { path: '/v1/responses' },
    );
    const frames = (await answer.text()).split('\n\n');
    expect(frames.slice(-2)).toEqual(['data: [DONE]', '']);
    for (const frame of frames.slice(0, -2)) {
      const [, name, data] = /^event: (\S+)\ndata: (.+)$/.exec(frame) ?? [];
      expect((JSON.parse(data) as { type: string }).type).toBe(name);
    }
  });

  it('RESP-05 answers three turns of tools, each with the calls of the one before', async () => {
    const input: ResponseInputItem[] = [{ role: 'user', content: 'What is the weather?' }];
    const tools = [weatherTool, timeTool];
    for (let turn = 0; turn < 3; turn += 1) {
      const stream = client().responses.stream({ model: model('parallel'), input, tools });
      const response = await stream.finalResponse();
      const calls = response.output.filter((item) => item.type === 'function_call');
      expect(calls.map(({ name }) => name)).toEqual(['get_weather', 'get_time', 'get_weather']);
      expect(new Set(calls.map(({ call_id }) => call_id)).size).toBe(3);
      for (const { arguments: text } of calls) expect(typeof JSON.parse(text)).toBe('object');
      input.push(...(response.output as ResponseInputItem[]));
      for (const { call_id } of calls) input.push({ type: 'function_call_output', call_id, output: 'Sunny' });
      const after = await client().responses.create({ model: model('parallel'), input, tools });
      expect(after.output_text).toContain('The tools answered: Sunny and Sunny and Sunny');
      input.push(...(after.output as ResponseInputItem[]), { role: 'user', content: `And turn ${turn}?` });
    }
  });

  it.each([false, true])(
    'RESP-05 shows a summary of its reasoning where asked for, stream %s',
    async (stream) => {
      const asked = {
        model: model('thinks'),
        input: 'Hello',
        reasoning: { summary: 'auto' as const },
        include: ['reasoning.encrypted_content' as const],
      };
      const response = stream
        ? await client().responses.stream(asked).finalResponse()
        : await client().responses.create(asked);
      const [item, message] = response.output;
      expect(item).toMatchObject({
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: 'Let me think' }],
      });
      expect(message.type).toBe('message');
      expect(response.usage?.output_tokens_details.reasoning_tokens).toBe(7);
      const input = [
        { role: 'user' as const, content: 'Hello' },
        ...(response.output as ResponseInputItem[]),
      ];
      const again = await client().responses.create({
        ...asked,
        input: [...input, { role: 'user', content: 'More' }],
      });
      expect(again.output_text).toContain('More');
    },
  );

  it('RESP-05 answers in a JSON schema, through parse', async () => {
    const format = { type: 'json_schema' as const, name: 'weather', schema: WEATHER_SCHEMA, strict: true };
    const response = await client().responses.parse({ model: model(), input: 'Weather?', text: { format } });
    expect(JSON.parse(response.output_text)).toMatchObject({ city: expect.any(String) as string });
  });

  it('RESP-05 sends an image, and the upstream gets its bytes', async () => {
    const content = [
      { type: 'input_image' as const, detail: 'auto' as const, image_url: `data:image/png;base64,${IMAGE}` },
      { type: 'input_text' as const, text: 'What is this?' },
    ];
    const input = [{ role: 'user' as const, content }];
    expect((await client().responses.create({ model: model(), input })).output_text).toContain(
      'What is this?',
    );
    expect(partsOf(edge.upstream()[0])[0]).toMatchObject({
      ...imagePart(upstream),
      ...(upstream === 'chat'
        ? { image_url: { url: `data:image/png;base64,${IMAGE}`, detail: 'auto' } }
        : {}),
    });
  });

  it('RESP-05 stops at the limit as incomplete', async () => {
    const response = await client().responses.create({
      model: model(),
      input: 'Hello there',
      max_output_tokens: 2,
    });
    expect(response).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    });
  });

  it.each(['cut', 'inband'])(
    'RESP-05 ends a stream that breaks off (%s) in an error and a failed response',
    async (fault) => {
      const answer = await edge.post(
        { model: model(fault), input: 'Hello', stream: true },
        { path: '/v1/responses' },
      );
      const text = await answer.text();
      const types = [...text.matchAll(/^event: (\S+)$/gm)].map(([, type]) => type);
      expect(types.slice(-2)).toEqual(['error', 'response.failed']);
      expect(text).not.toContain('[DONE]');
      const numbers = [...text.matchAll(/"sequence_number":(\d+)/g)].map(([, number]) => Number(number));
      expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
      const running = client().responses.create({ model: model(fault), input: 'Hello', stream: true });
      expect(await errorOf(running.then(collect))).toBeInstanceOf(Error);
    },
  );

  it('ERR-05 throws the SDK’s error of a refused body, with its parameter', async () => {
    const input = [{ type: 'function_call_output' as const, call_id: 'call_none', output: 'x' }];
    const error = await errorOf(client().responses.create({ model: model(), input }));
    expect(error).toMatchObject({ status: 422, code: 'validation_error', param: 'input.0.call_id' });
  });
});
