import { heardBy } from '../transcriptions.fixture.js';
import { dialect } from './gemini.dialect.js';

const MODEL = 'gemini-3.5-transcribe';
const inlineData = { mimeType: 'audio/wav', data: Buffer.from('RIFFsound').toString('base64') };
const usageMetadata = {
  promptTokenCount: 90,
  candidatesTokenCount: 12,
  promptTokensDetails: [{ modality: 'AUDIO', tokenCount: 80 }],
};
const answer = (parts: object[], more: object = {}): { body: object } => ({
  body: { candidates: [{ content: { parts }, finishReason: 'STOP' }], usageMetadata, ...more },
});

describe('transcriptions of Gemini', () => {
  it('AUD-05 sends the recording alone, and bills its tokens', async () => {
    const { calls, transcript } = await heardBy(dialect, MODEL, {}, [
      answer([{ thought: true, text: 'Hm' }, { text: 'Hello. ' }, { text: 'World.\n' }]),
    ]);
    expect(calls.sent[0]).toMatchObject({
      at: `/models/${MODEL}:generateContent`,
      json: {
        contents: [{ role: 'user', parts: [{ inlineData }] }],
        generationConfig: { audioTranscriptionConfig: {} },
      },
    });
    expect(transcript).toEqual({
      text: 'Hello. World.',
      language: null,
      seconds: null,
      words: [],
      segments: [],
      usage: { prompt_tokens: 90, audio_input_tokens: 80, completion_tokens: 12 },
    });
  });

  it('AUD-06 asks for times and speakers where they are shown', async () => {
    const fields: [string, string][] = [
      ['language', 'de-DE'],
      ['keywords[]', 'BigQuery'],
    ];
    const turn = (speakerLabel: string, word: string, from: string, to: string): object => ({
      audioTranscription: { speakerLabel, words: [{ word, startOffset: from, endOffset: to }] },
    });
    const { calls, transcript } = await heardBy(dialect, MODEL, { format: 'diarized_json', fields }, [
      answer([
        { text: 'Ja nein' },
        turn('spk_1', 'Ja', '0.100s', '0.450s'),
        turn('spk_2', 'nein', '1s', 'x'),
      ]),
    ]);
    expect(calls.sent[0].json).toMatchObject({
      generationConfig: {
        audioTranscriptionConfig: {
          languageCodes: ['de-DE'],
          customVocabulary: ['BigQuery'],
          diarization: true,
          wordTimestamp: true,
        },
      },
    });
    expect(transcript.segments).toEqual([
      { text: 'Ja', start: 0.1, end: 0.45, speaker: 'spk_1' },
      { text: 'nein', start: 1, end: 1, speaker: 'spk_2' },
    ]);
  });

  it.each([
    ['', Buffer.from('ID3tag'), 'audio/mp3'],
    ['application/octet-stream', Buffer.from([0xff, 0xfb, 0x90, 0x64]), 'audio/mp3'],
    ['application/octet-stream', Buffer.from('fLaC'), 'audio/flac'],
    ['application/octet-stream', Buffer.from('OggS'), 'audio/ogg'],
    ['application/octet-stream', Buffer.from('RIFF1234WAVEfmt '), 'audio/wav'],
    ['application/octet-stream', Buffer.from('\0\0\0 ftypM4A '), 'audio/mp4'],
    ['application/octet-stream', Buffer.from([0x1a, 0x45, 0xdf, 0xa3]), 'audio/webm'],
    ['audio/x-m4a', Buffer.from('anything'), 'audio/x-m4a'],
  ])(
    'AUD-05 a recording of type %j goes by what its bytes are (%#)',
    async (contentType, bytes, mimeType) => {
      const file = { field: 'file', filename: 'audio', contentType, bytes };
      const { calls } = await heardBy(dialect, MODEL, { file }, [answer([{ text: 'Hi' }])]);
      expect(calls.sent[0].json).toMatchObject({ contents: [{ parts: [{ inlineData: { mimeType } }] }] });
    },
  );

  it('takes silence for an empty text, and leaves to the estimate what was not counted', async () => {
    const silent = { body: { candidates: [{ content: {}, finishReason: 'STOP' }] } };
    const { transcript } = await heardBy(dialect, MODEL, {}, [silent]);
    expect(transcript).toMatchObject({ text: '', usage: {} });
  });

  it.each([
    [{ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } }, 'in_band'],
    [{ candidates: [{ finishReason: 'SAFETY' }] }, 'in_band'],
    [{}, 'bad_response'],
  ])('says why %j holds no text', async (body, kind) => {
    await expect(heardBy(dialect, MODEL, {}, [{ body }])).rejects.toMatchObject({ failure: { kind } });
  });
});
