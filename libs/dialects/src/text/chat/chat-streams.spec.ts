import { ApiError } from '@gateway/contracts';
import type { ModelEvent } from '../model-event.js';
import type { TextFacts } from '../text-dialect.js';
import { dialect } from './chat.dialect.js';
import {
  choiceIn,
  chunk,
  chunksOf,
  decoder,
  deltasOf,
  editedStream,
  encodedStream,
  eventsOf,
  facts,
  finishChunk,
  foldOf,
  joined,
  USAGE,
  USAGE_CHUNK,
} from './chat-samples.fixture.js';
import { objectOf, objectsOf } from '../../body/json-object.js';

const CALL = { index: 0, id: 'a', type: 'function', function: { name: 'look', arguments: '{"q":1}' } };
const TOOL_CHUNKS = [
  chunk({ role: 'assistant', content: null, tool_calls: [CALL] }),
  finishChunk('tool_calls'),
  USAGE_CHUNK,
];
const TEXT_CHUNKS = [
  chunk({ role: 'assistant', content: '' }),
  chunk({ content: 'Hi' }),
  finishChunk('stop'),
  USAGE_CHUNK,
];

/** Both roads to a caller's stream. */
const STREAMS: [string, (chunks: unknown[], more?: Partial<TextFacts>) => string][] = [
  ['encoded', (chunks, more) => encodedStream(eventsOf(chunks), more)],
  ['edited', editedStream],
];

