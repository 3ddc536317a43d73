import { ChatAnthropic } from '@langchain/anthropic';
import type { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { HumanMessage, ToolMessage, type BaseMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import {
  FAULTS,
  errorOf,
  IMAGE,
  NO_ARGUMENTS,
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
    parallel: { script: 'tools=3' },
    counted: { script: 'prompt=100;cached=40;completion=9' },
  });
});
afterAll(() => edge.close());
beforeEach(() => edge.forget());

const openai = (model: string, useResponsesApi: boolean): BaseChatModel =>
  new ChatOpenAI({
    model,
    apiKey: edge.key,
    useResponsesApi,
    maxRetries: 0,
    maxTokens: 2_048,
    configuration: { baseURL: `${edge.url}/v1` },
  });
const FRONTS: [front: string, make: (model: string) => BaseChatModel][] = [
  ['chat', (model) => openai(model, false)],
  ['responses', (model) => openai(model, true)],
  [
    'messages',
    (model) =>
      new ChatAnthropic({
        model,
        apiKey: edge.key,
        anthropicApiUrl: edge.url,
        maxRetries: 0,
        maxTokens: 2_048,
      }),
  ],
];
const CASES = FRONTS.flatMap(([front, make]) => UPSTREAMS.map((upstream) => ({ front, make, upstream })));
const TOOLS = [
  { name: 'get_weather', description: 'Weather of a city', schema: WEATHER_SCHEMA },
  { name: 'get_time', description: 'The time', schema: NO_ARGUMENTS },
].map(({ name, description, schema }) => ({
  type: 'function' as const,
  function: { name, description, parameters: schema },
}));

describe.each(CASES)('LangChain’s $front over a $upstream upstream', ({ make, upstream }) => {
  const model = (behaviour?: string): BaseChatModel => make(edge.model(upstream, behaviour));
  const bound = (behaviour: string): ReturnType<NonNullable<BaseChatModel['bindTools']>> => {
    const made = model(behaviour);
    if (!made.bindTools) throw new Error('no tools');
    return made.bindTools(TOOLS);
  };

  it('reads a plain answer with its usage', async () => {
    const answer = await model('counted').invoke('Hello there');
    expect(answer.text).toContain('Hello there');
    expect(answer).toMatchObject({ usage_metadata: { input_tokens: 100, output_tokens: 9 } });
  });

  it('streams what the plain answer says', async () => {
    const { text } = await model().invoke('Hello there');
    let streamed = '';
    for await (const piece of await model().stream('Hello there')) streamed += piece.text;
    expect(streamed).toBe(text);
  });

  it('runs three turns of parallel tools', async () => {
    const messages: BaseMessage[] = [new HumanMessage('What is the weather?')];
    const runnable = bound('parallel');
    for (let turn = 0; turn < 3; turn += 1) {
      const asked = await runnable.invoke(messages);
      expect(asked.tool_calls?.map(({ name }) => name)).toEqual(['get_weather', 'get_time', 'get_weather']);
      messages.push(asked);
      for (const { id = '' } of asked.tool_calls ?? [])
        messages.push(new ToolMessage({ content: 'Sunny', tool_call_id: id }));
      const answer = await runnable.invoke(messages);
      expect(answer.text).toContain('The tools answered: Sunny and Sunny and Sunny');
      messages.push(answer, new HumanMessage(`And turn ${turn}?`));
    }
  });

  it('reads an object of a schema', async () => {
    const structured = model('parallel').withStructuredOutput(
      { title: 'get_weather', description: 'Weather of a city', ...WEATHER_SCHEMA },
      { name: 'get_weather', method: 'functionCalling' },
    );
    expect(await structured.invoke('Weather?')).toMatchObject({ city: expect.any(String) as string });
  });

  it('shows the model an image', async () => {
    const content = [
      { type: 'image_url', image_url: { url: `data:image/png;base64,${IMAGE}` } },
      { type: 'text', text: 'What is this?' },
    ];
    const { text } = await model().invoke([new HumanMessage({ content })]);
    expect(text).toContain('What is this?');
    expect(JSON.stringify(partsOf(edge.upstream()[0]))).toContain(IMAGE);
  });

  it('CHAT-14 leaves the upstream when it is aborted', async () => {
    const controller = new AbortController();
    const read = async (): Promise<void> => {
      for await (const piece of await model('endless').stream('Hello', { signal: controller.signal }))
        if (piece.text !== '') controller.abort();
    };
    await errorOf(read());
    await edge.untilLeft();
  });

  it('ERR-05 throws an error that says what is wrong', async () => {
    const failure = await errorOf(model('context').invoke('Hello'));
    expect(failure).toBeInstanceOf(Error);
    expect((failure as Error).message).toMatch(/context length|too long/);
  });
});
