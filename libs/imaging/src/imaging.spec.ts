import sharp from 'sharp';
import { Imaging } from './imaging.js';
import { loadImaging } from './load-imaging.js';

const imaging = new Imaging(sharp);
const WHITE = [255, 255, 255];
const BLACK = [0, 0, 0];

type Pixel = readonly number[];

/** A PNG whose pixels say themselves what they are. */
function png(width: number, height: number, pixelAt: (x: number, y: number) => Pixel): Promise<Buffer> {
  const channels = pixelAt(0, 0).length as 3 | 4;
  const data = Buffer.alloc(width * height * channels);
  for (let at = 0; at < width * height; at += 1)
    data.set(pixelAt(at % width, Math.floor(at / width)), at * channels);
  return sharp(data, { raw: { width, height, channels } }).png().toBuffer();
}

async function pixels(image: Uint8Array): Promise<{ at(x: number, y: number): number[]; width: number }> {
  const { space } = await sharp(image).metadata();
  const opened = sharp(image).toColourspace(space === 'b-w' ? 'b-w' : 'srgb');
  const { data, info } = await opened.raw().toBuffer({ resolveWithObject: true });
  const { width, channels } = info;
  return { width, at: (x, y) => [...data.subarray((y * width + x) * channels).subarray(0, channels)] };
}

describe('masks', () => {
  const half = (x: number): Pixel => (x < 4 ? WHITE : BLACK);

  it.each([
    ['white', [255], [0]],
    ['black', [0], [255]],
    ['transparent', [0, 0, 0, 0], [0, 0, 0, 255]],
  ] as const)('IMG-18 white is what is repainted, also for who reads %s so', async (form, edited, kept) => {
    const white = await imaging.mask(await png(8, 8, half), false);
    const found = await pixels(await imaging.maskAs(white, form));
    expect([found.at(0, 0), found.at(3, 7), found.at(4, 0), found.at(7, 7)]).toEqual([
      edited,
      edited,
      kept,
      kept,
    ]);
  });

  it('have two values: greys go to the nearer one', async () => {
    const grey = await png(2, 1, (x) => (x === 0 ? [127, 127, 127] : [128, 128, 128]));
    const found = await pixels(await imaging.mask(grey, false));
    expect([found.at(0, 0), found.at(1, 0)]).toEqual([[0], [255]]);
  });

  it('take what is transparent for black, unless the caller writes holes as OpenAI’s clients do', async () => {
    const holed = await png(2, 1, (x) => (x === 0 ? [255, 255, 255, 0] : [0, 0, 0, 255]));
    const [plain, hole] = await Promise.all([imaging.mask(holed, false), imaging.mask(holed, true)]);
    expect((await pixels(plain)).at(0, 0)).toEqual([0]);
    expect((await pixels(hole)).at(0, 0)).toEqual([255]);
    const opaque = await png(2, 1, (x) => (x === 0 ? [255, 255, 255, 255] : [0, 0, 0, 255]));
    expect((await pixels(await imaging.mask(opaque, true))).at(0, 0)).toEqual([255]);
  });

  it('have a box around what they keep', async () => {
    const framed = await png(10, 8, (x, y) => (x >= 2 && x < 7 && y >= 1 && y < 5 ? BLACK : WHITE));
    expect(await imaging.keptBox(await imaging.mask(framed, false))).toEqual({
      left: 2,
      top: 1,
      width: 5,
      height: 4,
    });
    expect(await imaging.keptBox(await png(2, 2, () => WHITE))).toBeNull();
  });

  it('do not decode what is none', async () => {
    await expect(imaging.mask(Buffer.from('no image'), false)).rejects.toThrow(/unsupported image format/);
  });
});

describe('an answer laid over the original', () => {
  const original = png(32, 32, (x, y) => [x, y, 7]);
  const answer = png(16, 16, () => [200, 100, 50]);
  const square = png(32, 32, (x, y) => (x >= 12 && x < 20 && y >= 12 && y < 20 ? WHITE : BLACK));

  it('IMG-19 changes no pixel outside the mask, and is the answer inside it', async () => {
    const found = await pixels(await imaging.layOver(await original, await answer, await square, 0));
    expect(found.width).toBe(32);
    for (const [x, y] of [
      [0, 0],
      [11, 12],
      [20, 19],
      [31, 31],
    ])
      expect(found.at(x, y)).toEqual([x, y, 7, 255]);
    expect(found.at(12, 12)).toEqual([200, 100, 50, 255]);
    expect(found.at(19, 19)).toEqual([200, 100, 50, 255]);
  });

  it('IMG-19 fades with a feather: whole inside, mixed beside the edge, the original far away', async () => {
    const found = await pixels(await imaging.layOver(await original, await answer, await square, 6));
    expect(found.at(16, 16)).toEqual([200, 100, 50, 255]);
    const [beside] = found.at(21, 16);
    expect(beside).toBeGreaterThan(21);
    expect(beside).toBeLessThan(200);
    expect(found.at(31, 0)).toEqual([31, 0, 7, 255]);
  });

  it('waits its turn', async () => {
    const made = await Promise.all(
      Array.from({ length: 6 }, async () => imaging.layOver(await original, await answer, await square, 2)),
    );
    expect(new Set(made.map((one) => one.toString('base64'))).size).toBe(1);
  });
});

describe('sizes', () => {
  it('are made as wide and as high as asked for', async () => {
    const made = await imaging.resize(await png(4, 4, () => WHITE), 10, 6);
    expect(await sharp(made).metadata()).toMatchObject({ format: 'png', width: 10, height: 6 });
  });
});

describe('the library', () => {
  it('IMG-20 is not there where it cannot be loaded', () => {
    const missing = (): never => {
      throw new Error('Could not load the "sharp" module');
    };
    expect(loadImaging(missing)).toBeNull();
    expect(loadImaging()).toBeInstanceOf(Imaging);
  });
});
