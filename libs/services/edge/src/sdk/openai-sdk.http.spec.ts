import OpenAI from 'openai';
import EarlierOpenAI from 'openai-6';
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
const SDKS: [string, typeof OpenAI][] = [
  ['openai 7', OpenAI],
  ['openai 6', EarlierOpenAI as unknown as typeof OpenAI],
];
const CASES = SDKS.flatMap(([sdk, Sdk]) => UPSTREAMS.map((upstream) => ({ sdk, Sdk, upstream })));

const weatherTool = {
  type: 'function' as const,
  function: { name: 'get_weather', description: 'Weather of a city', parameters: WEATHER_SCHEMA },
};
const timeTool = {
  type: 'function' as const,
  function: { name: 'get_time', description: 'The time', parameters: NO_ARGUMENTS },
};

let edge: EdgeForSdks;
beforeAll(async () => {
  edge = await startEdgeForSdks({
    tools: { word: 'tools' },
    parallel: { script: 'tools=3' },
    bare: { script: 'tools=1;tool_args=none' },
    thinks: { script: 'think=Let%20me%20think;reasoning=7;completion=20' },
    spoken: { script: 'think=Let%20me%20think;tools=1;text=Looking%20it%20up' },
    counted: { script: 'prompt=100;cached=40;completion=9' },
  });
});
afterAll(() => edge.close());
beforeEach(() => edge.forget());

