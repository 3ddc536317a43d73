import { HOSTILE_VOICES, OPENAI_VOICES, refusedBy, speechRequest, spokenWith } from '../speech.fixture.js';
import { dialect } from './elevenlabs.dialect.js';

const MODEL = 'eleven_flash_v2_5';
const counted = { characters: 5, prompt_tokens: 0, completion_tokens: 0, audio_output_tokens: 0 };

describe('speech of ElevenLabs', () => {
  it.each([
    ['mp3', 'mp3_44100_128'],
    ['opus', 'opus_48000_128'],
    ['wav', 'wav_24000'],
    ['pcm', 'pcm_24000'],
  ])('asks for %s as %s, the voice in the path', (response_format, output_format) => {
    expect(spokenWith(dialect, MODEL, { response_format })).toEqual([
      `/v1/text-to-speech/SAz9YHcvj6GT2YYXdXww?output_format=${output_format}`,
      { text: 'Hello', model_id: MODEL },
    ]);
  });

  it('sends the speed, and nothing else that it has no member for', () => {
    const more = { speed: 1.1, instructions: 'softly', stream_format: 'audio', user: 'u' };
    expect(spokenWith(dialect, MODEL, more)[1]).toEqual({
      ...{ text: 'Hello', model_id: MODEL, voice_settings: { speed: 1.1 } },
    });
    expect(spokenWith(dialect, MODEL, { speed: null })[1]).toEqual({ text: 'Hello', model_id: MODEL });
    expect(dialect.takes).toEqual(['speed']);
  });

  it('makes neither AAC nor FLAC, and speaks no slower than 0.7 and no faster than 1.2', () => {
    for (const response_format of ['aac', 'flac'])
      expect(refusedBy(dialect, MODEL, { response_format })).toEqual(['response_format', response_format]);
    for (const speed of [0.69, 1.21])
      expect(refusedBy(dialect, MODEL, { speed })).toEqual(['speed', String(speed)]);
    for (const speed of [0.7, 1.2, null]) expect(refusedBy(dialect, MODEL, { speed })).toBeNull();
  });

  it('has a voice of its own for each of OpenAI’s, and takes its own by their ids', () => {
    const paths = OPENAI_VOICES.map((voice) => spokenWith(dialect, MODEL, { voice })[0]);
    expect(new Set(paths).size).toBe(OPENAI_VOICES.length);
    for (const path of paths) expect(path).toMatch(/^\/v1\/text-to-speech\/[A-Za-z0-9]{20}\?/);
    for (const voice of ['21m00Tcm4TlvDq8ikWAM', { id: '21m00Tcm4TlvDq8ikWAM' }])
      expect(spokenWith(dialect, MODEL, { voice })[0]).toContain('/text-to-speech/21m00Tcm4TlvDq8ikWAM?');
  });

  it.each([...HOSTILE_VOICES, 'a-b', 'a_b'])('takes %j for no voice: it would stand in the path', (voice) => {
    expect(refusedBy(dialect, MODEL, { voice })).toEqual(['voice', voice]);
  });

  it('is bytes that go on as they come, and bills the characters that were sent: its header counts credits', () => {
    const headers = { 'content-type': 'audio/mpeg', 'character-cost': '3' };
    const answer = dialect.begin({ status: 200, contentType: 'audio/mpeg', headers }, speechRequest());
    expect([answer.isWhole, answer.headers]).toEqual([false, { 'content-type': 'audio/mpeg' }]);
    const chunk = Buffer.from([1, 2]);
    expect(answer.push(chunk)).toEqual([{ kind: 'part', out: chunk, usage: counted }]);
    expect(answer.end()).toEqual([{ kind: 'end', out: '', usage: counted, finishSeen: true }]);
  });

  it('is no answer where it is JSON under a status of 200', () => {
    const answer = dialect.begin({ status: 200, contentType: 'application/json' }, speechRequest());
    expect(answer.push(Buffer.from('{"detail":{}}'))).toMatchObject([
      { kind: 'failure', failure: { kind: 'bad_response' } },
    ]);
  });
});
