import { parseBody, type ParsedBody } from '@gateway/json-body';
import { Unsupported, type Piece, type RouteTarget } from '../../translation/translation.js';
import type { SpeechRequest } from '../speech-dialect.js';
import { dialect } from './mistral.dialect.js';

const MODEL = 'voxtral-mini-tts-2603';
const TARGET = { upstreamModel: MODEL } as RouteTarget;
const usage = { characters: 5, prompt_tokens: 0, completion_tokens: 0, audio_output_tokens: 0 };

function request(more: object = {}, format = 'mp3'): SpeechRequest {
  const sent = { model: 'mine', input: 'Hello', voice: 'gb_jane_neutral', ...more };
  return { characters: 5, format, body: parseBody(Buffer.from(JSON.stringify(sent))) as ParsedBody };
}

function answered(body: unknown): Piece[] {
  const answer = dialect.begin({ status: 200, contentType: 'application/json' }, request());
  return answer.push(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)));
}

describe('speech of Mistral', () => {
  it.each([
    [{}, 'gb_jane_neutral'],
    [{ voice: { id: 'v-1' }, instructions: 'slowly', speed: 2 }, 'v-1'],
  ])(
    'names the voice and the format in its words, and nothing that it does not know: %j',
    (more, voice_id) => {
      const { pieces, byteLength, ...head } = dialect.encode(request(more, 'flac'), TARGET);
      const type = 'application/json';
      expect(head).toEqual({ path: '/audio/speech', contentType: type, accept: type });
      const bytes = Buffer.concat(pieces);
      expect(bytes.byteLength).toBe(byteLength);
      expect(JSON.parse(bytes.toString())).toEqual({
        ...{ model: MODEL, input: 'Hello', voice_id, response_format: 'flac' },
      });
      expect(dialect.takes).toEqual([]);
    },
  );

  it('is base64 in JSON, played as bytes of the format, and bills characters', () => {
    const audio = Buffer.from('ID3 sound');
    expect(answered({ audio_data: audio.toString('base64') })).toEqual([
      { kind: 'end', out: audio, usage, finishSeen: true },
    ]);
    const answer = dialect.begin({ status: 200, contentType: 'application/json' }, request({}, 'opus'));
    expect([answer.isWhole, answer.headers]).toEqual([true, { 'content-type': 'audio/opus' }]);
  });

  it.each([['no JSON'], [[]], [{}], [{ audio_data: '' }], [{ audio_data: 7 }]])(
    'takes %j for no answer',
    (body) => {
      expect(answered(body)).toMatchObject([{ kind: 'failure', failure: { kind: 'bad_response' } }]);
    },
  );

  it('makes no raw samples of the caller’s kind, and no AAC', () => {
    for (const format of ['pcm', 'aac'])
      expect(dialect.unsupported?.(request({}, format), TARGET)).toEqual(new Unsupported('response_format'));
    for (const format of ['mp3', 'wav', 'flac', 'opus'])
      expect(dialect.unsupported?.(request({}, format), TARGET)).toBeNull();
  });
});
