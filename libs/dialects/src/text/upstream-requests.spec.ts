import { sent, user, type Json } from './upstream-requests.fixture.js';

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
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
describe('an image and a document', () => {
  const file = {
    type: 'file',
    file: { filename: 'Q3: Zürich (final).pdf', file_data: 'data:application/pdf;base64,JVBERi0=' },
  };
  const image = { type: 'image_url', image_url: { url: `data:image/jpeg;base64,${PNG}` } };

  it('go by what their bytes are', () => {
    const messages = [user([image, file])];
    expect(sent('gemini', { messages }).body.contents).toEqual([
      {
        role: 'user',
        parts: [
          { inlineData: { mimeType: 'image/png', data: PNG } },
          { text: 'Title: Q3: Zürich (final).pdf' },
          { inlineData: { mimeType: 'application/pdf', data: 'JVBERi0=' } },
        ],
      },
    ]);
    expect(sent('converse', { messages }).body.messages).toEqual([
      {
        role: 'user',
        content: [
          { image: { format: 'png', source: { bytes: PNG } } },
          { document: { format: 'pdf', name: 'Q3- Z-rich (final)', source: { bytes: 'JVBERi0=' } } },
          { text: 'See the document.' },
        ],
      },
    ]);
    expect(sent('ollama', { messages: [user([image])] }).body.messages).toEqual([
      { role: 'user', content: '', images: [PNG] },
    ]);
  });

  it('of a kind that only its name says goes to Converse by its ending', () => {
    const asked = (filename: string): Json => {
      const file_data = 'data:application/octet-stream;base64,YQ==';
      return sent('converse', { messages: [user([{ type: 'file', file: { filename, file_data } }])] }).body;
    };
    expect(asked('notes.MD').messages).toMatchObject([
      { content: [{ document: { format: 'md', name: 'notes', source: { bytes: 'YQ==' } } }, {}] },
    ]);
    const said = 'messages[0].content[0]: this provider takes no documents of type application/octet-stream.';
    expect(() => asked('notes.zip')).toThrow(said);
  });

  const byId = {
    chat: user([image, { type: 'file', file: { file_id: 'file-1' } }]),
    messages: user([{ type: 'image', source: { type: 'file', file_id: 'file-1' } }]),
    responses: user([{ type: 'input_image', file_id: 'file-1' }]),
  };
  it.each([
    ['messages', { messages: [user('x'), byId.chat] }, 'messages.1.content.1.file.file_id'],
    ['gemini', { messages: [user('x'), byId.chat] }, 'messages.1.content.1.file.file_id'],
    ['messages', { input: [user('x'), byId.responses] }, 'input.1.content.0.file_id'],
    ['gemini', { input: [user('x'), byId.responses] }, 'input.1.content.0.file_id'],
    ['cohere', { input: [user('x'), byId.responses] }, 'input.1.content.0.file_id'],
    ['cohere', { max_tokens: 9, messages: [byId.messages] }, 'messages[0].content[0].source.file_id'],
  ])('ERR-34 by their ids are refused by %s in the caller’s own words: %j', (dialect, body, param) => {
    const said = `${param}: a file by its id cannot be sent to this provider.`;
    const refusal = { code: 'unsupported_operation', status: 400, message: said };
    const options = expect.objectContaining({ param }) as object;
    expect(() => sent(dialect, body)).toThrow(expect.objectContaining({ ...refusal, options }) as Error);
  });

  const resultOf = (...content: Json[]): Json => ({
    max_tokens: 9,
    messages: [
      user('x'),
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }] },
      user([{ type: 'tool_result', tool_use_id: 'toolu_1', content }]),
    ],
  });

  it('in the result of a tool go only to who reads them there, and are never left out', () => {
    const away = resultOf({ type: 'image', source: { type: 'url', url: 'https://a.example/b.png' } });
    const here = resultOf({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } });
    for (const dialect of ['converse', 'ollama', 'cohere'])
      expect([dialect, sent(dialect, away).misfit]).toEqual([dialect, 'messages[2].content[0]']);
    expect(['converse', 'ollama', 'cohere'].map((dialect) => sent(dialect, here).misfit)).toEqual([
      null,
      null,
      'messages[2].content[0]',
    ]);
  });

  it('in words is read in the result of a tool, too', () => {
    const source = { type: 'text', media_type: 'text/plain', data: 'the page' };
    const body = resultOf({ type: 'text', text: 'Found:' }, { type: 'document', source });
    expect((sent('cohere', body).body.messages as Json[])[2]).toMatchObject({ content: 'Found:\nthe page' });
  });

  it('by an address go only to who fetches it', () => {
    const messages = [user([{ type: 'image_url', image_url: { url: 'https://a.example/b.webp?c=1' } }])];
    expect(sent('gemini', { messages }).body.contents).toMatchObject([
      { parts: [{ fileData: { fileUri: 'https://a.example/b.webp?c=1', mimeType: 'image/webp' } }] },
    ]);
    expect(sent('converse', { messages }).misfit).toBe('messages[0].content[0]');
    expect(sent('ollama', { messages }).misfit).toBe('messages[0].content[0]');
  });

  it('a document by an address goes to no chat upstream, which has no member for it', () => {
    const document = { type: 'document', source: { type: 'url', url: 'https://a.example/b.pdf' } };
    const asked = (...messages: Json[]): Json => ({ max_tokens: 5, messages });
    expect(sent('chat', asked(user([document]))).misfit).toBe('messages[0].content[0]');
    const call = { type: 'tool_use', id: 'toolu_1', name: 'now', input: {} };
    const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: [document] };
    const messages = [user('x'), { role: 'assistant', content: [call] }, user([result])];
    expect(sent('chat', asked(...messages)).misfit).toBe('messages[2].content[0]');
    expect(sent('gemini', asked(user([document]))).misfit).toBeNull();
    expect(sent('messages', asked(user([document]))).misfit).toBeNull();
  });
});

