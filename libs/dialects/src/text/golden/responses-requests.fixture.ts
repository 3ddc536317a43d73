import { PNG } from './chat-requests.fixture.js';
import { compactionItem } from '../responses/compaction.js';
import type { Json } from '../upstream-requests.fixture.js';

const message = (role: string, ...content: Json[]): Json => ({ type: 'message', role, content });
const text = (value: string, more: Json = {}): Json => ({ type: 'input_text', text: value, ...more });
const hi = message('user', text('Hi'));
const said = (...content: Json[]): Json => message('assistant', ...content);
const output = (value: string): Json => ({ type: 'output_text', text: value, annotations: [] });
const call = (call_id: string, name = 'look', args = '{}', more: Json = {}): Json => ({
  type: 'function_call',
  id: 'fc_1',
  call_id,
  name,
  arguments: args,
  ...more,
});
const result = (call_id: string, value: unknown): Json => ({
  type: 'function_call_output',
  call_id,
  output: value,
});
const image = (more: Json): Json => ({ type: 'input_image', ...more });
const file = (more: Json): Json => ({ type: 'input_file', ...more });

const sealed = (more: Json | string): Json => ({
  type: 'reasoning',
  summary: [],
  encrypted_content: `gw1.${Buffer.from(JSON.stringify(more)).toString('base64url')}`,
});
const parameters = { type: 'object', properties: { city: { type: 'string' } } };
const look = { type: 'function', name: 'look', description: 'Looks', parameters, strict: true };
const ping = { type: 'function', name: 'ping' };
const free = {
  type: 'custom',
  name: 'free',
  format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"' },
};
const space = { type: 'namespace', name: 'crm', tools: [ping, free] };
const far = { type: 'namespace', name: `n${'_far'.repeat(12)}`, tools: [{ ...ping, name: 'p'.repeat(40) }] };

