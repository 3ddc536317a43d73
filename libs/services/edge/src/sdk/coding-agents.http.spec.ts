import { WebSocket } from 'ws';
import type { Json } from '../edge.fixture.js';
import {
  NO_ARGUMENTS,
  startEdgeForSdks,
  UPSTREAMS,
  WEATHER_SCHEMA,
  type EdgeForSdks,
} from './sdk.fixture.js';

let edge: EdgeForSdks;
beforeAll(async () => {
  edge = await startEdgeForSdks({
    codes: { script: 'think=Let%20me%20see;reasoning=7;completion=40;tools=2' },
  });
});
afterAll(() => edge.close());
beforeEach(() => edge.forget());

function eventsOf(body: string): Json[] {
  return body
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)) as Json);
}

/** Turns as Codex sends them: no store, all items back each time, reasoning sealed, a stream. */
describe.each(UPSTREAMS)('Codex over a %s upstream', (upstream) => {
  const tool = (name: string, parameters: object): object => ({
    type: 'function',
    name,
    description: `Runs ${name}`,
    strict: false,
    parameters,
  });
  const request = (input: Json[]): Json => ({
    model: edge.model(upstream, 'codes'),
    instructions: 'You are a coding agent.',
    input,
    tools: [
      tool('shell', WEATHER_SCHEMA),
      { type: 'namespace', name: 'mcp', description: 'Further tools', tools: [tool('look', NO_ARGUMENTS)] },
      { type: 'web_search', external_web_access: false },
    ],
    tool_choice: 'auto',
    parallel_tool_calls: true,
    reasoning: { effort: 'medium', summary: 'auto' },
    store: false,
    stream: true,
    include: ['reasoning.encrypted_content'],
    prompt_cache_key: 'thread-1',
  });
  const headers = {
    originator: 'codex_cli_rs',
    'session-id': 'thread-1',
    'user-agent': 'codex_cli_rs/0.150.0',
    accept: 'text/event-stream',
  };

  it('RESP-05 works through three rounds of tools, with the reasoning of the rounds before', async () => {
    const input: Json[] = [
      { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Sandboxed.' }] },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'List the files' }] },
    ];
    for (let round = 0; round < 3; round += 1) {
      const answer = await edge.post(request(input), { path: '/v1/responses', headers });
      expect(answer.status).toBe(200);
      const events = eventsOf(await answer.text());
      const last = events.at(-1) as { type: string; response: { output: Json[]; usage: Json } };
      expect(last.type).toBe('response.completed');
      const items = events
        .filter(({ type }) => type === 'response.output_item.done')
        .map(({ item }) => item as Json);
      expect(last.response.output).toEqual(items);
      const calls = items.filter(({ type }) => type === 'function_call');
      expect(calls).toHaveLength(2);
      // The simulated upstream does not look into a namespace: only where the gateway flattens it is it called by name.
      const [first, second] = calls.map(({ name, namespace = null }) => [namespace, name]);
      expect(first).toEqual([null, 'shell']);
      if (upstream !== 'responses') expect(second).toEqual(['mcp', 'look']);
      expect(items[0]).toMatchObject({ type: 'reasoning', summary: [{ text: 'Let me see' }] });
      input.push(...items);
      for (const { call_id } of calls)
        input.push({ type: 'function_call_output', call_id, output: `exit 0, round ${round}` });
      const done = await edge.post(request(input), { path: '/v1/responses', headers });
      const said = eventsOf(await done.text()).at(-1) as { response: { output: Json[] } };
      const message = said.response.output.find(({ type }) => type === 'message');
      expect(JSON.stringify(message?.content)).toContain(`exit 0, round ${round}`);
      input.push(...said.response.output);
      input.push({ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Go on' }] });
    }
  });

  it('RESP-05 is offered a socket on the same address before it posts', async () => {
    const socket = new WebSocket(`${edge.url.replace('http', 'ws')}/v1/responses`, {
      headers: { authorization: `Bearer ${edge.key}`, ...headers },
    });
    const events: Json[] = [];
    await new Promise<void>((resolve, reject) => {
      socket.on('error', reject);
      socket.on('open', () => {
        const { stream: _stream, ...body } = request([
          { type: 'message', role: 'user', content: 'List the files' },
        ]);
        socket.send(JSON.stringify({ type: 'response.create', ...body }));
      });
      socket.on('message', (data: Buffer) => {
        const event = JSON.parse(data.toString('utf8')) as Json;
        events.push(event);
        if (event.type === 'response.completed') resolve();
        if (event.type === 'error') reject(new Error(JSON.stringify(event)));
      });
    });
    socket.terminate();
    expect(events[0].type).toBe('response.created');
  });
});

/** Turns as Claude Code sends them, also where the model behind is no Claude. */
describe.each(UPSTREAMS)('Claude Code over a %s upstream', (upstream) => {
  const cached = { cache_control: { type: 'ephemeral' } };
  const headers = {
    'anthropic-version': '2023-06-01',
    'anthropic-beta':
      'claude-code-20250219,interleaved-thinking-2025-05-14,thinking-token-count-2026-05-13,context-management-2025-06-27,prompt-caching-scope-2026-01-05,mid-conversation-system-2026-04-07,effort-2025-11-24',
    'x-app': 'cli',
    'user-agent': 'claude-cli/2.1.197 (external, sdk-cli)',
  };
  /** Settings that it sends to every model whose name it does not know. */
  const adaptive = {
    thinking: { type: 'adaptive' },
    context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
    output_config: { effort: 'high' },
  };
  const request = (messages: Json[], more: Json = {}): Json => ({
    model: edge.model(upstream, 'codes'),
    max_tokens: 32_000,
    system: [
      { type: 'text', text: 'You are a coding agent.', ...cached },
      { type: 'text', text: 'Be short.', ...cached },
    ],
    tools: [
      { name: 'Bash', description: 'Runs a command', input_schema: WEATHER_SCHEMA },
      { name: 'Look', description: 'Looks around', input_schema: NO_ARGUMENTS },
    ],
    metadata: { user_id: 'user_1_account__session_1' },
    messages,
    ...more,
  });
  const path = '/v1/messages?beta=true';

  it('MSG-05 works through three rounds of tools, with the thinking of the rounds before', async () => {
    const messages: Json[] = [
      { role: 'user', content: [{ type: 'text', text: 'List the files', ...cached }] },
    ];
    const thinking = { type: 'enabled', budget_tokens: 4_000 };
    for (let round = 0; round < 3; round += 1) {
      const answer = await edge.post(request(messages, { thinking, stream: true }), { path, headers });
      expect(answer.status).toBe(200);
      const content = contentOf(eventsOf(await answer.text()));
      expect(content[0]).toMatchObject({ type: 'thinking', thinking: 'Let me see' });
      const calls = content.filter(({ type }) => type === 'tool_use');
      expect(calls.map(({ name }) => name)).toEqual(['Bash', 'Look']);
      messages.push({ role: 'assistant', content });
      messages.push({
        role: 'user',
        content: calls.map(({ id }, at) => ({
          type: 'tool_result',
          tool_use_id: id,
          content: [{ type: 'text', text: `exit 0, round ${round}` }],
          ...(at === 1 && round === 2 ? cached : {}),
        })),
      });
      const done = await edge.post(request(messages, { thinking }), { path, headers });
      const said = (await done.json()) as { content: Json[]; stop_reason: string };
      expect(said.stop_reason).toBe('end_turn');
      expect(JSON.stringify(said.content)).toContain(`exit 0, round ${round}`);
      messages.push({ role: 'assistant', content: said.content }, { role: 'user', content: 'Go on' });
    }
  });

  it('MSG-05 works with a model that thinks where it likes, and with one that never does', async () => {
    for (const model of [edge.model(upstream, 'codes'), edge.model(upstream)]) {
      const messages = [{ role: 'user', content: 'List the files' }];
      const answer = await edge.post(request(messages, { ...adaptive, model, stream: true }), {
        path,
        headers,
      });
      expect([model, answer.status]).toEqual([model, 200]);
      expect(contentOf(eventsOf(await answer.text())).length).toBeGreaterThan(0);
    }
  });

  it('MSG-05 counts the tokens of a turn, and titles the talk with a small request', async () => {
    const messages = [{ role: 'user', content: 'List the files' }];
    const { max_tokens: _limit, ...countable } = request(messages);
    const counted = await edge.post(countable, { path: '/v1/messages/count_tokens?beta=true', headers });
    expect(counted.status).toBe(200);
    expect(Number(((await counted.json()) as Json).input_tokens)).toBeGreaterThan(50);
    const small = { model: edge.model(upstream), max_tokens: 1, messages };
    const probe = await edge.post(small, { path, headers });
    expect(await probe.json()).toMatchObject({ type: 'message', stop_reason: 'max_tokens' });
  });
});

/** The blocks that the events of a stream build. */
function contentOf(events: Json[]): Json[] {
  const blocks: Json[] = [];
  const inputs = new Map<number, string>();
  for (const event of events) {
    const index = event.index as number;
    if (event.type === 'content_block_start') blocks[index] = { ...(event.content_block as Json) };
    if (event.type !== 'content_block_delta') continue;
    const { type: _type, partial_json: json, ...delta } = event.delta as Record<string, string>;
    if (json !== undefined) inputs.set(index, (inputs.get(index) ?? '') + json);
    for (const [name, text] of Object.entries(delta))
      blocks[index][name] = `${(blocks[index][name] as string | undefined) ?? ''}${text}`;
  }
  for (const [index, json] of inputs) blocks[index].input = JSON.parse(json || '{}') as unknown;
  return blocks;
}