describe.each(STREAMS)('a stream, %s', (_road, streamOf) => {
  it('CHAT-02 has one id, time, model and fingerprint on every chunk (bug 35)', () => {
    const rotating = TEXT_CHUNKS.map((part, position) => ({
      ...part,
      id: `chatcmpl-${position}`,
      created: 5 + position,
    }));
    const chunks = chunksOf(streamOf(rotating));
    expect(chunks).toHaveLength(4);
    for (const part of chunks)
      expect(part).toMatchObject({
        id: 'chatcmpl-0',
        object: 'chat.completion.chunk',
        created: 5,
        model: 'acme/large',
        service_tier: 'default',
        system_fingerprint: '',
      });
  });

  it('begins with the role, ends the choice in a chunk of its own and closes with [DONE]', () => {
    const stream = streamOf([
      chunk({ role: 'assistant', content: 'H' }),
      chunk({ role: 'assistant', content: 'i' }, {}, { finish_reason: 'stop' }),
    ]);
    expect(deltasOf(stream)).toEqual([
      { role: 'assistant', content: '' },
      { content: 'H' },
      { content: 'i' },
      {},
    ]);
    expect(stream.endsWith('\n\ndata: [DONE]\n\n')).toBe(true);
    expect(joined(stream)).toMatchObject({ content: 'Hi', finish: 'stop', native: 'stop' });
  });

  it('USG-02 sends usage as the last chunk, without choices, though nobody asked (bug 30)', () => {
    const chunks = chunksOf(
      streamOf([chunk({ content: 'Hi' }), finishChunk('stop', { usage: { ...USAGE, cost: 1 } })]),
    );
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 4 } });
    expect(chunks.slice(0, -1).some((part) => 'usage' in part)).toBe(false);
    expect(JSON.stringify(chunks)).not.toContain('cost');
  });

  it('puts usage: null on the other chunks where include_usage was asked for', () => {
    const chunks = chunksOf(streamOf(TEXT_CHUNKS, { includeUsage: true }));
    expect(chunks.slice(0, -1).map((part) => part.usage)).toEqual([null, null, null]);
    expect(chunks.at(-1)?.usage).toMatchObject({ prompt_tokens: 10 });
  });

  it('USG-01 sends 0 where the provider reported no usage, or one that cannot be', () => {
    const zeros = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
    expect(chunksOf(streamOf(TEXT_CHUNKS.slice(0, 3))).at(-1)?.usage).toMatchObject(zeros);
    const chunks = chunksOf(streamOf(TEXT_CHUNKS, { believed: () => ({}) }));
    expect(chunks.at(-1)?.usage).toMatchObject(zeros);
  });

  it('USG-24 makes up neither finish, usage nor [DONE] when the upstream fails (bugs 24 and 27)', () => {
    const failed = streamOf([
      chunk({ content: 'Hi' }),
      { ...finishChunk('error'), error: { message: 'no' } },
    ]);
    expect(failed).not.toMatch(/usage|DONE|"finish_reason":"/);
    expect(joined(failed).content).toBe('Hi');
  });

  it('starts a call with its id and name and sends only arguments after', () => {
    const calls = deltasOf(streamOf(TOOL_CHUNKS)).flatMap((delta) => objectsOf(delta.tool_calls));
    expect(calls).toEqual([
      { index: 0, id: 'a', type: 'function', function: { name: 'look', arguments: '' } },
      { index: 0, function: { arguments: '{"q":1}' } },
    ]);
  });

  it('numbers calls from 0 and completes one without arguments', () => {
    const stream = streamOf([
      chunk({ tool_calls: [{ ...CALL, index: 1, function: { name: 'x', arguments: '' } }] }),
      finishChunk('tool_calls'),
    ]);
    expect(joined(stream).calls).toEqual([{ id: 'a', name: 'x', arguments: '{}' }]);
  });

  it('passes custom tool calls', () => {
    const custom = { index: 0, id: 'a', type: 'custom', custom: { name: 'sql', input: 'SELECT' } };
    const calls = deltasOf(streamOf([chunk({ tool_calls: [custom] }), finishChunk('tool_calls')])).flatMap(
      (delta) => objectsOf(delta.tool_calls),
    );
    expect(calls).toEqual([
      { index: 0, id: 'a', type: 'custom', custom: { name: 'sql', input: '' } },
      { index: 0, custom: { input: 'SELECT' } },
    ]);
  });

  it('CHAT-31 leaves reasoning out when it is excluded', () => {
    const chunks = [
      chunk({ role: 'assistant', reasoning_content: 'secret' }),
      chunk({ content: 'Hi' }),
      finishChunk('stop'),
    ];
    expect(streamOf(chunks, { excludeReasoning: true })).not.toMatch(/secret|reasoning":/);
    expect(joined(streamOf(chunks)).reasoning).toBe('secret');
  });

  it('answers a legacy caller with function_call deltas', () => {
    const stream = streamOf(TOOL_CHUNKS, { legacyFunctions: true });
    const calls = deltasOf(stream).flatMap((delta) =>
      'function_call' in delta ? [objectOf(delta.function_call)] : [],
    );
    expect(calls.map((call) => call.name ?? '').join('')).toBe('look');
    expect(calls.map((call) => call.arguments).join('')).toBe('{"q":1}');
    expect(joined(stream)).toMatchObject({ calls: [], finish: 'function_call' });
  });

  it('keeps choices of one answer apart', () => {
    const second = {
      ...chunk({ content: 'B' }),
      choices: [{ index: 1, delta: { content: 'B' }, finish_reason: 'length' }],
    };
    const stream = streamOf([chunk({ content: 'A' }), second, finishChunk('stop')]);
    expect([joined(stream, 0), joined(stream, 1)]).toMatchObject([
      { content: 'A', finish: 'stop' },
      { content: 'B', finish: 'length' },
    ]);
  });
});

