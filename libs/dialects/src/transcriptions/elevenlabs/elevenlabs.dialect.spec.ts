import { heardBy, sentForm } from '../transcriptions.fixture.js';
import { dialect } from './elevenlabs.dialect.js';

const part = (type: string, text: string, start: number, speaker = 'speaker_0'): object => ({
  type,
  text,
  start,
  end: start + 0.4,
  speaker_id: speaker,
});
const body = {
  language_code: 'eng',
  language_probability: 0.99,
  text: 'Hi there. Yes.',
  words: [
    part('word', 'Hi', 0),
    part('spacing', ' ', 0.4),
    part('audio_event', '(laughter)', 0.5),
    part('word', 'there.', 1),
    part('spacing', ' ', 1.4),
    part('word', 'Yes.', 2, 'speaker_1'),
  ],
  audio_duration_secs: 4.75,
};

describe('transcriptions of ElevenLabs', () => {
  it('AUD-05 sends its own form, and reads spaces and noises as what they are', async () => {
    const { calls, transcript } = await heardBy(dialect, 'scribe_v2', {}, [{ body }]);
    expect(calls.sent[0]).toMatchObject({ method: 'POST', at: '/v1/speech-to-text' });
    expect(sentForm(calls.sent[0])).toEqual({
      fields: [
        ['model_id', 'scribe_v2'],
        ['diarize', 'false'],
        ['tag_audio_events', 'false'],
        ['timestamps_granularity', 'word'],
      ],
      files: [['file', 'RIFFsound']],
    });
    expect(transcript).toMatchObject({ text: 'Hi there. Yes.', language: 'eng', seconds: 4.75 });
    expect(transcript.words.map(({ text }) => text)).toEqual(['Hi', 'there.', 'Yes.']);
    expect(transcript.segments.map(({ text, speaker }) => [text, speaker])).toEqual([
      ['Hi there.', 'speaker_0'],
      ['Yes.', 'speaker_1'],
    ]);
  });

  it('AUD-06 names language, temperature, words and speakers', async () => {
    const fields: [string, string][] = [
      ['language', 'de'],
      ['temperature', '0.2'],
      ['keywords[]', 'Kubernetes'],
    ];
    const { calls } = await heardBy(dialect, 'scribe_v2', { format: 'diarized_json', fields }, [{ body }]);
    expect(sentForm(calls.sent[0]).fields).toEqual([
      ['model_id', 'scribe_v2'],
      ['diarize', 'true'],
      ['tag_audio_events', 'false'],
      ['timestamps_granularity', 'word'],
      ['language_code', 'de'],
      ['temperature', '0.2'],
      ['keyterms', 'Kubernetes'],
    ]);
  });

  it('reads as a failure what holds no text, and times that are none as 0', async () => {
    await expect(heardBy(dialect, 'scribe_v2', {}, [{ body: { words: [] } }])).rejects.toMatchObject({
      failure: { kind: 'bad_response' },
    });
    const odd = {
      text: 'a',
      words: [{ type: 'word', text: 'a', start: -1, end: 'x' }],
      audio_duration_secs: 1e300,
    };
    const { transcript } = await heardBy(dialect, 'scribe_v2', {}, [{ body: odd }]);
    expect(transcript).toMatchObject({ seconds: 0, words: [{ start: 0, end: 0, speaker: null }] });
  });
});