/** Bodies of POST /v1/responses by what they show; without an input: a greeting. */
export const RESPONSES_REQUESTS: Readonly<Record<string, Json>> = {
  plain: {},
  'instructions and a stream': { instructions: 'Be brief.', stream: true },
  'every parameter': {
    max_output_tokens: 100,
    temperature: 0.5,
    top_p: 0.9,
    top_logprobs: 3,
    include: ['message.output_text.logprobs'],
    parallel_tool_calls: false,
    service_tier: 'flex',
    safety_identifier: 's-1',
    user: 'u-1',
    store: false,
    truncation: 'disabled',
  },
  hints: {
    text: { verbosity: 'low' },
    prompt_cache_key: 'k',
    prompt_cache_retention: '24h',
    metadata: { a: 'b' },
    max_tool_calls: 3,
    user: 'u-1',
  },
  'what goes on': { previous_response_id: 'resp_1', input: [result('call_1', 'sun'), hi] },
  'what is cut': { truncation: 'auto' },
  'logprobs asked in include': { include: ['message.output_text.logprobs', 'reasoning.encrypted_content'] },
  'no logprobs': { top_logprobs: 0 },
  'messages of every role': {
    input: [
      { role: 'system', content: 'Be brief.' },
      message('developer', text('Be kind.')),
      hi,
      said(output('Yes.'), { type: 'refusal', refusal: 'No.' }),
      said(output('More.'), output('')),
      { role: 'user', content: 'And?' },
    ],
  },
  'cache markers': {
    input: [
      message('user', text('a', { prompt_cache_breakpoint: { mode: 'explicit', ttl: '1h' } }), text('b')),
    ],
  },
  images: {
    input: [
      message(
        'user',
        image({ image_url: `data:image/png;base64,${PNG}`, detail: 'high' }),
        image({ image_url: 'https://a.example/b.png' }),
      ),
    ],
  },
  'an image by its id': { input: [message('user', image({ file_id: 'file-1' }))] },
  documents: {
    input: [
      message('user', file({ file_data: 'data:application/pdf;base64,JVBERi0=', filename: 'a.pdf' })),
      message('user', file({ file_url: 'https://a.example/b.pdf' })),
    ],
  },
  'a document by its id': { input: [message('user', file({ file_id: 'file-1', filename: 'a.pdf' }))] },
  'audio in': {
    input: [message('user', { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } })],
  },
  'a part nobody knows': { input: [message('user', { type: 'input_smell' })] },
  'an item nobody knows': { input: [hi, { type: 'web_search_call', id: 'ws_1' }] },
  'calls and their outputs': {
    tools: [look, ping],
    input: [
      hi,
      said(output('Let me look.')),
      call('call_1', 'look', '{"city":"Bern"}'),
      call('call_2', 'ping', ''),
      said(output('Two calls.')),
      result('call_2', [text('pong'), image({ image_url: `data:image/png;base64,${PNG}` })]),
      result('call_1', 'sun'),
      hi,
    ],
  },
  'calls of custom tools and of namespaces': {
    tools: [space, look],
    tool_choice: { type: 'function', name: 'ping', namespace: 'crm' },
    input: [
      hi,
      { type: 'custom_tool_call', call_id: 'call_1', name: 'free', namespace: 'crm', input: 'a b' },
      { type: 'custom_tool_call_output', call_id: 'call_1', output: 'ok' },
      call('call_2', 'ping', '{}', { namespace: 'crm' }),
      result('call_2', 'pong'),
    ],
  },
  'a custom tool': {
    tools: [look, { type: 'custom', name: 'free' }],
    tool_choice: { type: 'custom', name: 'free' },
  },
  'tools of a far namespace': {
    tools: [far],
    tool_choice: {
      type: 'allowed_tools',
      mode: 'required',
      tools: [{ type: 'function', name: 'p'.repeat(40), namespace: far.name }],
    },
  },
  'tool_choice auto': { tools: [ping], tool_choice: 'auto' },
  'tool_choice none': { tools: [ping], tool_choice: 'none' },
  'tool_choice required': { tools: [ping], tool_choice: 'required', parallel_tool_calls: true },
  'tool_choice among one': {
    tools: [ping, look],
    tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'ping' }] },
  },
  'tools of the provider': {
    tools: [ping, { type: 'web_search' }],
    tool_choice: { type: 'web_search' },
    max_tool_calls: 2,
  },
  'reasoning of OpenAI’s': {
    input: [
      hi,
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: 'thought' }],
        encrypted_content: 'gAAA',
      },
      said(output('Yes.')),
      hi,
    ],
  },
  'reasoning without its seal': {
    input: [
      hi,
      { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'hm' }] },
      call('call_1'),
      result('call_1', 'a'),
    ],
  },
  'reasoning that was sealed for the caller': {
    input: [
      hi,
      sealed({ format: 'anthropic-claude-v1', text: 'hm', signature: 'c2ln' }),
      sealed({ format: 'anthropic-claude-v1', data: 'ZGF0YQ==' }),
      {
        type: 'reasoning',
        id: 'rs_gw1',
        summary: [
          { type: 'summary_text', text: 'a' },
          { type: 'summary_text', text: 'b' },
        ],
      },
      sealed('damaged'),
      said(output('Yes.')),
      hi,
    ],
  },
  'a summary of the gateway’s': {
    input: [compactionItem('cmp_1', 'They met.'), { type: 'compaction', encrypted_content: 'x' }, hi],
  },
  'effort with a summary': { reasoning: { effort: 'high', summary: 'auto' } },
  'effort none': { reasoning: { effort: 'none' } },
  'no effort': { reasoning: { effort: null } },
  'format text': { text: { format: { type: 'text' } } },
  'format json_object': { text: { format: { type: 'json_object' }, verbosity: 'high' } },
  'format json_schema': {
    text: {
      format: { type: 'json_schema', name: 'answer', description: 'It', schema: parameters, strict: true },
    },
  },
  'a prompt of the provider': { prompt: { id: 'pmpt_1' } },
  'objects of the provider': {
    tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }],
    input: [hi],
  },
  'a context that is managed': { context_management: [{ type: 'compaction' }] },
  'members nobody knows': { foo: 1 },
};
