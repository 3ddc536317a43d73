import type { UnitUsage } from '@gateway/contracts';
import { TEXT_DIALECTS } from '../families.generated.js';
import type { Decoded } from './text-dialect.js';
import { target } from './upstream-streams.fixture.js';

type Json = Record<string, unknown>;

function decoderOf(dialect: string) {
  const found = TEXT_DIALECTS.get(dialect);
  if (!found) throw new Error(`no dialect ${dialect}`);
  return found.upstream.decoder(target({ dialect }));
}

const lastUsage = (frames: readonly Decoded[]): UnitUsage | undefined =>
  frames
    .flatMap(({ events }) => events.flatMap((event) => (event.type === 'usage' ? [event.usage] : [])))
    .at(-1);

const plain = (dialect: string, body: Json): UnitUsage | undefined =>
  lastUsage([decoderOf(dialect).whole(body)]);

function streamed(dialect: string, events: readonly Json[]): UnitUsage | undefined {
  const decoder = decoderOf(dialect);
  const frames = events.flatMap((event) =>
    decoder.push(Buffer.from(`event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`)),
  );
  return lastUsage([...frames, ...decoder.end()]);
}

describe('searches that a provider runs', () => {
  const search = { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search' } };
  const opened = { ...search, id: 'ws_2', action: { type: 'open_page' } };
  const said = {
    type: 'message',
    id: 'm',
    role: 'assistant',
    content: [{ type: 'output_text', text: 'Hi' }],
  };
  const usage = { input_tokens: 10, output_tokens: 2 };
  const response = {
    id: 'resp_1',
    object: 'response',
    status: 'completed',
    output: [search, opened, said],
    usage,
  };
  const items = [search, opened, said].map((item, output_index) => ({
    type: 'response.output_item.done',
    output_index,
    item,
  }));
  const created = { type: 'response.created', response: { id: 'resp_1', status: 'in_progress' } };

  it.each([
    ['as the response counts them', { tool_usage: { web_search: { num_requests: 3 } } }, { web_search: 3 }],
    ['as its items show, where it does not', {}, { web_search: 1 }],
    [
      'as xAI counts them, by their kind',
      { usage: { ...usage, server_side_tool_usage_details: { web_search_calls: 2, x_search_calls: 4 } } },
      { web_search: 2, x_search: 4 },
    ],
    ['none, where it counts none', { tool_usage: { web_search: { num_requests: 0 } } }, undefined],
  ])('issue 14 responses: %s, plain and streamed', (_how, more, calls) => {
    const whole = { ...response, ...more };
    expect(plain('responses', whole)?.tool_calls).toEqual(calls);
    const stream = [created, ...items, { type: 'response.completed', response: whole }];
    expect(streamed('responses', stream)).toMatchObject({ prompt_tokens: 10 });
    expect(streamed('responses', stream)?.tool_calls).toEqual(calls);
  });

  it('issue 14 responses: of a stream that breaks off those that have run', () => {
    expect(streamed('responses', [created, ...items])).toEqual({ tool_calls: { web_search: 1 } });
  });

  const grounded = (queries: string[], more: Json = {}): Json => ({
    responseId: 'r',
    candidates: [
      { content: { parts: [{ text: 'Hi' }] }, groundingMetadata: { webSearchQueries: queries }, ...more },
    ],
  });
  const counts = { promptTokenCount: 10, candidatesTokenCount: 2, totalTokenCount: 12 };

  it('issue 14 Gemini: each query once, and the answer that rests on any, plain, streamed and broken off', () => {
    const calls = { web_search: 2, grounded_prompt: 1 };
    const end = { finishReason: 'STOP' };
    expect(plain('gemini', { ...grounded(['a', 'b'], end), usageMetadata: counts })).toMatchObject({
      prompt_tokens: 10,
      completion_tokens: 2,
      tool_calls: calls,
    });
    const parts = [grounded(['a']), { ...grounded(['a', 'b'], end), usageMetadata: counts }];
    expect(streamed('gemini', parts)?.tool_calls).toEqual(calls);
    expect(streamed('gemini', parts.slice(0, 1))).toEqual({
      tool_calls: { web_search: 1, grounded_prompt: 1 },
    });
    expect(plain('gemini', { ...grounded([], end), usageMetadata: counts })).not.toHaveProperty('tool_calls');
  });

  const start = {
    type: 'message_start',
    message: { id: 'msg_1', usage: { input_tokens: 10, output_tokens: 1 } },
  };
  const block = [
    {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} },
    },
    { type: 'content_block_stop', index: 0 },
  ];
  const ended = (more: Json): Json[] => [
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2, ...more } },
    { type: 'message_stop' },
  ];

  it.each([
    ['as it counts them', { server_tool_use: { web_search_requests: 3 } }, { web_search: 3 }],
    ['as its blocks show, where it does not', {}, { web_search: 1 }],
    [
      'none, where it counts none: one that failed is free',
      { server_tool_use: { web_search_requests: 0 } },
      undefined,
    ],
  ])('issue 14 Claude: %s', (_how, more, calls) => {
    expect(streamed('messages', [start, ...block, ...ended(more)])?.tool_calls).toEqual(calls);
    const body = { id: 'msg_1', type: 'message', role: 'assistant', stop_reason: 'end_turn' };
    const content = [{ type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }];
    const whole = { ...body, content, usage: { input_tokens: 10, output_tokens: 2, ...more } };
    expect(plain('messages', whole)?.tool_calls).toEqual(calls);
  });

  it('issue 14 Claude: of a stream that breaks off those that have begun, beside the input that was counted', () => {
    expect(streamed('messages', [start, ...block])).toMatchObject({
      prompt_tokens: 10,
      tool_calls: { web_search: 1 },
    });
  });
});
