import fc from 'fast-check';
import { Unsupported, type Piece } from '../translation/translation.js';
import { dialect as openai } from './openai/openai.dialect.js';
import type { TranscriptionRequest } from './transcriptions-dialect.js';
import { dialect as whisper } from './whisper/whisper.dialect.js';

const file = { field: 'file', filename: 'a.wav', contentType: 'audio/wav', bytes: Buffer.from('RIFF') };
const request: TranscriptionRequest = {
  task: 'transcribe',
  format: 'json',
  stream: false,
  seconds: 2.5,
  form: {
    fields: [
      ['model', 'mine'],
      ['response_format', 'srt'],
      ['odd', '1'],
    ],
    files: [file],
    boundary: 'b',
  },
  file,
};
const target = { upstreamModel: 'theirs' } as Parameters<typeof openai.encode>[1];

function whole(body: string, changes: Partial<TranscriptionRequest> = {}): Piece[] {
  return openai
    .begin({ status: 200, contentType: 'application/json' }, { ...request, ...changes })
    .push(Buffer.from(body));
}

function streamed(chunks: Uint8Array[]): Piece[] {
  const answer = openai.begin(
    { status: 200, contentType: 'text/event-stream' },
    { ...request, stream: true },
  );
  return [...chunks.flatMap((chunk) => answer.push(chunk)), ...answer.end()];
}

