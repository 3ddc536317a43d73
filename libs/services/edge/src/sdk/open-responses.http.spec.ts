import type { Json } from '../edge.fixture.js';
import { IMAGE, startEdgeForSdks, UPSTREAMS, WEATHER_SCHEMA, type EdgeForSdks } from './sdk.fixture.js';

let edge: EdgeForSdks;
beforeAll(async () => (edge = await startEdgeForSdks({ tools: { word: 'tools' } })));
afterAll(() => edge.close());

/** Members that the Open Responses schema demands of every response object, by type; `?` may be null. */
const MEMBERS: Record<string, string> = {
  id: 'string',
  object: 'string',
  created_at: 'number',
  completed_at: 'number?',
  status: 'string',
  incomplete_details: 'object?',
  model: 'string',
  previous_response_id: 'string?',
  instructions: 'string?',
  output: 'list',
  error: 'object?',
  tools: 'list',
  tool_choice: 'string',
  truncation: 'string',
  parallel_tool_calls: 'boolean',
  text: 'object',
  top_p: 'number',
  presence_penalty: 'number',
  frequency_penalty: 'number',
  top_logprobs: 'number',
  temperature: 'number',
  reasoning: 'object?',
  user: 'string?',
  usage: 'object?',
  max_output_tokens: 'number?',
  max_tool_calls: 'number?',
  store: 'boolean',
  background: 'boolean',
  service_tier: 'string',
  metadata: 'object',
  safety_identifier: 'string?',
  prompt_cache_key: 'string?',
};

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'list' : typeof value;
}

function faultsOf(response: Json): string[] {
  return Object.entries(MEMBERS)
    .filter(([name, wanted]) => {
      const found = typeOf(response[name]);
      return found !== wanted.replace('?', '') && !(found === 'null' && wanted.endsWith('?'));
    })
    .map(([name]) => `${name}: ${JSON.stringify(response[name])}`);
}

const said = (role: string, content: unknown): Json => ({ type: 'message', role, content });
const tool = { type: 'function', name: 'get_weather', description: 'Weather', parameters: WEATHER_SCHEMA };
const image = { type: 'input_image', image_url: `data:image/png;base64,${IMAGE}` };
const CASES: [name: string, behaviour: string | undefined, body: Json][] = [
  ['a text', undefined, { input: [said('user', 'Say hello.')] }],
  ['a system prompt', undefined, { input: [said('system', 'You are a pirate.'), said('user', 'Hello.')] }],
  ['a tool call', 'tools', { input: [said('user', 'Weather?')], tools: [tool] }],
  ['an image', undefined, { input: [said('user', [{ type: 'input_text', text: 'What?' }, image])] }],
  [
    'a talk',
    undefined,
    { input: [said('user', 'I am Alice.'), said('assistant', 'Hello Alice.'), said('user', 'Who am I?')] },
  ],
];

describe.each(UPSTREAMS)('Open Responses over a %s upstream', (upstream) => {
  it.each(CASES)(
    'RESP-05 answers %s with every member that its schema demands',
    async (_, behaviour, body) => {
      const answer = await edge.post(
        { ...body, model: edge.model(upstream, behaviour) },
        { path: '/v1/responses' },
      );
      const response = (await answer.json()) as Json & { output: Json[] };
      expect(faultsOf(response)).toEqual([]);
      expect(response.status).toBe('completed');
      expect(response.output.at(-1)?.type).toBe(behaviour === 'tools' ? 'function_call' : 'message');
      for (const item of response.output) expect(item).toMatchObject({ id: expect.any(String) as string });
    },
  );

  it.each(CASES)('RESP-05 streams %s, each response in it complete', async (_, behaviour, body) => {
    const answer = await edge.post(
      { ...body, model: edge.model(upstream, behaviour), stream: true },
      { path: '/v1/responses' },
    );
    const events = (await answer.text())
      .split('\n')
      .filter((line) => line.startsWith('data: {'))
      .map((line) => JSON.parse(line.slice(6)) as Json);
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((__, at) => at));
    for (const { response } of events.filter((event) => 'response' in event))
      expect(faultsOf(response as Json)).toEqual([]);
    const types = events.map(({ type }) => type);
    expect(types.slice(0, 3)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
    ]);
    expect(types.at(-1)).toBe('response.completed');
    if (behaviour === 'tools')
      for (const wanted of ['delta', 'done'])
        expect(types).toContain(`response.function_call_arguments.${wanted}`);
  });
});
