import type { Quirks, RouteTarget } from '../translation/translation.js';
import { sent, user, type Json } from './upstream-requests.fixture.js';

const call = (id: string): Json => ({ id, type: 'function', function: { name: 'look', arguments: '{}' } });
const messages = [
  user('x'),
  { role: 'assistant', content: null, reasoning_content: 'hm', tool_calls: [call('call_1')] },
  { role: 'tool', tool_call_id: 'call_1', content: 'sunny' },
];
const detail = (more: Json): Json => ({ type: 'reasoning.text', text: 'hm', index: 0, ...more });

/** A turn that thought and called a tool, by the caller's format. */
const CALLERS: Readonly<Record<string, { body: Json; name: string }>> = {
  chat: { body: { messages }, name: 'messages.reasoning_content' },
  messages: {
    body: {
      max_tokens: 99,
      messages: [
        user('x'),
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: '' },
            { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} },
          ],
        },
        user([{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'sunny' }]),
      ],
    },
    name: 'messages.thinking',
  },
  responses: {
    body: {
      input: [
        user('x'),
        { type: 'reasoning', id: 'rs_gw1', summary: [], content: [{ type: 'reasoning_text', text: 'hm' }] },
        { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{}' },
        { type: 'function_call_output', call_id: 'call_1', output: 'sunny' },
      ],
    },
    name: 'input.reasoning',
  },
};
const NAMES = Object.keys(CALLERS);

/** The members of the assistant's turn, but those of every turn; and what is named as ignored. */
function turnSent(body: Json, quirks: Quirks): { turn: Json; ignored: string[] } {
  const { body: chat, ignored } = sent('chat', body, { quirks });
  const said = (chat.messages as Json[]).find(({ role }) => role === 'assistant') ?? {};
  const { role: _role, content: _content, tool_calls: _calls, ...turn } = said;
  return { turn, ignored };
}

describe('reasoning before a call goes back to a server', () => {
  it.each(NAMES)('of vLLM under both of its names, from %s', (caller) => {
    const found = turnSent(CALLERS[caller].body, { returnsReasoning: 'both' });
    expect(found).toEqual({ turn: { reasoning: 'hm', reasoning_content: 'hm' }, ignored: [] });
  });

  it.each(NAMES)('of a host of such models as reasoning_content, from %s', (caller) => {
    const found = turnSent(CALLERS[caller].body, { returnsReasoning: 'reasoning_content' });
    expect(found).toEqual({ turn: { reasoning_content: 'hm' }, ignored: [] });
  });

  it.each(NAMES)('of MiniMax as a detail, from %s', (caller) => {
    const found = turnSent(CALLERS[caller].body, { returnsReasoning: 'text_details' });
    expect(found).toEqual({ turn: { reasoning_details: [detail({})] }, ignored: [] });
  });

  it.each(NAMES)('of Ollama as thinking, from %s', (caller) => {
    const { body, ignored } = sent('ollama', CALLERS[caller].body);
    expect((body.messages as Json[])[1]).toMatchObject({ thinking: 'hm' });
    expect(ignored).toEqual([]);
  });

  it('as the caller wrote it, where that is what the server reads', () => {
    const both = [messages[0], { ...messages[1], reasoning: 'hm' }, messages[2]];
    const { body } = sent('chat', { messages: both }, { quirks: { returnsReasoning: 'both' } });
    expect(body.messages).toEqual(both);
  });
});

describe('reasoning of a turn without calls', () => {
  const body = { messages: [user('x'), { role: 'assistant', content: 'Yes', reasoning: 'hm' }, user('y')] };

  it('goes to a server that leaves it to the model', () => {
    const quirks = { returnsReasoning: 'reasoning_content', returnsAllReasoning: true } as const;
    expect(turnSent(body, quirks)).toEqual({ turn: { reasoning_content: 'hm' }, ignored: [] });
  });

  it('does not go to DeepSeek, which refuses it, and is named', () => {
    const found = turnSent(body, { returnsReasoning: 'reasoning_content' });
    expect(found).toEqual({ turn: {}, ignored: ['messages.reasoning'] });
  });
});

describe('reasoning that the upstream does not take', () => {
  it.each(
    NAMES.flatMap((caller) =>
      ['chat', 'messages', 'responses', 'gemini', 'converse', 'cohere'].map((to) => [caller, to]),
    ),
  )('is named as ignored from %s to %s', (caller, dialect) => {
    const { body, name } = CALLERS[caller];
    const { ignored, body: upstream } = sent(dialect, body);
    expect(ignored).toEqual([name]);
    expect(JSON.stringify(upstream)).not.toContain('hm');
  });

  it('is not named where its family takes it back', () => {
    const signed = (format: string): Json => ({
      messages: [
        messages[0],
        { role: 'assistant', content: 'a', reasoning_details: [detail({ format, signature: 's' })] },
        user('y'),
      ],
    });
    expect(sent('messages', signed('anthropic-claude-v1')).ignored).toEqual([]);
    expect(sent('converse', signed('anthropic-claude-v1')).ignored).toEqual(['messages.reasoning_details']);
    expect(sent('converse', signed('bedrock-converse-v1')).ignored).toEqual([]);
  });
});

describe('a loop of tools whose thinking is lost', () => {
  const lost = { messages: [messages[0], { ...messages[1], reasoning_content: undefined }, messages[2]] };
  const claude = (style: 'adaptive' | 'budget', more: Json = {}, dialect = 'messages') =>
    sent(dialect, { ...lost, reasoning_effort: 'high', ...more }, {
      upstreamModel: 'anthropic.claude-5',
      reasoning: { style },
    } satisfies Partial<RouteTarget>);

  it.each(['messages', 'converse'])(
    'is named by %s, whether Claude thinks on or is asked not to',
    (dialect) => {
      expect(claude('adaptive', {}, dialect).ignored).toEqual(['messages.reasoning_details']);
      expect(claude('budget', {}, dialect).ignored).toEqual(['reasoning_effort']);
    },
  );

  it('is not named where nothing was to be thought', () => {
    expect(claude('adaptive', { reasoning_effort: undefined }).ignored).toEqual([]);
    expect(claude('adaptive', { reasoning_effort: 'none' }).ignored).toEqual([]);
  });
});

describe('thinking that messages enable', () => {
  const thinking = { type: 'enabled', budget_tokens: 4_000 };
  const body = { max_tokens: 8_000, messages: [user('x')], thinking };

  it('is an effort of a model that takes one, and named to one that never thinks', () => {
    const found = sent('chat', body, { reasoning: { style: 'effort', efforts: ['low', 'medium', 'high'] } });
    expect(found.body.reasoning_effort).toBe('medium');
    for (const dialect of ['chat', 'messages', 'responses', 'gemini', 'converse', 'cohere', 'ollama'])
      expect([dialect, sent(dialect, body, { reasoning: { style: 'none' } }).ignored]).toEqual([
        dialect,
        ['thinking'],
      ]);
  });
});
