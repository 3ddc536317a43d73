import { base64Of, bytesOf, dataUrlOf, extensionOf, pictureOf } from './picture.js';

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');
const png = hex('89504e470d0a1a0a 0000000d49484452 00000140 000000f0');
/** A comment of four bytes, a fill byte, tables that are no frame (DHT, JPG, DAC), then a frame of 320 x 240. */
const jpeg = (frame: string): Buffer =>
  hex(`ffd8 fffe 0004 6162 ff ffc4 0003 00 ffc8 0002 ffcc 0003 01 ${frame} 0011 08 00f0 0140 03 000000`);
const webp = (kind: string, rest: string): Buffer =>
  Buffer.concat([Buffer.from('RIFF'), Buffer.alloc(4), Buffer.from(`WEBP${kind}`), hex(rest)]);

describe('an image by its own bytes', () => {
  it.each([
    ['png', png, 'image/png'],
    ['jpeg, baseline', jpeg('ffc0'), 'image/jpeg'],
    ['jpeg, the last kind of frame', jpeg('ffcf'), 'image/jpeg'],
    ['webp, extended', webp('VP8X', `0a000000 10000000 ${'3f0100'} ${'ef0000'}`), 'image/webp'],
    // 14 bits of width less one, 14 of height less one.
    ['webp, lossless', webp('VP8L', '00000000 2f 3fc13b00 0000000000'), 'image/webp'],
    ['webp, lossy', webp('VP8 ', '00000000 000000 9d012a 4041 f0c0'), 'image/webp'],
  ])('has type and size: %s', (_name, bytes, mediaType) => {
    expect(pictureOf(bytes)).toEqual({ bytes, mediaType, width: 320, height: 240 });
  });

  it.each([
    ['a png that ends before its size', png.subarray(0, 23)],
    ['a jpeg without a frame', hex('ffd8 ffda 0004 0000 ffd9 000000000000000000')],
    ['a jpeg whose segments are none', hex('ffd8ff00 0002 00 0140 00f0 000000000000')],
    ['a webp that ends before its size', webp('VP8X', '0a000000 10000000 3f0100 ef00')],
    ['a webp of another kind', webp('ALPH', '0a000000 10000000 3f0100 ef0000')],
  ])('has no size: %s', (_name, bytes) => {
    expect(pictureOf(bytes)).toMatchObject({ width: 0, height: 0 });
  });

  it('is none where the first bytes are of nothing else', () => {
    for (const bytes of [
      hex('89504e470d0a1a00'),
      hex('ffd8ff'),
      hex('ffd800ff'),
      hex('ff00ffff'),
      hex('00d8ffff'),
      Buffer.from('RIFF....WAVE'),
      Buffer.from('RIFX....WEBP'),
      Buffer.alloc(0),
    ])
      expect(pictureOf(bytes)).toBeNull();
  });

  it('names the extension of a file, and is its own bytes in base64', () => {
    expect(
      [png, jpeg('ffc0'), webp('VP8X', '00'), Buffer.from('GIF89a'), Buffer.from('text')].map(extensionOf),
    ).toEqual(['png', 'jpg', 'webp', 'gif', 'bin']);
    const within = Buffer.concat([Buffer.from('ab'), png, Buffer.from('cd')]).subarray(2, 2 + png.length);
    const picture = pictureOf(new Uint8Array(within.buffer, within.byteOffset, within.byteLength));
    if (picture === null) throw new Error('it is a png');
    expect(base64Of(picture)).toBe(png.toString('base64'));
    expect(dataUrlOf(picture)).toBe(`data:image/png;base64,${png.toString('base64')}`);
    expect(Buffer.from(bytesOf({ base64: png.toString('base64') })).equals(png)).toBe(true);
    expect(bytesOf({ bytes: png })).toBe(png);
    expect(base64Of({ base64: 'YQ==' })).toBe('YQ==');
  });
});
