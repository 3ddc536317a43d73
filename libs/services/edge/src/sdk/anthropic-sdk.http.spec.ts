import Anthropic from '@anthropic-ai/sdk';
import EarlierAnthropic from '@anthropic-ai/sdk-0';
import { testPrincipal } from '../edge.fixture.js';
import {
  bigPrompt,
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
const SDKS: [string, typeof Anthropic][] = [
  ['@anthropic-ai/sdk 1', Anthropic],
  ['@anthropic-ai/sdk 0', EarlierAnthropic as unknown as typeof Anthropic],
];
const CASES = SDKS.flatMap(([sdk, Sdk]) => UPSTREAMS.map((upstream) => ({ sdk, Sdk, upstream })));

const weatherTool = { name: 'get_weather', description: 'Weather of a city', input_schema: WEATHER_SCHEMA };
const timeTool = { name: 'get_time', description: 'The time', input_schema: NO_ARGUMENTS };

let edge: EdgeForSdks;
beforeAll(async () => {
  edge = await startEdgeForSdks({
    tools: { word: 'tools' },
    parallel: { script: 'tools=3' },
    bare: { script: 'tools=1;tool_args=none' },
    spoken: { script: 'think=Let%20me%20think;tools=1;text=Looking%20it%20up' },
    counted: { script: 'prompt=100;cached=40;completion=9' },
  });
});
afterAll(() => edge.close());
beforeEach(() => edge.forget());

describe.each(CASES)('$sdk over a $upstream upstream', ({ Sdk, upstream }) => {
  const client = (): Anthropic => new Sdk({ baseURL: edge.url, apiKey: edge.key, maxRetries: 0 });
  const hello = { role: 'user' as const, content: 'Hello there' };
  const body = (behaviour?: string): { model: string; max_tokens: number; messages: [typeof hello] } => ({
    model: edge.model(upstream, behaviour),
    max_tokens: 2_048,
    messages: [hello],
  });

  it('MSG-05 AUTH-01 EDGE-05 reads a plain message', async () => {
    const message = await client().messages.create(body('counted'));
    expect(message).toMatchObject({
      type: 'message',
      role: 'assistant',
      model: edge.model(upstream, 'counted'),
      stop_reason: 'end_turn',
      usage: { input_tokens: 60, cache_read_input_tokens: 40, output_tokens: 9 },
    });
    expect(message.content).toEqual([
      expect.objectContaining({ type: 'text', text: expect.stringContaining('Hello there') as string }),
    ]);
    expect(message.id).toMatch(/^msg_/);
    expect(message._request_id).toMatch(/^req_/);
    // The caller's credential stays here, and the upstream gets the gateway's own.
    const [seen] = edge.upstream();
    expect(JSON.stringify(seen)).not.toContain(edge.key);
    expect(JSON.stringify(seen.headers)).toContain('sim-key-of-simulated');
  });

  it('AUTH-01 MSG-05 takes the key as a bearer token too', async () => {
    const bearer = new Sdk({ baseURL: edge.url, apiKey: null, authToken: edge.key, maxRetries: 0 });
    expect((await bearer.messages.create(body())).stop_reason).toBe('end_turn');
  });

  it('MSG-05 iterates over the events of a stream', async () => {
    const { data, request_id } = await client()
      .messages.create({ ...body('counted'), stream: true })
      .withResponse();
    const events = [];
    for await (const event of data) events.push(event);
    expect(request_id).toMatch(/^req_/);
    expect(events[0].type).toBe('message_start');
    expect(events[1]).toMatchObject({ type: 'content_block_start', index: 0 });
    expect(events.slice(-3).map(({ type }) => type)).toEqual([
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
    expect(events.at(-2)).toMatchObject({
      delta: { stop_reason: 'end_turn' },
      usage: { input_tokens: 60, cache_read_input_tokens: 40, output_tokens: 9 },
    });
  });

  it('MSG-05 folds a stream into what a plain request answers', async () => {
    const stream = client().messages.stream(body('counted'));
    const deltas: string[] = [];
    stream.on('text', (delta) => deltas.push(delta));
    const streamed = await stream.finalMessage();
    const plain = await client().messages.create(body('counted'));
    expect(deltas.length).toBeGreaterThan(3);
    expect(await stream.finalText()).toBe(deltas.join(''));
    expect(streamed.content).toEqual(plain.content);
    expect(streamed.stop_reason).toBe(plain.stop_reason);
    // A tier is told in whole answers only.
    const { service_tier: _tier, ...usage } = plain.usage;
    expect(streamed.usage).toEqual(usage);
  });

  it.each([false, true])('MSG-05 runs a tool with the tool runner, stream %s', async (stream) => {
    const asked: unknown[] = [];
    const runnable = {
      ...weatherTool,
      type: 'custom' as const,
      parse: (input: unknown) => input,
      run: (input: unknown) => {
        asked.push(input);
        return 'sunny';
      },
    };
    const runner = client().beta.messages.toolRunner({ ...body('tools'), tools: [runnable], stream });
    const final = await runner.runUntilDone();
    expect(final.content).toEqual([
      expect.objectContaining({ type: 'text', text: 'The tools answered: sunny' }),
    ]);
    expect(asked).toEqual([{ city: expect.any(String) as string, days: expect.any(Number) as number }]);
    expect(edge.upstream()).toHaveLength(2);
  });

  it.each([false, true])('MSG-05 takes parallel calls and their results, stream %s', async (stream) => {
    const asked = { ...body('parallel'), tools: [weatherTool, timeTool] };
    const message = stream
      ? await client().messages.stream(asked).finalMessage()
      : await client().messages.create(asked);
    const calls = message.content.filter((block) => block.type === 'tool_use');
    expect(message.stop_reason).toBe('tool_use');
    expect(message.content).toHaveLength(3);
    expect(calls.map(({ name }) => name)).toEqual(['get_weather', 'get_time', 'get_weather']);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(3);
    for (const { id } of calls) expect(id).toMatch(/^toolu_/);
    expect(calls[0].input).toHaveProperty('city');
    expect(calls[1].input).toEqual({});
    const results = calls.map(({ id }, n) => ({
      type: 'tool_result' as const,
      tool_use_id: id,
      content: `result ${n}`,
    }));
    const after = await client().messages.create({
      ...asked,
      messages: [hello, { role: 'assistant', content: message.content }, { role: 'user', content: results }],
    });
    expect(after.content).toEqual([
      expect.objectContaining({ text: 'The tools answered: result 0 and result 1 and result 2' }),
    ]);
  });

  it.each([false, true])('MSG-05 gives a call without arguments an object, stream %s', async (stream) => {
    const asked = { ...body('bare'), tools: [timeTool] };
    const { content } = stream
      ? await client().messages.stream(asked).finalMessage()
      : await client().messages.create(asked);
    const [call] = content.filter((block) => block.type === 'tool_use');
    expect(call).toMatchObject({ name: 'get_time', input: {} });
    const after = await client().messages.create({
      ...asked,
      messages: [
        hello,
        { role: 'assistant', content },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: call.id, content: 'noon' }] },
      ],
    });
    expect(after.content).toEqual([expect.objectContaining({ text: 'The tools answered: noon' })]);
  });

  it('MSG-05 sends an image, and the upstream gets its bytes', async () => {
    await client().messages.create({
      ...body(),
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: IMAGE } },
            { type: 'text', text: 'What is this?' },
          ],
        },
      ],
    });
    expect(partsOf(edge.upstream()[0])[0]).toMatchObject(imagePart(upstream));
  });

  it.each([false, true])('MSG-05 answers in a JSON schema, stream %s', async (stream) => {
    const asked = {
      ...body(),
      output_config: { format: { type: 'json_schema' as const, schema: WEATHER_SCHEMA } },
    };
    const { content } = stream
      ? await client().messages.stream(asked).finalMessage()
      : await client().messages.parse(asked);
    const [text] = content.filter((block) => block.type === 'text');
    expect(JSON.parse(text.text)).toEqual({
      city: expect.any(String) as string,
      days: expect.any(Number) as number,
    });
  });

  it.each([false, true])('MSG-05 thinks, and takes its thinking back, stream %s', async (stream) => {
    const thinking = { type: 'enabled' as const, budget_tokens: 1_024 };
    const asked = { ...body('spoken'), tools: [weatherTool], thinking };
    const { content } = stream
      ? await client().messages.stream(asked).finalMessage()
      : await client().messages.create(asked);
    expect(content.map(({ type }) => type)).toEqual(['thinking', 'text', 'tool_use']);
    expect(content[0]).toMatchObject({ thinking: 'Let me think', signature: expect.any(String) as string });
    const [call] = content.filter((block) => block.type === 'tool_use');
    const after = await client().messages.create({
      ...asked,
      messages: [
        hello,
        { role: 'assistant', content },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: call.id, content: 'sunny' }] },
      ],
    });
    expect(after.stop_reason).toBe('end_turn');
    const silent = await client().messages.create({ ...body(), thinking: { type: 'disabled' } });
    expect(silent.content.map(({ type }) => type)).toEqual(['text']);
  });

  it('MSG-05 carries a prompt of five megabytes', async () => {
    const { usage } = await client().messages.create({
      ...body(),
      messages: [{ role: 'user', content: bigPrompt() }],
    });
    expect(usage.input_tokens).toBeGreaterThan(1_200_000);
    expect(edge.upstream()[0].body.length).toBeGreaterThan(5_000_000);
  });

  it('MSG-05 keeps fifty conversations at once apart', async () => {
    const own = new Sdk({
      baseURL: edge.url,
      apiKey: edge.addKey(testPrincipal('key_many')),
      maxRetries: 0,
    });
    const answers = await Promise.all(
      Array.from({ length: 50 }, async (_, n) => {
        const asked = { ...body(), messages: [{ role: 'user' as const, content: `I am caller ${n}.` }] };
        const { content } =
          n % 2 === 0 ? await own.messages.create(asked) : await own.messages.stream(asked).finalMessage();
        return JSON.stringify(content);
      }),
    );
    answers.forEach((answer, n) => expect(answer).toContain(`I am caller ${n}.`));
  });
});
