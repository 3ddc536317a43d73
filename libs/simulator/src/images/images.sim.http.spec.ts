import { inflateSync } from 'node:zlib';
import { startUpstreamSim, type UpstreamSim } from '../upstream-sim.js';

interface Answer {
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
    // A filter byte and one pixel of four channels.
    expect(inflateSync(png.subarray(dataAt + 4, dataAt + 4 + png.readUInt32BE(dataAt - 4)))).toHaveLength(5);
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
