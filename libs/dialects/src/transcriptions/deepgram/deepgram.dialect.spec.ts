import { heardBy, askedFor } from '../transcriptions.fixture.js';
import { Unsupported } from '../../translation/translation.js';
import { dialect } from './deepgram.dialect.js';

const word = (text: string, start: number, speaker?: number): object => ({
  word: text.toLowerCase(),
  punctuated_word: text,
  start,
  end: start + 0.5,
  confidence: 0.9,
  ...(speaker === undefined ? {} : { speaker }),
});
const answer = (words: object[], transcript: unknown = 'Hello. World.'): { body: object } => ({
  body: {
    metadata: { request_id: 'r', duration: 3.25, channels: 1 },
    results: { channels: [{ detected_language: 'en', alternatives: [{ transcript, words }] }] },
  },
});

describe('transcriptions of Deepgram', () => {
  it('AUD-05 sends the recording as the body and the rest in the query', async () => {
    const { calls, transcript } = await heardBy(dialect, 'nova-3', {}, [
      answer([word('Hello.', 0), word('World.', 1)]),
    ]);
    expect(calls.sent).toMatchObject([
      {
        method: 'POST',
        at: '/listen?model=nova-3&smart_format=true&detect_language=true',
        contentType: 'audio/wav',
        body: Buffer.from('RIFFsound'),
      },
    ]);
    expect(transcript).toEqual({
      text: 'Hello. World.',
      language: 'en',
      seconds: 3.25,
      words: [
        { text: 'Hello.', start: 0, end: 0.5, speaker: null },
        { text: 'World.', start: 1, end: 1.5, speaker: null },
      ],
      segments: [
        { text: 'Hello.', start: 0, end: 0.5, speaker: null },
        { text: 'World.', start: 1, end: 1.5, speaker: null },
      ],
    });
  });

  it('AUD-06 names language, words and speakers in the query, each escaped', async () => {
    const fields: [string, string][] = [
      ['language', 'pt-BR'],
      ['keywords[]', 'a&b=c'],
      ['keywords[]', 'Zoë'],
    ];
    const { calls, transcript } = await heardBy(dialect, 'nova-3', { format: 'diarized_json', fields }, [
      answer([word('one', 0, 0), word('two', 1, 1), word('three', 2, 1)], 'one two three'),
    ]);
    expect(calls.sent[0].at).toBe(
      '/listen?model=nova-3&smart_format=true&language=pt-BR&diarize=true&keyterm=a%26b%3Dc&keyterm=Zo%C3%AB',
    );
    expect(transcript.segments).toEqual([
      { text: 'one', start: 0, end: 0.5, speaker: '0' },
      { text: 'two three', start: 1, end: 2.5, speaker: '1' },
    ]);
  });

  it.each([[{}], [{ results: {} }], [{ results: { channels: [{ alternatives: [{ transcript: 7 }] }] } }]])(
    'reads as a failure what holds no transcript: %j',
    async (body) => {
      await expect(heardBy(dialect, 'nova-3', {}, [{ body }])).rejects.toMatchObject({
        failure: { kind: 'bad_response' },
      });
    },
  );

  it('AUD-03 writes no English of another language', () => {
    expect(dialect.unsupported(askedFor({ task: 'translate' }))).toEqual(new Unsupported(null));
    expect(dialect.unsupported(askedFor({ stream: true, format: 'srt' }))).toBeNull();
  });
});