describe('a search of the web', () => {
  it('is a tool of Anthropic’s, as often as the size allows, from where the caller is', () => {
    const messages = [user('x')];
    const approximate = { country: 'CH', city: 'Zürich', timezone: 5, extra: 'x' };
    const user_location = { type: 'approximate', approximate };
    const web_search_options = { search_context_size: 'low', user_location };
    const search = { type: 'web_search_20250305', name: 'web_search' };
    const { body } = sent('messages', { messages, web_search_options, tools });
    expect(body.tools).toMatchObject([{ name: 'weather' }, { name: 'now' }, search]);
    const [, , tool] = body.tools as Json[];
    expect(tool).toEqual({
      ...search,
      max_uses: 1,
      user_location: { type: 'approximate', city: 'Zürich', country: 'CH' },
    });
    expect(sent('messages', { messages, web_search_options: {} }).body.tools).toEqual([
      { ...search, max_uses: 5 },
    ]);
    expect(sent('messages', { messages }).body.tools).toBeUndefined();
  });

  it('goes to nobody who takes no tools, and to nobody beside a tool of its name', () => {
    const body = { messages: [user('x')], web_search_options: {} };
    expect(sent('messages', body, { quirks: { refuses: ['tools'] } }).misfit).toBe('web_search_options');
    const named = { type: 'function', function: { name: 'web_search' } };
    expect(() => sent('messages', { ...body, tools: [named] })).toThrow(
      'tools[0].function.name: a tool named web_search cannot stand beside web_search_options',
    );
  });
});

