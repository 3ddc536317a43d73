import { HOSTILE_VOICES, OPENAI_VOICES, refusedBy, speechRequest, spokenWith } from '../speech.fixture.js';
import { dialect } from './xai.dialect.js';

const MODEL = 'grok-tts';

describe('speech of xAI', () => {
  it.each(['mp3', 'wav', 'pcm'])('asks for %s, in whatever language the text is', (response_format) => {
    expect(spokenWith(dialect, MODEL, { response_format })).toEqual([
      '/tts',
      {
        ...{ text: 'Hello', voice_id: 'eve', language: 'auto' },
        output_format: { codec: response_format, sample_rate: 24_000 },
      },
    ]);
  });

  it('sends the speed, from 0.7 to 1.5, and nothing that it does not know', () => {
    const [, body] = spokenWith(dialect, MODEL, { speed: 0.7, instructions: 'softly', user: 'u' });
    expect(body).toEqual({
      ...{ text: 'Hello', voice_id: 'eve', language: 'auto', speed: 0.7 },
      output_format: { codec: 'mp3', sample_rate: 24_000 },
    });
    expect(dialect.takes).toEqual(['speed']);
    for (const speed of [0.25, 4])
      expect(refusedBy(dialect, MODEL, { speed })).toEqual(['speed', String(speed)]);
  });

  it('makes neither Opus nor AAC nor FLAC', () => {
    for (const response_format of ['opus', 'aac', 'flac'])
      expect(refusedBy(dialect, MODEL, { response_format })).toEqual(['response_format', response_format]);
  });

  it('has one of its five voices for each of OpenAI’s, and takes its own by their ids', () => {
    const voiceOf = (voice: unknown): unknown =>
      (spokenWith(dialect, MODEL, { voice })[1] as { voice_id: unknown }).voice_id;
    expect(new Set(OPENAI_VOICES.map(voiceOf))).toEqual(new Set(['eve', 'ara', 'rex', 'sal', 'leo']));
    expect(['carina', 'Eve', { id: 'voice_1-a' }].map(voiceOf)).toEqual(['carina', 'Eve', 'voice_1-a']);
  });

  it.each(HOSTILE_VOICES.filter((voice) => voice !== '__proto__'))('takes %j for no voice', (voice) => {
    expect(refusedBy(dialect, MODEL, { voice })).toEqual(['voice', voice]);
  });

  it('takes the name of a member of every object for a voice that it has not', () => {
    for (const voice of ['__proto__', 'constructor'])
      expect(spokenWith(dialect, MODEL, { voice })[1]).toMatchObject({ voice_id: voice });
  });

  it('is bytes that go on as they come, and bills characters', () => {
    const answer = dialect.begin(
      { status: 200, contentType: 'audio/mpeg' },
      speechRequest({ input: 'Hé 😀' }),
    );
    const chunk = Buffer.from([1, 2]);
    expect(answer.push(chunk)).toMatchObject([{ kind: 'part', out: chunk, usage: { characters: 4 } }]);
    expect(answer.end()).toMatchObject([{ kind: 'end', usage: { characters: 4 }, finishSeen: true }]);
  });
});
