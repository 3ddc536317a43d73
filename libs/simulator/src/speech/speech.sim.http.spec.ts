import { startUpstreamSim, type UpstreamSim } from '../upstream-sim.js';

describe('simulated speech', () => {
  let sim: UpstreamSim;

  beforeAll(async () => {
    sim = await startUpstreamSim();
  });
  afterAll(() => sim.close());

  async function speak(path: string, body: object): Promise<{ status: number; type: string; bytes: Buffer }> {
    const answer = await fetch(`${sim.url}/v1${path}`, {
      method: 'POST',
      headers: { authorization: 'Bearer sim', 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const bytes = Buffer.from(await answer.arrayBuffer());
    return { status: answer.status, type: answer.headers.get('content-type') ?? '', bytes };
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

  it('400 where there is no text', async () => {
    expect((await speak('/audio/speech', { model: 'sim-voice', input: '' })).status).toBe(400);
  });
});
