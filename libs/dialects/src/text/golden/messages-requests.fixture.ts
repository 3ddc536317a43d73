import { PNG } from './chat-requests.fixture.js';
import type { Json } from '../upstream-requests.fixture.js';

const user = (...content: (Json | string)[]): Json => ({
  role: 'user',
  content: content.map((one) => (typeof one === 'string' ? text(one) : one)),
});
const assistant = (...content: (Json | string)[]): Json => ({ ...user(...content), role: 'assistant' });
const text = (value: string, more: Json = {}): Json => ({ type: 'text', text: value, ...more });
const use = (id: string, name = 'look', input: Json = {}, more: Json = {}): Json => ({
  type: 'tool_use',
  id,
  name,
  input,
  ...more,
});
const result = (tool_use_id: string, content?: unknown, more: Json = {}): Json => ({
  type: 'tool_result',
  tool_use_id,
  content,
  ...more,
});
const image = (source: Json, more: Json = {}): Json => ({ type: 'image', source, ...more });
const document = (source: Json, more: Json = {}): Json => ({ type: 'document', source, ...more });
const png = { type: 'base64', media_type: 'image/jpeg', data: PNG };
const pdf = { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' };
const away = (type: string, url: string): Json => ({ type, source: { type: 'url', url } });
const words = { type: 'text', media_type: 'text/plain', data: 'the page' };
const cache_control = { type: 'ephemeral' };
const HOUR = { cache_control: { type: 'ephemeral', ttl: '1h' } };

const input_schema = { type: 'object', properties: { city: { type: 'string' } } };
const look = { name: 'look', description: 'Looks', input_schema };
const LONG = `${'long_name_'.repeat(6)}of_a_tool`;
const long = { name: LONG, input_schema: { type: 'object' } };
const search = { type: 'web_search_20250305', name: 'web_search' };
/** A call of the tool, and what came back. */
const answered = (...content: Json[]): Json => ({
  tools: [look],
  messages: [user('x'), assistant(use('toolu_1')), user(result('toolu_1', content))],
});
const thought = (more: Json): Json => ({ type: 'thinking', thinking: 'hm', signature: 'c2ln', ...more });

/** Bodies of POST /v1/messages by what they show; without messages: a greeting. */
export const MESSAGES_REQUESTS: Readonly<Record<string, Json>> = {
  plain: {},
  instructions: { system: 'Be brief.' },
  'every parameter': {
    max_tokens: 100,
    system: [text('Be brief.', { cache_control }), text('Be kind.')],
    temperature: 0.5,
    top_p: 0.9,
    top_k: 40,
    stop_sequences: ['END', 'STOP'],
    stream: true,
    metadata: { user_id: 'u-1' },
    service_tier: 'auto',
    cache_control,
  },
  'the standard tier': { service_tier: 'standard_only', system: ' ', metadata: { user_id: 'u'.repeat(65) } },
  'five stops': { stop_sequences: ['a', 'b', 'c', 'd', 'e'] },
  'six stops': { stop_sequences: ['a', 'b', 'c', 'd', 'e', 'f'] },
  tools: {
    tools: [
      { ...look, strict: true, ...HOUR },
      { type: 'custom', name: 'ping', input_schema: { type: 'object' } },
    ],
  },
  'tool_choice auto, one at a time': {
    tools: [look],
    tool_choice: { type: 'auto', disable_parallel_tool_use: true },
  },
  'tool_choice any, several': {
    tools: [look],
    tool_choice: { type: 'any', disable_parallel_tool_use: false },
  },
  'tool_choice none': { tools: [look], tool_choice: { type: 'none' } },
  'tool_choice by name': { tools: [look, long], tool_choice: { type: 'tool', name: LONG } },
  'a long name of a tool': {
    tools: [long],
    messages: [user('x'), assistant(use('toolu_1', LONG)), user(result('toolu_1', 'ok'))],
  },
  'tools of the provider': { tools: [look, search] },
  'what the provider’s tools did': {
    tools: [search],
    messages: [
      user('x'),
      assistant({ type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }),
      user('y'),
    ],
  },
  'a tool loop': {
    tools: [look],
    messages: [
      user('x'),
      assistant(
        thought({}),
        'Let me look.',
        use('toolu_1', 'look', { city: 'Bern' }),
        use('toolu_via_call|2'),
      ),
      user(
        result('toolu_1', 'sun', { cache_control }),
        result('toolu_via_call|2', 'gone', { is_error: true }),
        'And?',
      ),
    ],
  },
  'a loop thinking on': {
    max_tokens: 9_000,
    thinking: { type: 'enabled', budget_tokens: 4_000 },
    tools: [look],
    messages: [user('x'), assistant(thought({}), use('toolu_1')), user(result('toolu_1', 'sun'))],
  },
  'results of several kinds': answered(
    text('{"a":1}'),
    image(png),
    text('and'),
    document(words, { title: 'Page' }),
    document(pdf, { title: 'Q3.pdf', ...HOUR }),
  ),
  'a result of nothing': {
    tools: [look],
    messages: [user('x'), assistant(use('toolu_1')), user(result('toolu_1'))],
  },
  'a result with pictures, failed': {
    messages: [
      user('x'),
      assistant(use('toolu_1')),
      user(result('toolu_1', [text('no'), image(png)], { is_error: true })),
    ],
  },
  'a result by address': answered(away('image', 'https://a.example/b.png')),
  'a result of a document by address': answered(away('document', 'https://a.example/b.pdf')),
  'a result in documents': answered(document(words), document({ type: 'content', content: 'in place' })),
  images: {
    messages: [user(image(png, { cache_control }), away('image', 'https://a.example/b.webp'), 'See')],
  },
  'an image by its id': { messages: [user('x', image({ type: 'file', file_id: 'file-1' }))] },
  documents: {
    messages: [
      user(
        document(words, { title: 'a.txt', context: 'old', citations: { enabled: true } }),
        document(pdf, { cache_control }),
        document({ type: 'content', content: [text('one'), text('two')] }),
      ),
    ],
  },
  'a document with a picture': {
    messages: [user(document({ type: 'content', content: [text('one'), image(png)] }))],
  },
  'a document by address': { messages: [user(away('document', 'https://a.example/b.pdf'), 'Sum up')] },
  'a document by its id': { messages: [user(document({ type: 'file', file_id: 'file-1' }))] },
  'a search result': { messages: [user({ type: 'search_result', source: 'x', title: 'y', content: [] })] },
  'thoughts of others': {
    messages: [
      user('x'),
      assistant(thought({ signature: '' })),
      user('y'),
      assistant(thought({}), { type: 'redacted_thinking', data: 'ZGF0YQ==' }, 'Yes.'),
      user('z'),
    ],
  },
  'instructions in between': {
    messages: [user('x'), { role: 'system', content: 'In German.' }, assistant('Gut ')],
  },
  'an empty prefill': { messages: [user('x'), { role: 'assistant', content: '' }] },
  'thinking disabled': { thinking: { type: 'disabled' } },
  'thinking enabled': {
    max_tokens: 4_000,
    thinking: { type: 'enabled', budget_tokens: 2_000, display: 'omitted' },
    temperature: 1,
  },
  'thinking adaptive': {
    thinking: { type: 'adaptive', display: 'summarized' },
    output_config: { effort: 'xhigh' },
  },
  'thinking between tools': { thinking: { type: 'between_tools' } },
  'effort alone': { output_config: { effort: 'max' } },
  'a schema': { output_config: { format: { type: 'json_schema', schema: input_schema } } },
  'max_tokens 0': { max_tokens: 0 },
  'members of Anthropic’s own': {
    container: {},
    mcp_servers: [],
    context_management: { edits: [] },
    inference_geo: 'eu',
    speed: 'standard',
  },
  'members nobody knows': { foo: 1 },
};
