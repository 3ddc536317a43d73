import type { JsonObject } from '../../body/json-object.js';
import fc from 'fast-check';
import type { Part, Turn } from '../model-request.js';
import { answers, callPart, calls, hi, messagesOf, refused, say, sent } from './encode.fixture.js';
import { providerToolId, upstreamToolId } from './tool-id.js';

describe('turns on a messages route', () => {
  it('sends leading system turns as blocks and wraps a later one in its place', () => {
    const turns = [
      say('system', 'a', { cache: { ttl: '1h' } }),
      say('developer', 'b'),
      hi,
      say('assistant', 'yes'),
      say('system', 'now in French'),
      say('user', 'go'),
    ];
    const body = sent({ turns });
    expect(body.system).toEqual([
      { type: 'text', text: 'a', cache_control: { type: 'ephemeral', ttl: '1h' } },
      { type: 'text', text: 'b' },
    ]);
    expect(body.messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'hi' }] },
      { role: 'assistant', content: [{ type: 'text', text: 'yes' }] },
      {
        role: 'user',
        content: [
          { type: 'text', text: '<system>now in French</system>' },
          { type: 'text', text: 'go' },
        ],
      },
    ]);
  });

  it('sends images and documents inside a result as what they are', () => {
    const parts: Extract<Part, { type: 'tool_result' }>['parts'] = [
      { type: 'image', source: { kind: 'url', url: 'https://a.example/b.png' } },
      { type: 'document', source: { kind: 'text', text: 'x' }, title: 'T' },
    ];
    const result: Turn = {
      role: 'tool',
      parts: [{ type: 'tool_result', toolCallId: 'a', parts, isError: true }],
    };
    const content = [
      { type: 'image', source: { type: 'url', url: 'https://a.example/b.png' } },
      { type: 'document', title: 'T' },
    ];
    expect(messagesOf([hi, calls('a'), result])).toMatchObject([
      { role: 'user' },
      { role: 'assistant' },
      { role: 'user', content: [{ type: 'tool_result', is_error: true, content }] },
    ]);
  });

  it('merges user and tool turns into one, results first', () => {
    const turns = [hi, calls('a', 'b'), answers('a'), say('user', 'and'), answers('b', '')];
    expect(messagesOf(turns)).toMatchObject([
      { role: 'user' },
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: 'a', input: {} },
          { type: 'tool_use', id: 'b' },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'ok' }] },
          { type: 'tool_result', tool_use_id: 'b' },
          { type: 'text', text: 'and' },
        ],
      },
    ]);
  });

  it('bug 41: drops empty text, trims a prefill, and begins with the user', () => {
    expect(messagesOf([say('assistant', '  '), hi, say('assistant', 'Sure: \n')])).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'hi' }] },
      { role: 'assistant', content: [{ type: 'text', text: 'Sure:' }] },
    ]);
    expect(messagesOf([say('assistant', 'Hello'), hi])).toMatchObject([
      { role: 'user', content: [{ text: '(continued)' }] },
      { role: 'assistant' },
      { role: 'user' },
    ]);
    expect(messagesOf([say('user', '')])).toMatchObject([
      { role: 'user', content: [{ text: '(continued)' }] },
    ]);
  });

  it('bugs 2, 3: takes empty arguments for none', () => {
    for (const empty of ['', ' ', 'null', '{}']) {
      const turns: Turn[] = [hi, { role: 'assistant', parts: [callPart('a', empty)] }, answers('a')];
      expect(messagesOf(turns)).toMatchObject([{}, { content: [{ input: {} }] }, {}]);
    }
  });

  it('bug 4: 422 validation_error for arguments that are no object, naming the call', () => {
    for (const broken of ['{"a":', '[1]', '"x"']) {
      const turns: Turn[] = [hi, { role: 'assistant', parts: [callPart('a'), callPart('b', broken)] }];
      const error = refused({ turns });
      expect([error.code, error.status]).toEqual(['validation_error', 422]);
      expect(error.options.details?.[0].loc.slice(0, 4)).toEqual(['messages', 1, 'tool_calls', 1]);
    }
  });

  it('bug 22: sends ids that the pattern allows, the same for call and result, never two alike', () => {
    const turns = [
      hi,
      calls('functions.Bash:0', 'functions_Bash_0'),
      answers('functions.Bash:0'),
      answers('functions_Bash_0'),
    ];
    const [, assistant, user] = messagesOf(turns) as { content: JsonObject[] }[];
    const ids = assistant.content.map(({ id }) => String(id));
    expect(user.content.map(({ tool_use_id }) => tool_use_id)).toEqual(ids);
    expect(ids[1]).toBe('functions_Bash_0');
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (a, b) => {
        expect(upstreamToolId(a)).toMatch(/^[A-Za-z0-9_-]+$/);
        expect(providerToolId(upstreamToolId(a))).toBe(a);
        expect(upstreamToolId(a) === upstreamToolId(b)).toBe(a === b);
      }),
    );
  });

  it('bugs 16, 17, 18: sends its own thinking back first and unchanged, no other family’s', () => {
    const parts: Part[] = [
      { type: 'text', text: 'so' },
      { type: 'reasoning', text: '', signature: 'own+/=', format: 'anthropic' },
      { type: 'opaque_reasoning', data: 'own', format: 'anthropic' },
      { type: 'reasoning', text: 'foreign', signature: 's', format: 'google-gemini-v1' },
      { type: 'opaque_reasoning', data: 'foreign', format: 'openai-responses-v1' },
      { type: 'reasoning', text: 'unsigned' },
    ];
    expect(messagesOf([hi, { role: 'assistant', parts }])).toMatchObject([
      {},
      {
        content: [
          { type: 'thinking', thinking: '', signature: 'own+/=' },
          { type: 'redacted_thinking', data: 'own' },
          { type: 'text', text: 'so' },
        ],
      },
    ]);
  });

  it('CHAT-20 sends an image as what its bytes are, whatever it was called', () => {
    const kinds: [string, number[]][] = [
      ['image/png', [0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]],
      ['image/jpeg', [0xff, 0xd8, 0xff, 0xe0]],
      ['image/gif', [...Buffer.from('GIF89a')]],
      ['image/webp', [...Buffer.from('RIFF1234WEBPVP8 ')]],
    ];
    for (const [mediaType, bytes] of kinds) {
      const data = Buffer.from(bytes).toString('base64');
      const source = { kind: 'base64' as const, mediaType: 'image/tiff', data };
      expect(messagesOf([{ role: 'user', parts: [{ type: 'image', source }] }])).toEqual([
        {
          role: 'user',
          content: [{ type: 'image', source: { type: 'base64', media_type: mediaType, data } }],
        },
      ]);
    }
    const url = { kind: 'url' as const, url: 'https://a.example/i.png' };
    expect(messagesOf([{ role: 'user', parts: [{ type: 'image', source: url }] }])).toMatchObject([
      { content: [{ source: { type: 'url', url: url.url } }] },
    ]);
  });

  it('sends documents as PDF or text, and refuses what it cannot say', () => {
    const of = (source: Extract<Part, { type: 'document' }>['source']): unknown =>
      messagesOf([{ role: 'user', parts: [{ type: 'document', source, title: 't' }] }]);
    expect(of({ kind: 'base64', mediaType: 'application/pdf', data: 'QUJD' })).toMatchObject([
      {
        content: [
          { type: 'document', title: 't', source: { type: 'base64', media_type: 'application/pdf' } },
        ],
      },
    ]);
    expect(of({ kind: 'base64', mediaType: 'text/csv', data: 'YSxi' })).toMatchObject([
      { content: [{ source: { type: 'text', media_type: 'text/plain', data: 'a,b' } }] },
    ]);
    const audio: Turn = { role: 'user', parts: [{ type: 'audio', format: 'wav', data: '' }] };
    expect(refused({ turns: [audio] }).code).toBe('unsupported_operation');
  });
});
