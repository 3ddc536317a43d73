import { ApiError } from '@gateway/contracts';
import { signedToolId } from './tool-signature.js';
import { sent, user, type Json } from './upstream-requests.fixture.js';

const tools = [
  {
    type: 'function',
    function: {
      name: 'weather',
      description: 'Now',
      parameters: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        properties: { city: { type: 'string' } },
        additionalProperties: false,
      },
    },
  },
  { type: 'function', function: { name: 'now' } },
];
const call = (id: string, name: string, input: string): Json => ({
  id,
  type: 'function',
  function: { name, arguments: input },
});
const LOOP = [
  { role: 'system', content: 'Be brief.' },
  user('Where am I?'),
  {
    role: 'assistant',
    content: null,
    tool_calls: [
      call(signedToolId('call_a', 'c2ln+/8='), 'weather', '{"city":"Bern"}'),
      call('call_b', 'now', ''),
    ],
  },
  { role: 'tool', tool_call_id: signedToolId('call_a', 'c2ln+/8='), content: '{"celsius":3}' },
  { role: 'tool', tool_call_id: 'call_b', content: 'noon' },
  user('Thanks'),
];

describe('a tool loop', () => {
  it('reaches Gemini with names, ids and signatures, its results in one content', () => {
    const { body, path } = sent(
      'gemini',
      { messages: LOOP, tools, stream: true },
      { upstreamModel: 'gemini-3.8-pro' },
    );
    expect(path).toBe('/models/gemini-3.8-pro:streamGenerateContent?alt=sse');
    expect(body).toEqual({
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      contents: [
        { role: 'user', parts: [{ text: 'Where am I?' }] },
        {
          role: 'model',
          parts: [
            {
              functionCall: { id: 'call_a', name: 'weather', args: { city: 'Bern' } },
              thoughtSignature: 'c2ln+/8=',
            },
            { functionCall: { id: 'call_b', name: 'now', args: {} } },
          ],
        },
        {
          role: 'user',
          parts: [
            { functionResponse: { id: 'call_a', name: 'weather', response: { celsius: 3 } } },
            { functionResponse: { id: 'call_b', name: 'now', response: { output: 'noon' } } },
            { text: 'Thanks' },
          ],
        },
      ],
      tools: [
        {
          functionDeclarations: [
            {
              name: 'weather',
              description: 'Now',
              parametersJsonSchema: {
                type: 'object',
                properties: { city: { type: 'string' } },
                additionalProperties: false,
              },
            },
            { name: 'now' },
          ],
        },
      ],
    });
  });

  it('reaches Gemini with its results in the order of their calls', () => {
    const [system, asked, calls, celsius, noon] = LOOP;
    const { contents } = sent('gemini', { messages: [system, asked, calls, noon, celsius], tools }).body as {
      contents: { parts: { functionResponse?: Json }[] }[];
    };
    const results = contents[2].parts.map((part) => part.functionResponse?.id);
    expect(results).toEqual(['call_a', 'call_b']);
  });

  it.each(['messages', 'gemini', 'converse', 'ollama'])(
    '422 names the caller’s message where %s cannot read the arguments of a call',
    (dialect) => {
      const half = { role: 'assistant', content: null, tool_calls: [call('call_c', 'now', '{"a":')] };
      const messages = [...LOOP, half, { role: 'tool', tool_call_id: 'call_c', content: 'x' }];
      const loc = ['messages', 6, 'tool_calls', 0, 'function', 'arguments'];
      const options = { details: [expect.objectContaining({ type: 'json_invalid', loc })] };
      const fault = { status: 422, options: expect.objectContaining(options) as object };
      expect(() => sent(dialect, { messages })).toThrow(expect.objectContaining(fault) as Error);
    },
  );

  it('bug 11: gives the third generation of Gemini its own word where a signature was lost, older models none', () => {
    const messages = [
      user('x'),
      { role: 'assistant', tool_calls: [call('a', 'now', '{}'), call('b', 'now', '{}')] },
      { role: 'tool', tool_call_id: 'a', content: '' },
      { role: 'tool', tool_call_id: 'b', content: '' },
    ];
    const signatures = (upstreamModel: string): unknown[] => {
      const { contents } = sent('gemini', { messages, tools }, { upstreamModel }).body as {
        contents: { parts: Json[] }[];
      };
      return contents[1].parts.map((part) => part.thoughtSignature);
    };
    expect(signatures('gemini-3-flash')).toEqual(['skip_thought_signature_validator', undefined]);
    expect(signatures('gemini-2.5-flash')).toEqual([undefined, undefined]);
  });

  it('takes a signature that the caller kept where Google’s own OpenAI endpoint puts it', () => {
    const signed = { ...call('a', 'now', '{}'), extra_content: { google: { thought_signature: 'own=' } } };
    const messages = [
      user('x'),
      { role: 'assistant', tool_calls: [signed] },
      { role: 'tool', tool_call_id: 'a', content: 'y' },
    ];
    const { contents } = sent('gemini', { messages, tools }).body as { contents: { parts: Json[] }[] };
    expect(contents[1].parts[0]).toMatchObject({ thoughtSignature: 'own=' });
  });

  it('reaches Bedrock as blocks, results in one user message and ahead of its text', () => {
    const { body, path } = sent(
      'converse',
      { messages: LOOP, tools, tool_choice: 'required' },
      { upstreamModel: 'us.anthropic.claude-haiku-4-5-v1:0' },
    );
    expect(path).toBe('/model/us.anthropic.claude-haiku-4-5-v1%3A0/converse');
    expect(body).toMatchObject({
      system: [{ text: 'Be brief.' }],
      messages: [
        { role: 'user', content: [{ text: 'Where am I?' }] },
        {
          role: 'assistant',
          content: [
            { toolUse: { toolUseId: 'call_a', name: 'weather', input: { city: 'Bern' } } },
            { toolUse: { toolUseId: 'call_b', name: 'now', input: {} } },
          ],
        },
        {
          role: 'user',
          content: [
            { toolResult: { toolUseId: 'call_a', content: [{ json: { celsius: 3 } }] } },
            { toolResult: { toolUseId: 'call_b', content: [{ text: 'noon' }] } },
            { text: 'Thanks' },
          ],
        },
      ],
      toolConfig: {
        toolChoice: { any: {} },
        tools: [{ toolSpec: { name: 'weather' } }, { toolSpec: { name: 'now' } }],
      },
    });
  });

  it('bug 19: gives Bedrock the tools of the history where the caller sends none, and 9 characters to Mistral', () => {
    const { body } = sent('converse', { messages: LOOP }, { upstreamModel: 'mistral.mistral-large-3' });
    const { toolConfig, messages } = body as {
      toolConfig: Json;
      messages: { content: { toolUse: Json }[] }[];
    };
    expect(toolConfig).toEqual({
      tools: ['weather', 'now'].map((name) => ({
        toolSpec: { name, inputSchema: { json: { type: 'object', properties: {} } } },
      })),
    });
    expect(messages[1].content[0].toolUse.toolUseId).toMatch(/^[0-9a-f]{9}$/);
  });

  it('reaches Cohere as chat messages without the signature, one named tool as the only one', () => {
    const choice = { type: 'function', function: { name: 'now' } };
    const { body, path } = sent('cohere', { messages: LOOP, tools, tool_choice: choice });
    expect(path).toBe('/chat');
    expect(body).toMatchObject({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Where am I?' },
        {
          role: 'assistant',
          tool_calls: [{ id: 'call_a' }, { id: 'call_b', function: { arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'call_a', content: '{"celsius":3}' },
        { role: 'tool', tool_call_id: 'call_b', content: 'noon' },
        { role: 'user', content: 'Thanks' },
      ],
      tool_choice: 'REQUIRED',
      tools: [{ type: 'function', function: { name: 'now' } }],
    });
  });

  it('reaches Ollama with arguments as objects and the name of each result', () => {
    const { body, path } = sent('ollama', { messages: LOOP, tools });
    expect(path).toBe('/api/chat');
    expect(body).toMatchObject({
      messages: [
        { role: 'system' },
        { role: 'user' },
        {
          role: 'assistant',
          tool_calls: [
            { function: { name: 'weather', arguments: { city: 'Bern' } } },
            { function: { name: 'now', arguments: {} } },
          ],
        },
        { role: 'tool', tool_name: 'weather', content: '{"celsius":3}' },
        { role: 'tool', tool_name: 'now', content: 'noon' },
        { role: 'user' },
      ],
      stream: false,
    });
  });

  it.each(['gemini', 'ollama'])('reaches %s with its results in the order of its calls', (dialect) => {
    const twice = [call('call_a', 'now', '{"city":"Bern"}'), call('call_b', 'now', '{"city":"Rome"}')];
    const messages = [
      user('When is it?'),
      { role: 'assistant', content: null, tool_calls: twice },
      { role: 'tool', tool_call_id: 'call_b', content: 'noon in Rome' },
      { role: 'tool', tool_call_id: 'call_a', content: 'noon in Bern' },
      // Some callers count their calls anew in each turn.
      { role: 'assistant', content: null, tool_calls: [twice[0]] },
      { role: 'tool', tool_call_id: 'call_a', content: 'dawn' },
    ];
    const { body } = sent(dialect, { messages, tools });
    expect(JSON.stringify(body).match(/noon in \w+|dawn/g)).toEqual(['noon in Bern', 'noon in Rome', 'dawn']);
  });

  it('bug 3: is refused where the arguments of a call are half an object', () => {
    const messages = [
      user('x'),
      { role: 'assistant', tool_calls: [call('a', 'now', '{"a":')] },
      { role: 'tool', tool_call_id: 'a', content: 'y' },
    ];
    for (const dialect of ['gemini', 'converse', 'ollama'])
      expect(() => sent(dialect, { messages, tools })).toThrow(ApiError);
  });
});
