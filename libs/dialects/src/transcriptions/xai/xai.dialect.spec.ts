import { Unsupported } from '../../translation/translation.js';
import { askedFor, heardBy, sentForm } from '../transcriptions.fixture.js';
import { dialect } from './xai.dialect.js';

const MODEL = 'grok-voice-transcribe-1.0';
const word = (text: string, start: number, end: number, speaker?: number): object => ({
  ...{ text, start, end },
  ...(speaker === undefined ? {} : { speaker }),
});
/** Answer as it was recorded on 2026-08-10, shortened. */
const body = {
  text: 'Ruby is a language. Yes.',
  language: 'en',
  duration: 3.7,
  words: [word('Ruby', 0.121, 0.442), word('language.', 1.488, 1.83), word('Yes.', 3.016, 3.539)],
};

describe('transcriptions of xAI', () => {
  it('AUD-05 sends its form with the recording last, and reads words, language and length', async () => {
    const { calls, transcript } = await heardBy(dialect, MODEL, {}, [{ body }]);
    expect(calls.sent).toMatchObject([{ method: 'POST', at: '/stt' }]);
    expect(sentForm(calls.sent[0])).toEqual({ fields: [['model', MODEL]], files: [['file', 'RIFFsound']] });
    const bytes = Buffer.from(calls.sent[0].body).toString('latin1');
    expect(bytes.indexOf('name="file"')).toBeGreaterThan(bytes.indexOf('name="model"'));
    expect(transcript).toEqual({
      ...{ text: 'Ruby is a language. Yes.', language: 'en', seconds: 3.7 },
      words: [
        { text: 'Ruby', start: 0.121, end: 0.442, speaker: null },
        { text: 'language.', start: 1.488, end: 1.83, speaker: null },
        { text: 'Yes.', start: 3.016, end: 3.539, speaker: null },
      ],
      segments: [
        { text: 'Ruby language.', start: 0.121, end: 1.83, speaker: null },
        { text: 'Yes.', start: 3.016, end: 3.539, speaker: null },
      ],
    });
  });

  it('AUD-06 names language, words and speakers', async () => {
    const fields: [string, string][] = [
      ['language', 'de'],
      ['keywords[]', 'Kubernetes'],
      ['keywords[]', 'a&b'],
      ['prompt', 'Hints'],
    ];
    const spoken = { ...body, language: '', words: [word('Ja.', 0, 1, 0), word('Nein.', 1, 2, 1)] };
    const asked = { format: 'diarized_json', fields };
    const { calls, transcript } = await heardBy(dialect, MODEL, asked, [{ body: spoken }]);
    expect(sentForm(calls.sent[0]).fields).toEqual([
      ['model', MODEL],
      ['language', 'de'],
      ['format', 'true'],
      ['diarize', 'true'],
      ['keyterm', 'Kubernetes'],
      ['keyterm', 'a&b'],
    ]);
    expect([transcript.language, transcript.segments.map(({ speaker }) => speaker)]).toEqual([
      'de',
      ['0', '1'],
    ]);
  });

  it.each([[{}], [{ text: 7 }], [{ words: [] }]])(
    'reads as a failure what holds no text: %j',
    async (odd) => {
      await expect(heardBy(dialect, MODEL, {}, [{ body: odd }])).rejects.toMatchObject({
        failure: { kind: 'bad_response' },
      });
    },
  );

  it('leaves the length to what was measured where it reports none that can be one', async () => {
    for (const duration of [undefined, -1, '3', 1e300]) {
      const { transcript } = await heardBy(dialect, MODEL, {}, [{ body: { text: '', duration } }]);
      expect(transcript).toMatchObject({ text: '', seconds: 0, words: [], segments: [] });
    }
  });

  it('AUD-03 writes no English of another language', () => {
    expect(dialect.unsupported(askedFor({ task: 'translate' }))).toEqual(new Unsupported(null));
    expect(dialect.unsupported(askedFor({ stream: true, format: 'srt' }))).toBeNull();
  });
});