describe('a stream edited in place', () => {
  it('keeps members that nobody here knows, of chunk, choice, delta and call', () => {
    const call = { ...CALL, extra_content: { vendor: { thought_signature: 's' } } };
    const stream = editedStream([
      chunk(
        { content: 'Hi', mood: 'good' },
        { obfuscation: 'xx' },
        { content_filter_results: { hate: false } },
      ),
      chunk({ tool_calls: [call] }),
      finishChunk('tool_calls'),
    ]);
    const content = chunksOf(stream)[1];
    expect(content).toMatchObject({ obfuscation: 'xx' });
    expect(choiceIn(content)).toMatchObject({
      content_filter_results: { hate: false },
      delta: { content: 'Hi', mood: 'good' },
    });
    expect(stream).toContain('"thought_signature":"s"');
  });

  it('makes no chunk of an empty first one, a comment or a repeated finish', () => {
    const azure = {
      choices: [],
      created: 0,
      id: '',
      model: '',
      object: '',
      prompt_filter_results: [{ prompt_index: 0 }],
    };
    const stream = editedStream([
      azure,
      ...TEXT_CHUNKS.slice(0, 3),
      chunk({ role: 'assistant', content: '' }, { usage: USAGE }, { finish_reason: 'stop' }),
    ]);
    expect(chunksOf(stream)).toHaveLength(4);
    expect(chunksOf(stream)[0].id).toBe('chatcmpl-1');
    expect(decoder().push(Buffer.from(': WORKING\n\n: WORKING\n\n'))).toEqual([]);
  });

  it('passes each frame on at once and with its events (bug 31)', () => {
    const reader = decoder();
    const encoder = dialect.caller.encoder(facts(), true);
    const pieces = ['{"q"', ':', '1}'].map((text) => ({ index: 0, function: { arguments: text } }));
    const first = { ...CALL, function: { name: 'look', arguments: '' } };
    for (const call of [first, ...pieces]) {
      const frames = reader.push(Buffer.from(`data: ${JSON.stringify(chunk({ tool_calls: [call] }))}\n\n`));
      expect(frames).toHaveLength(1);
      expect(encoder.write(frames[0])).not.toBe('');
      expect(frames[0].events.some(({ type }) => type.startsWith('tool_'))).toBe(true);
    }
  });

  it('joins the parts of Mistral content to a string', () => {
    const content = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
      { type: 'text', text: 'Hi' },
    ];
    expect(deltasOf(editedStream([chunk({ content }), finishChunk('stop')]))[1]).toMatchObject({
      content: 'Hi',
      reasoning: 'hm',
    });
  });
});

describe('the stream encoder', () => {
  it('has an in-band error frame and a comment to keep the connection alive', () => {
    const error = new ApiError('upstream_error', { message: 'gone', providerCode: 'connection_error' });
    const frame = dialect.caller.errorFrame(error, 'req_1');
    expect(frame.endsWith('\n\n')).toBe(true);
    expect(JSON.parse(frame.slice(6))).toMatchObject({
      error: { code: 'upstream_error', message: 'gone', provider_code: 'connection_error' },
      request_id: 'req_1',
    });
    expect(dialect.caller.keepAlive).toBe(': keep-alive\n\n');
  });

  it('sends signatures and encrypted reasoning of translated answers as reasoning_details', () => {
    const events: ModelEvent[] = [
      { type: 'reasoning', choice: 0, text: 'hm', format: 'f' },
      { type: 'reasoning_signature', choice: 0, signature: 's', format: 'f' },
      { type: 'opaque_reasoning', choice: 0, data: 'd', format: 'f' },
    ];
    expect(deltasOf(encodedStream(events)).slice(1)).toEqual([
      { reasoning: 'hm', reasoning_details: [{ type: 'reasoning.text', text: 'hm', index: 0, format: 'f' }] },
      { reasoning_details: [{ type: 'reasoning.text', signature: 's', index: 0, format: 'f' }] },
      { reasoning_details: [{ type: 'reasoning.encrypted', data: 'd', index: 1, format: 'f' }] },
    ]);
    expect(objectOf(choiceIn(foldOf(events)).message).reasoning_details).toEqual([
      { type: 'reasoning.text', text: 'hm', signature: 's', index: 0, format: 'f' },
      { type: 'reasoning.encrypted', data: 'd', index: 1, format: 'f' },
    ]);
  });
});
