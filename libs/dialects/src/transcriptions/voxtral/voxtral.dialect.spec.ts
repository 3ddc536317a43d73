import { Unsupported } from '../../translation/translation.js';
import { askedFor, heardBy, sentForm } from '../transcriptions.fixture.js';
import { dialect } from './voxtral.dialect.js';

const segment = (text: string, start: number, speaker_id?: string): object => ({
  type: 'transcription_segment',
  text,
  start,
  end: start + 1,
  ...(speaker_id && { speaker_id }),
});
const body = {
  model: 'voxtral-mini-2602',
  text: 'Bonjour. Oui.',
  language: 'fr',
  segments: [segment(' Bonjour.', 0, 'speaker_1'), segment(' Oui.', 2, 'speaker_2')],
  usage: { prompt_audio_seconds: 4, prompt_tokens: 4, completion_tokens: 9, total_tokens: 40 },
};

describe('transcriptions of Mistral', () => {
  it('AUD-05 asks for no times where none are shown, and bills the seconds that it reports', async () => {
    const fields: [string, string][] = [
      ['language', 'fr'],
      ['temperature', '0'],
      ['keywords[]', 'Chez Nous, Paris'],
    ];
    const { calls, transcript } = await heardBy(dialect, 'voxtral-mini-2602', { fields }, [
      { body: { ...body, segments: [] } },
    ]);
    expect(calls.sent[0]).toMatchObject({ method: 'POST', at: '/audio/transcriptions' });
    expect(sentForm(calls.sent[0])).toEqual({
      fields: [
        ['model', 'voxtral-mini-2602'],
        ['language', 'fr'],
        ['temperature', '0'],
        ['context_bias', 'Chez_Nous_Paris'],
      ],
      files: [['file', 'RIFFsound']],
    });
    expect(transcript).toEqual({
      text: 'Bonjour. Oui.',
      language: 'fr',
      seconds: 4,
      words: [],
      segments: [],
    });
  });

  it('AUD-06 asks for segments and speakers where they are shown', async () => {
    const { calls, transcript } = await heardBy(dialect, 'voxtral-mini-2602', { format: 'diarized_json' }, [
      { body },
    ]);
    expect(sentForm(calls.sent[0]).fields).toEqual([
      ['model', 'voxtral-mini-2602'],
      ['timestamp_granularities', 'segment'],
      ['diarize', 'true'],
    ]);
    expect(transcript.segments).toEqual([
      { text: 'Bonjour.', start: 0, end: 1, speaker: 'speaker_1' },
      { text: 'Oui.', start: 2, end: 3, speaker: 'speaker_2' },
    ]);
  });

  it('AUD-06 takes words or segments, and a language without times', async () => {
    const words: [string, string][] = [['timestamp_granularities[]', 'word']];
    const { calls, transcript } = await heardBy(
      dialect,
      'voxtral-mini-2602',
      { format: 'verbose_json', fields: words },
      [{ body }],
    );
    expect(sentForm(calls.sent[0]).fields).toContainEqual(['timestamp_granularities', 'word']);
    expect([transcript.words.length, transcript.segments.length]).toEqual([2, 0]);
    const both: [string, string][] = [...words, ['timestamp_granularities[]', 'segment']];
    expect([
      dialect.unsupported(askedFor({ format: 'verbose_json', fields: both })),
      dialect.unsupported(askedFor({ format: 'srt', fields: [['language', 'fr']] })),
      dialect.unsupported(askedFor({ format: 'text', fields: [['language', 'fr']] })),
      dialect.unsupported(askedFor({ task: 'translate' })),
    ]).toEqual([
      new Unsupported('timestamp_granularities[]'),
      new Unsupported('language'),
      null,
      new Unsupported(null),
    ]);
  });
});