describe('parameters', () => {
  const schema = { type: 'object', properties: { a: { type: 'number', minimum: 1 } } };
  const response_format = { type: 'json_schema', json_schema: { name: 'out', schema, strict: true } };
  const body = {
    messages: [user('x')],
    max_completion_tokens: 50,
    temperature: 1.5,
    top_p: 0.5,
    seed: 3,
    stop: ['END'],
    frequency_penalty: 0.1,
    response_format,
    user: 'u1',
    metadata: { a: 'b' },
    parallel_tool_calls: true,
  };

  it('stand under each format’s own names, and what has none is reported', () => {
    const gemini = sent('gemini', body);
    expect(gemini.body.generationConfig).toEqual({
      temperature: 1.5,
      topP: 0.5,
      frequencyPenalty: 0.1,
      seed: 3,
      maxOutputTokens: 50,
      stopSequences: ['END'],
      responseMimeType: 'application/json',
      responseJsonSchema: schema,
    });
    expect(gemini.ignored.sort()).toEqual(['metadata', 'user']);
    const converse = sent('converse', body, { upstreamModel: 'amazon.nova-2-lite' });
    expect(converse.body.inferenceConfig).toEqual({
      maxTokens: 50,
      temperature: 1,
      topP: 0.5,
      stopSequences: ['END'],
    });
    expect(converse.body.outputConfig).toEqual({
      textFormat: {
        type: 'json_schema',
        structure: {
          jsonSchema: {
            name: 'out',
            schema: JSON.stringify({
              type: 'object',
              properties: { a: { type: 'number', description: '(minimum: 1)' } },
              additionalProperties: false,
            }),
          },
        },
      },
    });
    expect(converse.ignored.sort()).toEqual(['frequency_penalty', 'metadata', 'seed', 'user']);
    expect(sent('cohere', body).body).toMatchObject({
      max_tokens: 50,
      temperature: 1,
      p: 0.5,
      seed: 3,
      stop_sequences: ['END'],
      response_format: { type: 'json_object', json_schema: schema },
    });
    expect(sent('ollama', body).body).toMatchObject({
      format: schema,
      options: {
        temperature: 1.5,
        top_p: 0.5,
        seed: 3,
        num_predict: 50,
        stop: ['END'],
        frequency_penalty: 0.1,
      },
    });
  });

  it('that change what the caller does with the answer are a misfit by the caller’s own name', () => {
    const messages = [user('x')];
    expect(
      sent(
        'gemini',
        { messages, stop: ['1', '2', '3', '4'], tools, response_format },
        { upstreamModel: 'gemini-2.5-pro' },
      ).misfit,
    ).toBe('response_format');
    expect(sent('gemini', { messages, logit_bias: { 1: 5 } }).misfit).toBe('logit_bias');
    expect(sent('converse', { messages, n: 2 }).misfit).toBe('n');
    const svg = { type: 'image_url', image_url: { url: 'data:image/svg+xml;base64,PHN2Zy8+' } };
    expect(() => sent('converse', { messages: [user('x'), user([svg])] })).toThrow(
      'messages[1].content[0]: this provider takes images as png, jpeg, gif, webp.',
    );
    expect(sent('cohere', { messages, logit_bias: { 1: 5 } }).misfit).toBe('logit_bias');
    expect(sent('cohere', { messages, logprobs: true }).misfit).toBe('logprobs');
    expect(sent('ollama', { messages, tools, tool_choice: 'required' }).misfit).toBe('tool_choice');
    expect(sent('gemini', { messages, n: 2, logprobs: true, top_logprobs: 3 }).body.generationConfig).toEqual(
      {
        candidateCount: 2,
        responseLogprobs: true,
        logprobs: 3,
      },
    );
  });

  it('that allow one call at a time keep the choice of a tool on Bedrock', () => {
    const of = (tool_choice: unknown): unknown =>
      sent(
        'converse',
        { messages: [user('x')], tools, tool_choice, parallel_tool_calls: false },
        { upstreamModel: 'anthropic.claude-x' },
      ).body.additionalModelRequestFields;
    const now = { type: 'function', function: { name: 'now' } };
    const allowed = { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [now] } };
    const one = { disable_parallel_tool_use: true };
    expect(of('auto')).toEqual({ tool_choice: { type: 'auto', ...one } });
    expect(of('required')).toEqual({ tool_choice: { type: 'any', ...one } });
    expect(of(allowed)).toEqual({ tool_choice: { type: 'any', ...one } });
    expect(of(now)).toEqual({ tool_choice: { type: 'tool', name: 'now', ...one } });
    expect(of('none')).toBeUndefined();
  });

  it.each(['messages', 'converse'])(
    'of which %s has no word are reported: a stop of blanks alone',
    (dialect) => {
      const { body, ignored } = sent(dialect, { messages: [user('x')], stop: ['\n', 'END'] });
      expect(JSON.stringify(body)).toContain('["END"]');
      expect(ignored).toEqual(['stop']);
      expect(sent(dialect, { messages: [user('x')], stop: 'END' }).ignored).toEqual([]);
    },
  );

  it('of a model with fixed sampling are left out and reported', () => {
    for (const dialect of ['gemini', 'converse'])
      expect(
        sent(dialect, { messages: [user('x')], temperature: 0.2 }, { fixesSampling: true }),
      ).toMatchObject({
        ignored: ['temperature'],
      });
  });
});

describe('a search of the web', () => {
  it('names what Gemini has no word for: how much of the web, and where the caller is', () => {
    const ignored = (web_search_options: Json): string[] =>
      sent('gemini', { messages: [user('x')], web_search_options }).ignored;
    const user_location = { type: 'approximate', approximate: { city: 'Bern' } };
    expect(ignored({ search_context_size: 'high', user_location })).toEqual([
      'web_search_options.search_context_size',
      'web_search_options.user_location',
    ]);
    expect(ignored({ user_location: null })).toEqual([]);
  });
});

describe('cache markers', () => {
  it('bug 20: stand behind their block on Bedrock, beside a result and with their time', () => {
    const cache_control = { type: 'ephemeral', ttl: '1h' };
    const asked = {
      max_tokens: 9,
      system: [{ type: 'text', text: 'S', cache_control }],
      messages: [
        user('x'),
        { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'now', input: {} }] },
        user([
          {
            type: 'tool_result',
            tool_use_id: 'toolu_1',
            content: [{ type: 'text', text: 'r', cache_control }],
          },
          { type: 'text', text: 'y', cache_control: { type: 'ephemeral' } },
        ]),
      ],
    };
    const { body } = sent('converse', asked, { upstreamModel: 'anthropic.claude-5' });
    const hour = { cachePoint: { type: 'default', ttl: '1h' } };
    expect(body.system).toEqual([{ text: 'S' }, hour]);
    expect((body.messages as Json[])[2].content).toEqual([
      { toolResult: { toolUseId: 'toolu_1', content: [{ text: 'r' }] } },
      hour,
      { text: 'y' },
      { cachePoint: { type: 'default' } },
    ]);
  });
});
