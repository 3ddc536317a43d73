import { UpstreamError } from '@gateway/contracts';
import { heardBy } from '../transcriptions.fixture.js';
import { dialect } from './assemblyai.dialect.js';

const upload = { body: { upload_url: 'https://cdn.assemblyai.com/upload/1' } };
const queued = { body: { id: 'tr-1', status: 'queued' } };
const done = {
  body: {
    id: 'tr-1',
    status: 'completed',
    language_code: 'en_us',
    text: 'Hello you.',
    audio_duration: 12,
    words: [
      { text: 'Hello', start: 250, end: 650, speaker: 'A' },
      { text: 'you.', start: 730, end: 1_022, speaker: 'A' },
    ],
  },
};

describe('transcriptions of AssemblyAI', () => {
  it('AUD-05 leaves the recording there, begins a task and looks at it until it has ended', async () => {
    const { calls, transcript } = await heardBy(dialect, 'universal-2', {}, [
      upload,
      queued,
      { body: { id: 'tr-1', status: 'processing' } },
      done,
    ]);
    expect(calls.sent.map(({ method, at }) => [method, at])).toEqual([
      ['POST', '/v2/upload'],
      ['POST', '/v2/transcript'],
      ['GET', '/v2/transcript/tr-1'],
      ['GET', '/v2/transcript/tr-1'],
    ]);
    expect(calls.sent[0]).toMatchObject({
      contentType: 'application/octet-stream',
      body: Buffer.from('RIFFsound'),
    });
    expect(calls.sent[1].json).toEqual({
      audio_url: 'https://cdn.assemblyai.com/upload/1',
      speech_models: ['universal-2'],
      language_detection: true,
    });
    expect(calls.noted).toEqual(['tr-1']);
    expect(calls.sleptMs).toEqual([1_000, 1_000]);
    expect(transcript).toEqual({
      text: 'Hello you.',
      language: 'en_us',
      seconds: 12,
      words: [
        { text: 'Hello', start: 0.25, end: 0.65, speaker: 'A' },
        { text: 'you.', start: 0.73, end: 1.022, speaker: 'A' },
      ],
      segments: [{ text: 'Hello you.', start: 0.25, end: 1.022, speaker: 'A' }],
    });
  });

  it('AUD-06 names language, words, prompt, temperature and speakers', async () => {
    const fields: [string, string][] = [
      ['language', 'fr'],
      ['temperature', '0.5'],
      ['prompt', 'A meeting.'],
      ['keywords[]', 'Zod'],
    ];
    const { calls } = await heardBy(dialect, 'universal-3-5-pro', { format: 'diarized_json', fields }, [
      upload,
      queued,
      done,
    ]);
    expect(calls.sent[1].json).toEqual({
      audio_url: 'https://cdn.assemblyai.com/upload/1',
      speech_models: ['universal-3-5-pro'],
      language_code: 'fr',
      speaker_labels: true,
      temperature: 0.5,
      prompt: 'A meeting.',
      keyterms_prompt: ['Zod'],
    });
  });

  it.each([
    ['Audio file could not be decoded', 'invalid_recording', 400],
    ['Something broke inside', 'server_error', 500],
  ])('says why a task ended without a text: %s', async (error, code, status) => {
    const failed = { body: { id: 'tr-1', status: 'error', error } };
    await expect(heardBy(dialect, 'universal-2', {}, [upload, queued, failed])).rejects.toMatchObject({
      failure: { kind: 'in_band', status, body: { error: { code, message: error } } },
    });
  });

  it('survives a look that fails, and takes no id for a path', async () => {
    const busy = new UpstreamError({
      code: 'upstream_error',
      message: 'busy',
      httpStatus: 503,
      retryable: true,
    } as ConstructorParameters<typeof UpstreamError>[0]);
    const { transcript } = await heardBy(dialect, 'universal-2', {}, [upload, queued, busy, done]);
    expect(transcript.text).toBe('Hello you.');
    const hostile = { body: { id: '../../v2/account' } };
    await expect(heardBy(dialect, 'universal-2', {}, [upload, hostile])).rejects.toMatchObject({
      failure: { kind: 'bad_response' },
    });
  });
});
