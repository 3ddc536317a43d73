import { startUpstreamSim, type UpstreamSim } from '../upstream-sim.js';

describe('simulated speech', () => {
  let sim: UpstreamSim;

  beforeAll(async () => {
    sim = await startUpstreamSim();
  });
  afterAll(() => sim.close());

  interface Spoken {
    status: number;
    type: string;
    counted: string | null;
    bytes: Buffer;
  }

  async function speak(path: string, body: object): Promise<Spoken> {
    const answer = await fetch(`${sim.url}/v1${path}`, {
      method: 'POST',
      headers: { authorization: 'Bearer sim', 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const bytes = Buffer.from(await answer.arrayBuffer());
    const type = answer.headers.get('content-type') ?? '';
    return { status: answer.status, type, counted: answer.headers.get('dg-char-count'), bytes };
  }

  it.each([
    [undefined, 'audio/mpeg', 5 * 144],
    ['mp3', 'audio/mpeg', 5 * 144],
    ['wav', 'audio/wav', 44 + 5 * 160],
    ['pcm', 'audio/pcm', 5 * 480 * 2],
    ['opus', 'audio/wav', 44 + 5 * 160],
  ])('of format %s is %s of so many bytes', async (response_format, type, length) => {
    const spoken = await speak('/audio/speech', { model: 'sim-voice', input: 'Hello', response_format });
    expect([spoken.status, spoken.type, spoken.bytes.length]).toEqual([200, type, length]);
    const isWav = spoken.bytes.toString('latin1', 0, 4) === 'RIFF';
    expect(isWav).toBe(type === 'audio/wav');
  });

  it('as MP3 is one frame after the other, each of 144 bytes', async () => {
    const { bytes } = await speak('/audio/speech', { model: 'sim-voice', input: 'Hi' });
    // MPEG-2, layer III, without a checksum; 48 kbit/s, 24 kHz, no padding; one channel: 72 x 48,000 / 24,000 bytes.
    for (const at of [0, 144]) expect(bytes.readUInt32BE(at)).toBe(0xff_f3_64_c0);
  });

  it.each([
    ['/text-to-speech/abc?output_format=pcm_24000', { model_id: 'sim' }, 'audio/pcm', undefined],
    ['/speak?model=aura-2-thalia-en&encoding=linear16&container=wav', {}, 'audio/wav', '5'],
    ['/speak?model=aura-2-thalia-en&encoding=linear16&container=none', {}, 'audio/pcm', '5'],
    ['/tts', { output_format: { codec: 'wav' } }, 'audio/wav', undefined],
    ['/tts', {}, 'audio/mpeg', undefined],
  ])('is that of other providers, too: %s of %j is %s', async (path, more, type, counted) => {
    const spoken = await speak(path, { text: 'Hello', ...more });
    expect([spoken.status, spoken.type, spoken.counted]).toEqual([200, type, counted ?? null]);
    expect((await speak(path, { ...more, text: '' })).status).toBe(400);
  });

  it('takes the keys of ElevenLabs and Deepgram where they put them', async () => {
    for (const headers of [{ 'xi-api-key': 'sim' }, { authorization: 'Token sim' }, {}])
      expect((await fetch(`${sim.url}/v1/tts`, { method: 'POST', headers })).status).toBe(
        Object.keys(headers).length > 0 ? 400 : 401,
      );
  });

  it('400 where there is no text', async () => {
    expect((await speak('/audio/speech', { model: 'sim-voice', input: '' })).status).toBe(400);
  });
});