describe('dialects of transcriptions', () => {
  it('send the form on with the model of the route, and a format only where JSON is not asked for', () => {
    const sent = (format: string): string =>
      Buffer.concat(whisper.encode({ ...request, format, task: 'translate' }, target).pieces).toString();
    expect(sent('vtt').match(/name="[^"]+"(; filename="[^"]+")?/g)).toEqual([
      'name="model"',
      'name="response_format"',
      'name="odd"',
      'name="file"; filename="a.wav"',
    ]);
    expect(sent('vtt')).toContain('\r\n\r\ntheirs\r\n');
    expect(sent('text')).not.toContain('response_format');
    expect(whisper.encode({ ...request, task: 'translate' }, target).path).toBe('/audio/translations');
  });

  it('are misfits by what they cannot do', () => {
    expect([
      openai.unsupported({ ...request, task: 'translate' }),
      openai.unsupported({ ...request, format: 'srt' }),
      openai.unsupported({ ...request, format: 'diarized_json' }),
      whisper.unsupported({ ...request, stream: true }),
      whisper.unsupported({ ...request, task: 'translate', format: 'srt' }),
    ]).toEqual([
      new Unsupported(null),
      new Unsupported('response_format'),
      null,
      new Unsupported('stream'),
      null,
    ]);
  });

  const none = { prompt_tokens: 0, audio_input_tokens: 0, completion_tokens: 0 };
  it.each([
    [
      { type: 'duration', seconds: 3 },
      { audio_seconds: '3', ...none },
    ],
    [
      { prompt_audio_seconds: 4, prompt_tokens: 7, completion_tokens: 2 },
      { audio_seconds: '4', prompt_tokens: 7, audio_input_tokens: 0, completion_tokens: 2 },
    ],
    [
      { input_tokens: 9, input_token_details: { audio_tokens: 8 } },
      { audio_seconds: '2.5', prompt_tokens: 9, audio_input_tokens: 8 },
    ],
    [{ seconds: -1, input_tokens: 'many' }, { audio_seconds: '2.5' }],
    [{ seconds: 3, output_tokens: -1 }, { audio_seconds: '3' }],
    [{}, { audio_seconds: '2.5' }],
    [{ input_tokens: 0, output_tokens: 0 }, { audio_seconds: '2.5' }],
    [
      { seconds: 3, input_tokens: 0, output_tokens: 0 },
      { audio_seconds: '3', prompt_tokens: 0, audio_input_tokens: 0, completion_tokens: 0 },
    ],
    [
      { seconds: 1e300, input_tokens: 2 ** 60 },
      { audio_seconds: '2.5', prompt_tokens: 2 ** 60, audio_input_tokens: 0 },
    ],
  ])(
    'count %j as %j, the measured seconds where none are said, and leave the rest to the estimate',
    (usage, counted) => {
      const [piece] = whole(JSON.stringify({ text: 'é', usage, cost: 1, x_groq: { id: 'req_1' } }));
      expect(piece).toMatchObject({ kind: 'end', deliveredBytes: 2 });
      expect(piece.usage).toEqual(counted);
      expect(JSON.parse(String(piece.out))).toEqual({ text: 'é', usage });
    },
  );

  it('count at least what was heard where no seconds are said: a header may say a second of an hour', () => {
    const srt = '1\n00:00:00,000 --> 00:00:04,500\nA\n\n2\n00:59:58,000 --> 01:00:01,250\nB\n\n';
    const vtt = 'WEBVTT\n\n00:58.000 --> 01:00.500\nA\n\n';
    const segments = [{ start: 0, end: 3_601.25 }, { end: 'late' }, null];
    const deltas = { text: 'A', segments };
    expect(
      [
        whole(srt, { format: 'srt' })[0],
        whole(vtt, { format: 'vtt' })[0],
        whole(JSON.stringify(deltas), { format: 'verbose_json' })[0],
        whole(JSON.stringify({ text: 'A', words: segments }), { format: 'verbose_json' })[0],
        whole(JSON.stringify({ ...deltas, duration: 3_600 }), { format: 'verbose_json' })[0],
      ].map(({ usage }) => usage?.audio_seconds),
    ).toEqual(['3601.25', '60.5', '3601.25', '3601.25', '3600']);
    const events = [
      { type: 'transcript.text.segment', start: 0, end: 61.5, text: 'A' },
      { type: 'transcript.text.done', text: 'A', usage: { input_tokens: 3, output_tokens: 1 } },
    ];
    const sent = Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
    expect(streamed([sent]).map(({ usage }) => usage?.audio_seconds)).toEqual(['61.5', '61.5']);
  });

  it('believe the measured seconds of a short recording, whose last segment may end with a window of 30 s', () => {
    const srt = '1\n00:00:00,000 --> 00:00:30,000\né\n\n';
    expect(whole(srt, { format: 'srt' })).toMatchObject([
      { usage: { audio_seconds: '2.5' }, deliveredBytes: Buffer.byteLength(srt) },
    ]);
  });

  it('read as a failure what holds no transcript', () => {
    for (const body of ['', '<html>', '{}', '{"text":1}', '[]'])
      expect(whole(body)).toMatchObject([{ kind: 'failure' }]);
    expect(whole('<html>', { format: 'srt' })).toMatchObject([{ kind: 'failure' }]);
    expect(streamed([Buffer.from('data: {"error":{"message":"no"}}\n\n')])).toMatchObject([
      { kind: 'failure', failure: { kind: 'in_band', message: 'no' } },
    ]);
    expect(
      streamed([Buffer.from('data: {"type":"transcript.text.delta","delta":"a"}\n\n')]).at(-1),
    ).toMatchObject({
      failure: { kind: 'connection' },
    });
  });

  it('are events for who reads those, also of an upstream that answers JSON all the same', () => {
    const head = { status: 200, contentType: 'application/json' };
    const answer = openai.begin(head, { ...request, stream: true });
    const [piece] = answer.push(Buffer.from('{"text":"é","usage":{"type":"duration","seconds":3,"cost":1}}'));
    // Nothing is counted in tokens, which is all that the event's usage may say.
    const events = [
      { type: 'transcript.text.delta', delta: 'é' },
      { type: 'transcript.text.done', text: 'é' },
    ];
    expect(answer.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    expect(piece).toMatchObject({ kind: 'end', usage: { audio_seconds: '3' }, deliveredBytes: 2 });
    expect(piece.out).toBe(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
  });

  it('show the tokens that are counted with the last event', () => {
    const usage = { type: 'tokens', input_tokens: 9, output_tokens: 2, total_tokens: 11 };
    const done = { type: 'transcript.text.done', text: 'é', usage };
    const [piece] = streamed([Buffer.from(`data: ${JSON.stringify(done)}\n\n`)]);
    expect(piece.out).toBe(`data: ${JSON.stringify(done)}\n\n`);
  });

  it('answer events that no proxy on the way may hold back', () => {
    const head = { status: 200, contentType: 'text/event-stream' };
    expect(openai.begin(head, { ...request, stream: true }).headers).toEqual({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    });
  });

  it('give the same events for any split, and end once whatever bytes come', () => {
    const events = [
      { type: 'transcript.text.delta', delta: 'é😀' },
      { type: 'transcript.text.done', text: 'é😀', usage: { type: 'duration', seconds: 3 } },
    ];
    const bytes = Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
    const expected = bytes.toString().replace(',"usage":{"type":"duration","seconds":3}', '');
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 8 }), (cuts) => {
        const edges = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        const pieces = streamed(edges.slice(1).map((end, n) => bytes.subarray(edges[n], end)));
        expect(pieces.map(({ out }) => String(out)).join('')).toBe(expected);
        expect(pieces.filter(({ kind }) => kind !== 'wait').at(-1)).toMatchObject({
          kind: 'end',
          usage: { audio_seconds: '3' },
          deliveredBytes: 6,
        });
      }),
    );
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        const last = streamed([Buffer.from(`data: ${text}\n\n`)]).filter(
          ({ kind }) => kind === 'end' || kind === 'failure',
        );
        expect(last).toHaveLength(1);
      }),
    );
  });
});
