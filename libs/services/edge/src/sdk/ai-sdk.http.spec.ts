import * as anthropic7 from '@ai-sdk/anthropic';
import * as anthropic6 from '@ai-sdk/anthropic-3';
import * as openai7 from '@ai-sdk/openai';
import * as openai6 from '@ai-sdk/openai-3';
import * as ai7 from 'ai';
import type { LanguageModel, ModelMessage } from 'ai';
import * as ai6 from 'ai-6';
import {
  FAULTS,
  errorOf,
  IMAGE,
  partsOf,
  startEdgeForSdks,
  UPSTREAMS,
  WEATHER_SCHEMA,
  type EdgeForSdks,
} from './sdk.fixture.js';

let edge: EdgeForSdks;
beforeAll(async () => {
  edge = await startEdgeForSdks({
    ...FAULTS,
    tools: { word: 'tools' },
    parallel: { script: 'tools=3' },
    thinks: { script: 'think=Let%20me%20think;reasoning=7;completion=20' },
    counted: { script: 'prompt=100;cached=40;completion=9' },
  });
});
afterAll(() => edge.close());
beforeEach(() => edge.forget());

type Sdk = Pick<typeof ai7, 'generateText' | 'jsonSchema' | 'Output' | 'streamText' | 'tool'> & {
  major: 6 | 7;
  createOpenAI: typeof openai7.createOpenAI;
  createAnthropic: typeof anthropic7.createAnthropic;
  isStepCount: typeof ai7.isStepCount;
};
/** Clients whose used part differs in one name; their types name other versions of the same provider contract. */
const SDKS: Sdk[] = [
  { major: 7, ...ai7, ...openai7, ...anthropic7 },
  { major: 6, ...ai6, ...openai6, ...anthropic6, isStepCount: ai6.stepCountIs } as unknown as Sdk,
];
/** Responses is what its OpenAI provider speaks where nothing else is set. */
const FRONTS: [front: string, model: (sdk: Sdk, id: string) => LanguageModel][] = [
  ['responses', (sdk, id) => sdk.createOpenAI({ baseURL: `${edge.url}/v1`, apiKey: edge.key })(id)],
  ['chat', (sdk, id) => sdk.createOpenAI({ baseURL: `${edge.url}/v1`, apiKey: edge.key }).chat(id)],
  ['messages', (sdk, id) => sdk.createAnthropic({ baseURL: `${edge.url}/v1`, apiKey: edge.key })(id)],
];
const CASES = SDKS.flatMap((sdk) =>
  FRONTS.flatMap(([front, make]) =>
    UPSTREAMS.map((upstream) => ({ major: sdk.major, sdk, front, make, upstream })),
  ),
);

interface Asked {
  model: LanguageModel;
  maxRetries: 0;
  maxOutputTokens: number;
}

interface Weather {
  city: string;
  days: number;
}
describe.each(CASES)('AI SDK $major’s $front over a $upstream upstream', ({ sdk, make, upstream }) => {
  const { generateText, jsonSchema, Output, streamText, tool } = sdk;
  const weather = tool({
    description: 'Weather of a city',
    inputSchema: jsonSchema<Weather>(WEATHER_SCHEMA),
    execute: () => 'Sunny',
  });
  const asked = (behaviour?: string): Asked => ({
    model: make(sdk, edge.model(upstream, behaviour)),
    maxRetries: 0,
    maxOutputTokens: 2_048,
  });

  it('reads a plain answer with its usage', async () => {
    const { text, usage, finishReason } = await generateText({ ...asked('counted'), prompt: 'Hello there' });
    expect(text).toContain('Hello there');
    expect(finishReason).toBe('stop');
    expect(usage).toMatchObject({ inputTokens: 100, outputTokens: 9 });
    expect(usage.inputTokenDetails.cacheReadTokens).toBe(40);
  });

  it('streams what the plain answer says', async () => {
    const { text } = await generateText({ ...asked(), prompt: 'Hello there' });
    const stream = streamText({ ...asked(), prompt: 'Hello there' });
    let streamed = '';
    for await (const piece of stream.textStream) streamed += piece;
    expect(streamed).toBe(text);
    expect(await stream.finishReason).toBe('stop');
  });

  it.each([false, true])('runs three turns of parallel tools, stream %s', async (stream) => {
    const messages: ModelMessage[] = [{ role: 'user', content: 'What is the weather?' }];
    const request = { ...asked('parallel'), tools: { get_weather: weather }, stopWhen: sdk.isStepCount(4) };
    for (let turn = 0; turn < 3; turn += 1) {
      const result = stream
        ? streamText({ ...request, messages })
        : await generateText({ ...request, messages });
      const steps = await result.steps;
      expect(steps.map(({ finishReason }) => finishReason)).toEqual(['tool-calls', 'stop']);
      expect(steps[0].toolCalls).toHaveLength(3);
      for (const { input } of steps[0].toolCalls)
        expect(input).toMatchObject({ city: expect.any(String) as string });
      expect(await result.text).toContain('The tools answered: Sunny and Sunny and Sunny');
      const answered = await result.responseMessages;
      messages.push(...(answered ?? (await result.response).messages));
      messages.push({ role: 'user', content: `And turn ${turn}?` });
    }
  });

  it('reads an object of a schema', async () => {
    const { output } = await generateText({
      ...asked(),
      prompt: 'Weather?',
      output: Output.object({ schema: jsonSchema<Weather>(WEATHER_SCHEMA) }),
    });
    expect(output).toMatchObject({ city: expect.any(String) as string, days: expect.any(Number) as number });
  });

  it('shows the model an image', async () => {
    const content = [
      { type: 'file' as const, mediaType: 'image/png', data: IMAGE },
      { type: 'text' as const, text: 'What is this?' },
    ];
    const { text } = await generateText({ ...asked(), messages: [{ role: 'user', content }] });
    expect(text).toContain('What is this?');
    expect(JSON.stringify(partsOf(edge.upstream()[0]))).toContain(IMAGE);
  });

  it('CHAT-14 leaves the upstream when it is aborted', async () => {
    const controller = new AbortController();
    const stream = streamText({
      ...asked('endless'),
      prompt: 'Hello',
      abortSignal: controller.signal,
      onError: () => undefined,
    });
    for await (const piece of stream.textStream) if (piece !== '') controller.abort();
    await edge.untilLeft();
  });

  it('ERR-05 throws its own error of a failure, with the status', async () => {
    const failure = await errorOf(generateText({ ...asked('context'), prompt: 'Hello' }));
    expect(failure).toMatchObject({ name: 'AI_APICallError', statusCode: 400 });
  });
});
