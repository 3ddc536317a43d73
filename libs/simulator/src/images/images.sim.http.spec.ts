import { inflateSync } from 'node:zlib';
import sharp from 'sharp';
import { startUpstreamSim, type UpstreamSim } from '../upstream-sim.js';

interface Answer {
  created: number;
  data: { b64_json: string }[];
  size: string;
  quality: string;
  usage?: Record<string, unknown>;
}

describe('simulated images', () => {
  let sim: UpstreamSim;

  beforeAll(async () => {
    sim = await startUpstreamSim();
  });
  afterAll(() => sim.close());

  async function generate(body: object): Promise<{ status: number; json: Answer }> {
    const answer = await fetch(`${sim.url}/v1/images/generations`, {
      method: 'POST',
      headers: { authorization: 'Bearer sim', 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: answer.status, json: (await answer.json()) as Answer };
  }

  it('are as many as asked for, each a PNG, with size and tokens', async () => {
    const { json } = await generate({ model: 'sim-image', prompt: 'A red fox', n: 2, quality: 'low' });
    expect(json).toMatchObject({
      size: '1024x1024',
      quality: 'low',
      usage: { input_tokens: 3, output_tokens: 544, total_tokens: 547 },
    });
    expect(json.data).toHaveLength(2);
    const png = Buffer.from(json.data[0].b64_json, 'base64');
    expect(png.subarray(0, 8).toString('latin1')).toBe('\x89PNG\r\n\x1a\n');
    const dataAt = png.indexOf('IDAT');
    // A filter byte a row, and a byte a pixel.
    expect(inflateSync(png.subarray(dataAt + 4, dataAt + 4 + png.readUInt32BE(dataAt - 4)))).toHaveLength(
      1_025 * 1_024,
    );
  });

  it.each<[string, number, number]>([
    ['1536x1024', 1_536, 1_024],
    ['64x48', 64, 48],
    ['auto', 1_024, 1_024],
    ['0x9999', 1_024, 1_024],
  ])('C11 are as large as asked for: %s', async (size, width, height) => {
    const { json } = await generate({ model: 'sim-image', prompt: 'A red fox', size });
    const png = Buffer.from(json.data[0].b64_json, 'base64');
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([width, height]);
    expect(await sharp(png).metadata()).toMatchObject({ format: 'png', width, height });
  });

  it('C11 are born when the clock says, as chat answers and responses are; without a clock always at one time', async () => {
    let nowMs = 1_800_000_000_000;
    const timed = await startUpstreamSim({ now: () => nowMs });
    const asked = { model: 'sim-chat', messages: [{ role: 'user', content: 'Hi' }] };
    const bornOf = async (path: string, body: object): Promise<number> => {
      const answer = await fetch(`${timed.url}/v1${path}`, {
        method: 'POST',
        headers: { authorization: 'Bearer sim', 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      const { created, created_at } = (await answer.json()) as { created: number; created_at: number };
      return created ?? created_at;
    };
    for (const now of [1_800_000_000, 1_800_000_001]) {
      nowMs = now * 1_000;
      expect(await bornOf('/chat/completions', asked)).toBe(now);
      expect(await bornOf('/responses', { model: 'sim-chat', input: 'Hi' })).toBe(now);
      expect(await bornOf('/images/generations', { model: 'sim-image', prompt: 'a' })).toBe(now);
    }
    await timed.close();
    const [first, second] = [await generate({ prompt: 'a' }), await generate({ prompt: 'a' })];
    expect(first.json.created).toBe(second.json.created);
  });

  it('are counted as a script says', async () => {
    const scripted = await generate({ model: 'sim-image:prompt=50;completion=4160', prompt: 'a' });
    expect(scripted.json.usage).toMatchObject({ input_tokens: 50, output_tokens: 4_160 });
    const uncounted = await generate({ model: 'sim-image:usage=none', prompt: 'a' });
    expect(uncounted.json).not.toHaveProperty('usage');
  });

  it('are base64 where it is asked for of a model that makes addresses otherwise', async () => {
    const asked = { model: 'sim-picture', prompt: 'a' };
    expect((await generate({ ...asked, response_format: 'b64_json' })).status).toBe(200);
    expect((await generate({ ...asked, response_format: 'url' })).status).toBe(400);
  });

  it('refuse a missing prompt and the parameter that today’s models refuse', async () => {
    expect((await generate({ model: 'sim-image' })).status).toBe(400);
    const formatted = await generate({ model: 'sim-image', prompt: 'a', response_format: 'b64_json' });
    expect(formatted).toMatchObject({
      status: 400,
      json: { error: { code: 'unknown_parameter', param: 'response_format' } },
    });
  });
});
