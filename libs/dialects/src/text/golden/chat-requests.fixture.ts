import type { Json } from '../upstream-requests.fixture.js';
import { MANY_WORDS } from './many-words.fixture.js';

const user = (content: unknown): Json => ({ role: 'user', content });
const hi = user('Hi');
const fn = (name: string, more: Json = {}): Json => ({ type: 'function', function: { name, ...more } });
const calling = (id: string, name: string, args: string, more: Json = {}): Json => ({
  id,
  type: 'function',
  function: { name, arguments: args },
  ...more,
});
const assistant = (content: unknown, more: Json = {}): Json => ({ role: 'assistant', content, ...more });
const result = (tool_call_id: string, content: unknown, more: Json = {}): Json => ({
  role: 'tool',
  tool_call_id,
  content,
  ...more,
});
const text = (value: string, more: Json = {}): Json => ({ type: 'text', text: value, ...more });
const image = (url: string, more: Json = {}, beside: Json = {}): Json => ({
  type: 'image_url',
  image_url: { url, ...more },
  ...beside,
});
const file = (more: Json, beside: Json = {}): Json => ({ type: 'file', file: more, ...beside });

/** The first bytes of a PNG, which say what it is. */
export const PNG = 'iVBORw0KGgo=';
const city = { type: 'object', properties: { city: { type: 'string', minLength: 2 } }, required: ['city'] };
const look = fn('look', { description: 'Looks', parameters: { $schema: 'x', ...city }, strict: true });
const find = fn('find', { parameters: city, strict: false });
const ping = fn('ping');
const tools = [look, find, ping];
const grammar = { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: "a"' } };
const free = { type: 'custom', custom: { name: 'free', description: 'Any text', format: grammar } };
const named = (name: string): Json => ({ type: 'function', function: { name } });
const allowed = (mode: string, ...names: string[]): Json => ({
  type: 'allowed_tools',
  allowed_tools: { mode, tools: names.map(named) },
});
const one = calling('call_1', 'look', '{"city":"Zürich"}');
const schema = (more: Json): Json => ({ type: 'json_schema', json_schema: { name: 'answer', ...more } });
const detail = (more: Json): Json => ({ type: 'reasoning.text', text: 'thought', ...more });
const thinks = (...reasoning_details: Json[]): Json => ({
  messages: [hi, assistant('Yes', { reasoning_details }), hi],
});
const loops = (more: Json): Json => ({
  tools,
  messages: [hi, assistant(null, { tool_calls: [one], ...more }), result('call_1', 'sunny')],
});

/** Bodies of POST /v1/chat/completions by what they show; without messages: a greeting. */
export const CHAT_REQUESTS: Readonly<Record<string, Json>> = {
  plain: {},
  stream: { stream: true, stream_options: { include_usage: false, include_obfuscation: false } },
  'stream without options': { stream: true },
  sampling: {
    temperature: 1.5,
    top_p: 0.9,
    top_k: 40,
    seed: 7,
    frequency_penalty: 0.5,
    presence_penalty: -0.5,
    max_tokens: 100,
  },
  'sampling of zeros': { temperature: 0, top_k: 0, seed: 0, frequency_penalty: 0, presence_penalty: 0 },
  'top_p alone': { top_p: 0.9, max_completion_tokens: 64 },
  'stop as a text': { stop: 'END' },
  'four stops, one blank': { stop: ['a', ' ', 'c', 'd'] },
  'five stops': { stop: ['a', 'b', 'c', 'd', 'e'] },
  'six stops': { stop: ['a', 'b', 'c', 'd', 'e', 'f'] },
  'n 1, what happens anyway': {
    n: 1,
    logprobs: false,
    store: false,
    parallel_tool_calls: true,
    logit_bias: {},
  },
  'n 2': { n: 2 },
  'logprobs with alternatives': { logprobs: true, top_logprobs: 3 },
  'logprobs alone': { logprobs: true },
  logit_bias: { logit_bias: { '50256': -100 } },
  prediction: { prediction: { type: 'content', content: 'same' } },
  'audio out': { modalities: ['text', 'audio'], audio: { format: 'wav', voice: 'alloy' } },
  'images out': { modalities: ['text', 'image'] },
  'a search': { web_search_options: {} },
  'a search from a place': {
    web_search_options: {
      search_context_size: 'high',
      user_location: {
        type: 'approximate',
        approximate: { city: 'Bern', region: 'BE', timezone: 'Europe/Zurich' },
      },
    },
  },
  'a search beside tools': { web_search_options: { search_context_size: 'low' }, tools },
  'a search beside a tool of its name': { web_search_options: {}, tools: [ping, fn('web_search')] },
  tools: { tools },
  'tools, none strict': { tools: [find, ping] },
  'tools with a marker': { tools: [{ ...ping, cache_control: { type: 'ephemeral', ttl: '1h' } }, find] },
  'a tool without its type': { tools: [{ function: { name: 'ping' } }] },
  'tool_choice auto': { tools, tool_choice: 'auto' },
  'tool_choice none': { tools, tool_choice: 'none' },
  'tool_choice required': { tools: [find], tool_choice: 'required' },
  'tool_choice by name': { tools, tool_choice: named('find') },
  'tool_choice among two': { tools, tool_choice: allowed('auto', 'find', 'ping') },
  'tool_choice one of two': { tools, tool_choice: allowed('required', 'find', 'ping') },
  'choices without tools': { tool_choice: 'none', parallel_tool_calls: false },
  'one call at a time': { tools: [ping], parallel_tool_calls: false },
  'one call at a time, none': { tools: [ping], parallel_tool_calls: false, tool_choice: 'none' },
  'one call at a time, by name': {
    tools: [find, ping],
    parallel_tool_calls: false,
    tool_choice: named('ping'),
  },
  'one call at a time, required': { tools: [ping], parallel_tool_calls: false, tool_choice: 'required' },
  'one call at a time, one of one': {
    tools: [find, ping],
    parallel_tool_calls: false,
    tool_choice: allowed('required', 'ping'),
  },
  'one call at a time, among one': {
    tools: [find, ping],
    parallel_tool_calls: false,
    tool_choice: allowed('auto', 'ping'),
  },
  'custom tools': {
    tools: [free, ping],
    tool_choice: { type: 'custom', custom: { name: 'free' } },
    messages: [
      hi,
      assistant(null, {
        tool_calls: [{ id: 'call_1', type: 'custom', custom: { name: 'free', input: 'a b' } }],
      }),
      result('call_1', 'ok'),
    ],
  },
  'a custom tool among others': {
    tools: [ping, { type: 'custom', custom: { name: 'free' } }],
    tool_choice: allowed('auto', 'free'),
  },
  'a tool loop': {
    tools,
    messages: [
      user('Weather?'),
      assistant('Let me look.', { tool_calls: [one, calling('call_2', 'ping', ' ')] }),
      result('call_2', '{"pong":true}'),
      result('call_1', [text('sun'), text('shine')], { cache_control: { type: 'ephemeral' } }),
      user('And now?'),
      assistant(null, { tool_calls: [calling('call_3', 'ping', 'null')] }),
      result('call_3', 'no such host', { is_error: true }),
    ],
  },
  'a failed tool in parts': {
    messages: [
      hi,
      assistant('', { tool_calls: [one] }),
      result('call_1', [text('{"a":1}')], { is_error: true }),
    ],
  },
  'a result of nothing': {
    tools,
    messages: [hi, assistant(null, { tool_calls: [one] }), result('call_1', '')],
  },
  'calls without tools any more': { tool_choice: 'none', messages: loops({}).messages },
  'calls, none allowed now': { ...loops({}), tool_choice: 'none' },
  'odd ids of calls': {
    messages: [
      hi,
      assistant(null, {
        tool_calls: [
          calling('call|1 ö', 'ping', '{}'),
          calling('c2__sig_c2ln-_8', 'ping', '{}'),
          calling('abcDEF123', 'ping', '{}', {
            extra_content: { google: { thought_signature: 'R1NJRw==' } },
          }),
        ],
      }),
      result('call|1 ö', 'a'),
      result('c2__sig_c2ln-_8', 'b'),
      result('abcDEF123', 'c'),
    ],
  },
  'half arguments': {
    messages: [
      hi,
      assistant(null, { tool_calls: [calling('call_1', 'look', '{"city":')] }),
      result('call_1', 'ok'),
    ],
  },
  'a list as arguments': {
    messages: [
      hi,
      assistant(null, { tool_calls: [one, calling('c2', 'look', '[1]')] }),
      result('call_1', 'a'),
      result('c2', 'b'),
    ],
  },
  'legacy functions': {
    functions: [{ name: 'look', parameters: city }],
    function_call: { name: 'look' },
    messages: [
      hi,
      assistant(null, { function_call: { name: 'look', arguments: '{"city":"Bern"}' } }),
      { role: 'function', name: 'look', content: 'rain' },
    ],
  },
  'images by data': {
    messages: [
      user([
        text('See', { cache_control: { type: 'ephemeral' } }),
        image(`data:image/jpeg;base64,${PNG}`, { detail: 'low' }),
        image('data:image/webp;base64,UklGRg==', {}, { cache_control: { type: 'ephemeral', ttl: '1h' } }),
      ]),
    ],
  },
  'an image by address': { messages: [user([image('https://a.example/b.JPG?c=1', { detail: 'high' })])] },
  'an image of no known kind': { messages: [user([image('data:image/tiff;base64,SUkqAA==')])] },
  'audio in': {
    messages: [user([{ type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'mp3' } }])],
  },
  documents: {
    messages: [
      user([
        file({ file_data: 'data:application/pdf;base64,JVBERi0=', filename: 'Q3: ü (a).pdf' }),
        file({ file_data: 'data:application/pdf;base64,JVBERi0=' }),
        file({ file_data: 'data:application/pdf;base64,JVBERi0=' }, { cache_control: { type: 'ephemeral' } }),
      ]),
    ],
  },
  'documents of other kinds': {
    messages: [
      user([
        text('Two'),
        file({ file_data: 'data:text/csv;base64,YSxi', filename: 'a.csv' }),
        file({ file_data: 'data:application/octet-stream;base64,YQ==', filename: 'notes.MD' }),
      ]),
    ],
  },
  'a document of no known kind': {
    messages: [user([file({ file_data: 'data:application/zip;base64,UEs=', filename: 'a.zip' })])],
  },
  'a document by its id': { messages: [user([text('x'), file({ file_id: 'file-1', filename: 'a.pdf' })])] },
  'instructions, early and late': {
    messages: [
      { role: 'system', content: [text('Be brief.'), text('Be kind.')] },
      { role: 'developer', content: 'Use metric units.', name: 'dev' },
      { ...hi, name: 'Ann' },
      { role: 'system', content: 'Now in German.' },
      assistant('Gut.', { name: 'Bot' }),
      { role: 'developer', content: 'Go on.' },
    ],
  },
  'instructions alone': { messages: [{ role: 'system', content: 'Be brief.' }] },
  'the assistant first and last': { messages: [assistant('Hello.'), hi, assistant('I think ')] },
  'turns of one side, blank ones': {
    messages: [hi, user('  '), user([text('Again')]), assistant(''), user('Well?'), assistant(' ')],
  },
  'a blank greeting': { messages: [user('  ')] },
  refusals: {
    messages: [
      hi,
      assistant([text('No, '), { type: 'refusal', refusal: 'I cannot.' }], { refusal: 'Never.' }),
      hi,
      assistant(null, { refusal: 'Never.' }),
      hi,
    ],
  },
  'cache markers, too many': {
    tools: [{ ...ping, cache_control: { type: 'ephemeral' } }],
    messages: [
      { role: 'system', content: [text('a', { cache_control: { type: 'ephemeral', ttl: '1h' } })] },
      user([
        text('b', { prompt_cache_breakpoint: { mode: 'explicit', ttl: '1h' } }),
        text('c', { prompt_cache_breakpoint: { mode: 'explicit' } }),
        text('d', { cache_control: { type: 'ephemeral', ttl: '1h' } }),
      ]),
      assistant(null, {
        tool_calls: [calling('call_1', 'ping', '{}', { cache_control: { type: 'ephemeral' } })],
      }),
      result('call_1', [text('e', { cache_control: { type: 'ephemeral', ttl: '1h' } })], {
        cache_control: { type: 'ephemeral' },
      }),
    ],
  },
  'reasoning as a text': loops({ reasoning_content: 'thought' }),
  'reasoning under its other name': { messages: [hi, assistant('Yes', { reasoning: 'thought' }), hi] },
  'reasoning signed by Anthropic': thinks(detail({ signature: 'c2ln', format: 'anthropic-claude-v1' }), {
    type: 'reasoning.encrypted',
    data: 'ZGF0YQ==',
    format: 'anthropic-claude-v1',
  }),
  'reasoning signed by Google': thinks(detail({ signature: 'c2ln', format: 'google-gemini-v1' })),
  'reasoning signed by Bedrock': thinks(detail({ signature: 'c2ln', format: 'bedrock-converse-v1' }), {
    type: 'reasoning.encrypted',
    data: 'ZGF0YQ==',
    format: 'bedrock-converse-v1',
  }),
  'reasoning sealed by OpenAI': thinks(
    { type: 'reasoning.summary', summary: 'thought', format: 'openai-responses-v1' },
    { type: 'reasoning.encrypted', data: 'ZGF0YQ==', format: 'openai-responses-v1' },
  ),
  'reasoning of nobody': thinks(detail({ signature: 'c2ln' }), {
    type: 'reasoning.encrypted',
    data: 'ZGF0YQ==',
  }),
  'effort none': { reasoning_effort: 'none' },
  'effort minimal': { reasoning_effort: 'minimal' },
  'effort low, with sampling': {
    reasoning: { effort: 'low', exclude: true },
    temperature: 0.5,
    top_k: 3,
    top_p: 0.5,
  },
  'effort medium': { reasoning: { effort: 'medium' }, max_completion_tokens: 4_000 },
  'effort high': { reasoning_effort: 'high' },
  'effort xhigh': { reasoning_effort: 'xhigh' },
  'effort max': { reasoning: { effort: 'max' } },
  'a budget of thoughts': { reasoning: { max_tokens: 2_000 }, max_completion_tokens: 4_000 },
  'a budget of few thoughts': { reasoning: { max_tokens: 100 } },
  'a budget of nearly all': { reasoning: { max_tokens: 3_999 }, max_completion_tokens: 4_000 },
  'reasoning without a wish': { reasoning: {} },
  'thoughts before a forced tool': { reasoning: { effort: 'high' }, tools: [ping], tool_choice: 'required' },
  'thoughts in a loop without them': { ...loops({}), reasoning_effort: 'high' },
  'thoughts in a signed loop': {
    ...loops({ reasoning_details: [detail({ signature: 'c2ln', format: 'anthropic-claude-v1' })] }),
    reasoning_effort: 'high',
  },
  'format text': { response_format: { type: 'text' } },
  'format json_object': { response_format: { type: 'json_object' } },
  'format json_schema': {
    response_format: schema({ description: 'The answer', schema: { $schema: 'x', ...city }, strict: true }),
  },
  'format json_schema, loose': {
    response_format: schema({ strict: false, schema: { ...city, description: 'Where' } }),
  },
  'format json_schema in many words': { response_format: schema({ schema: MANY_WORDS }) },
  'format json_schema without one': { response_format: schema({}) },
  'format json_schema beside tools': { response_format: schema({ schema: city }), tools: [ping] },
  'tier auto': { service_tier: 'auto' },
  'tier default': { service_tier: 'default' },
  'tier flex': { service_tier: 'flex' },
  hints: {
    verbosity: 'low',
    prompt_cache_key: 'k',
    prompt_cache_retention: '24h',
    prompt_cache_options: { mode: 'explicit' },
    metadata: { a: 'b' },
    moderation: { model: 'm' },
    user: 'u-1',
  },
  'hints of what is stored': { store: true, metadata: { a: 'b' }, safety_identifier: 's-1', user: 'u-1' },
  'a long name of the end user': { user: 'u'.repeat(65) },
  'members nobody knows': { foo: { bar: 1 }, num_ctx: 4_096, min_p: 0.1 },
  'members of answers, sent back': {
    messages: [
      hi,
      assistant('A', { annotations: [], parsed: null }),
      hi,
      assistant(null, {
        tool_calls: [{ ...one, function: { name: 'look', arguments: '{}', parsed_arguments: {} } }],
      }),
      result('call_1', 'ok'),
    ],
  },
  'audio of an earlier answer': { messages: [hi, assistant('A', { audio: { id: 'audio_1' } }), hi] },
  'a video': {
    messages: [user([text('x'), { type: 'video_url', video_url: { url: 'https://a.example/v.mp4' } }])],
  },
  'odd text': { messages: [user('“Zürich” 🌦 \n\t\\ " \u2028 </s>')] },
};