describe.each(CASES)('$sdk over a $upstream upstream', ({ Sdk, upstream }) => {
  const client = (base = '/openai/v1'): OpenAI =>
    new Sdk({ baseURL: `${edge.url}${base}`, apiKey: edge.key, maxRetries: 0 });
  const hello = { role: 'user' as const, content: 'Hello there' };
  const model = (behaviour?: string): string => edge.model(upstream, behaviour);

  it.each(['/openai/v1', '/v1'])('CHAT-14 AUTH-01 EDGE-05 reads a plain answer under %s', async (base) => {
    const completion = await client(base).chat.completions.create({ model: model(), messages: [hello] });
    expect(completion).toMatchObject({ object: 'chat.completion', model: model() });
    expect(completion.choices).toHaveLength(1);
    expect(completion.choices[0]).toMatchObject({
      index: 0,
      finish_reason: 'stop',
      message: {
        role: 'assistant',
        refusal: null,
        content: expect.stringContaining('Hello there') as string,
      },
    });
    expect(completion.usage?.total_tokens).toBeGreaterThan(10);
    expect(completion.id).toMatch(/^chatcmpl/);
    expect(completion._request_id).toMatch(/^req_/);
    // The caller's credential stays here, and the upstream gets the gateway's own.
    const [seen] = edge.upstream();
    expect(JSON.stringify(seen)).not.toContain(edge.key);
    expect(JSON.stringify(seen.headers)).toContain('sim-key-of-simulated');
  });

  it('CHAT-14 CHAT-15 iterates over a stream whose last chunk has the usage', async () => {
    const { data, request_id } = await client()
      .chat.completions.create({ model: model('counted'), messages: [hello], stream: true })
      .withResponse();
    const chunks = [];
    for await (const chunk of data) chunks.push(chunk);
    expect(request_id).toMatch(/^req_/);
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toContain('Hello there');
    expect(chunks.flatMap((chunk) => chunk.choices[0]?.finish_reason ?? [])).toEqual(['stop']);
    expect(chunks.filter(({ usage }) => usage)).toHaveLength(1);
    expect(chunks.at(-1)).toMatchObject({
      choices: [],
      usage: {
        prompt_tokens: 100,
        completion_tokens: 9,
        total_tokens: 109,
        prompt_tokens_details: { cached_tokens: 40 },
      },
    });
  });

  it('CHAT-14 CHAT-16 folds a stream into what a plain request answers', async () => {
    const body = { model: model('counted'), messages: [hello] };
    const stream = client().chat.completions.stream({ ...body, stream_options: { include_usage: true } });
    const deltas: string[] = [];
    stream.on('content', (delta) => deltas.push(delta));
    const streamed = await stream.finalChatCompletion();
    const plain = await client().chat.completions.create(body);
    expect(deltas.length).toBeGreaterThan(3);
    expect(streamed.choices[0].message.content).toBe(deltas.join(''));
    expect(streamed.choices[0].message.content).toBe(plain.choices[0].message.content);
    expect(streamed.choices[0].finish_reason).toBe(plain.choices[0].finish_reason);
    expect(streamed.usage).toEqual(plain.usage);
    expect(await stream.totalUsage()).toMatchObject({ prompt_tokens: 100, completion_tokens: 9 });
  });

  it.each([false, true])('CHAT-14 runs a tool with runTools, stream %s', async (stream) => {
    const asked: unknown[] = [];
    const runnable = {
      type: 'function' as const,
      function: {
        ...weatherTool.function,
        parse: (text: string) => JSON.parse(text) as { city: string; days: number },
        function: (input: { city: string; days: number }) => {
          asked.push(input);
          return Promise.resolve(`sunny in ${input.city}`);
        },
      },
    };
    const body = { model: model('tools'), messages: [hello] };
    const runner = stream
      ? client().chat.completions.runTools({ ...body, tools: [runnable], stream: true })
      : client().chat.completions.runTools({ ...body, tools: [runnable] });
    expect(await runner.finalContent()).toMatch(/^The tools answered: sunny in /);
    expect(asked).toEqual([{ city: expect.any(String) as string, days: expect.any(Number) as number }]);
    expect(runner.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
    expect(edge.upstream()).toHaveLength(2);
  });

  it.each([false, true])('CHAT-14 takes parallel calls and their results, stream %s', async (stream) => {
    const body = { model: model('parallel'), messages: [hello], tools: [weatherTool, timeTool] };
    const completion = stream
      ? await client().chat.completions.stream(body).finalChatCompletion()
      : await client().chat.completions.create(body);
    const [{ message, finish_reason }] = completion.choices;
    const calls = (message.tool_calls ?? []).filter((call) => call.type === 'function');
    expect(finish_reason).toBe('tool_calls');
    expect(calls.map((call) => call.function.name)).toEqual(['get_weather', 'get_time', 'get_weather']);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(3);
    // A stream's first delta has an empty content, which helpers of 7.x keep.
    expect(message.content ?? '').toBe('');
    expect(JSON.parse(calls[0].function.arguments)).toHaveProperty('city');
    expect(JSON.parse(calls[1].function.arguments)).toEqual({});
    const results = calls.map(({ id }, n) => ({
      role: 'tool' as const,
      tool_call_id: id,
      content: `result ${n}`,
    }));
    const after = await client().chat.completions.create({ ...body, messages: [hello, message, ...results] });
    expect(after.choices[0].message.content).toBe('The tools answered: result 0 and result 1 and result 2');
  });

  it.each([false, true])('CHAT-14 gives a call without arguments an object, stream %s', async (stream) => {
    const body = { model: model('bare'), messages: [hello], tools: [timeTool] };
    const { choices } = stream
      ? await client().chat.completions.stream(body).finalChatCompletion()
      : await client().chat.completions.create(body);
    const [call] = (choices[0].message.tool_calls ?? []).filter(({ type }) => type === 'function');
    expect(call).toMatchObject({ function: { name: 'get_time', arguments: '{}' } });
    const answer = { role: 'tool' as const, tool_call_id: call.id, content: 'noon' };
    const after = await client().chat.completions.create({
      ...body,
      messages: [hello, choices[0].message, answer],
    });
    expect(after.choices[0].message.content).toBe('The tools answered: noon');
  });

  it('CHAT-20 CHAT-14 sends an image as a data URL, and the upstream gets its bytes', async () => {
    const completion = await client().chat.completions.create({
      model: model(),
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'image_url', image_url: { url: `data:image/png;base64,${IMAGE}` } },
          ],
        },
      ],
    });
    expect(completion.choices[0].message.content).toContain('What is this?');
    expect(partsOf(edge.upstream()[0])[1]).toMatchObject(imagePart(upstream));
  });

  it('CHAT-14 answers in a JSON schema, also through parse', async () => {
    const completion = await client().chat.completions.parse({
      model: model(),
      messages: [hello],
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'weather', strict: true, schema: WEATHER_SCHEMA },
      },
    });
    const { content } = completion.choices[0].message;
    expect(JSON.parse(content ?? '')).toEqual({
      city: expect.any(String) as string,
      days: expect.any(Number) as number,
    });
  });

  it('CHAT-14 hands reasoning out beside the content, and takes it back with a tool result', async () => {
    const body = {
      model: model('spoken'),
      messages: [hello],
      tools: [weatherTool],
      reasoning_effort: 'low' as const,
    };
    const { message } = (await client().chat.completions.create(body)).choices[0];
    expect(message).toMatchObject({ content: 'Looking it up', reasoning: 'Let me think' });
    const streamed = await client().chat.completions.stream(body).finalChatCompletion();
    expect(streamed.choices[0].message.content).toBe('Looking it up');
    const result = {
      role: 'tool' as const,
      tool_call_id: message.tool_calls?.[0].id ?? '',
      content: 'sunny',
    };
    const after = await client().chat.completions.create({ ...body, messages: [hello, message, result] });
    expect(after.choices[0].finish_reason).toBe('stop');
    const turned = await client().chat.completions.create({
      model: model(),
      messages: [hello],
      reasoning_effort: 'none',
    });
    expect(turned.choices[0].message).not.toHaveProperty('reasoning');
  });

  it('CHAT-14 counts reasoning tokens', async () => {
    const { usage } = await client().chat.completions.create({
      model: model('thinks'),
      messages: [hello],
      reasoning_effort: 'low',
    });
    expect(usage).toMatchObject({
      completion_tokens: 20,
      completion_tokens_details: { reasoning_tokens: 7 },
    });
  });

  it('CHAT-14 carries a prompt of five megabytes', async () => {
    const { usage } = await client().chat.completions.create({
      model: model(),
      messages: [{ role: 'user', content: bigPrompt() }],
    });
    expect(usage?.prompt_tokens).toBeGreaterThan(1_200_000);
    expect(edge.upstream()[0].body.length).toBeGreaterThan(5_000_000);
  });

  it('CHAT-14 keeps fifty conversations at once apart', async () => {
    const own = new Sdk({
      baseURL: `${edge.url}/openai/v1`,
      apiKey: edge.addKey(testPrincipal('key_many')),
      maxRetries: 0,
    });
    const answers = await Promise.all(
      Array.from({ length: 50 }, async (_, n) => {
        const body = { model: model(), messages: [{ role: 'user' as const, content: `I am caller ${n}.` }] };
        const completion =
          n % 2 === 0
            ? await own.chat.completions.create(body)
            : await own.chat.completions.stream(body).finalChatCompletion();
        return completion.choices[0].message.content;
      }),
    );
    answers.forEach((answer, n) => expect(answer).toContain(`I am caller ${n}.`));
  });
});
