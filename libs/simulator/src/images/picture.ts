import { crc32, deflateSync } from 'node:zlib';

const SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
/** Sky, sun, and ground, three bytes each. */
const PALETTE = Buffer.from([0x8e, 0xc5, 0xe8, 0xf6, 0xd3, 0x4a, 0x6b, 0x8f, 0x4e]);
const [SKY, SUN, GROUND] = [0, 1, 2];
const SIDE_MAX = 4_096;
const USUAL = 1_024;
const KEPT_MAX = 16;
const kept = new Map<string, string>();

/** Returns a PNG of that size (`1024x1024`) in base64: a sun over a meadow, the same for each size. */
export function picture(size: string): string {
  const known = kept.get(size);
  if (known !== undefined) return known;
  const [width, height] = sidesOf(size);
  const drawn = png(width, height).toString('base64');
  if (kept.size >= KEPT_MAX) kept.clear();
  kept.set(size, drawn);
  return drawn;
}

function sidesOf(size: string): [width: number, height: number] {
  const [, width, height] = /^(\d{1,4})x(\d{1,4})$/.exec(size) ?? [];
  const sides = [Number(width), Number(height)];
  return sides.every((side) => side >= 1 && side <= SIDE_MAX) ? [sides[0], sides[1]] : [USUAL, USUAL];
}

function png(width: number, height: number): Buffer {
  // A filter byte before the pixels of each row, of one byte each.
  const rows = Buffer.alloc((width + 1) * height);
  const radius = Math.min(width, height) / 6;
  for (let y = 0; y < height; y += 1) {
    const from = y * (width + 1) + 1;
    rows.fill(y < height * 0.7 ? SKY : GROUND, from, from + width);
    const half = Math.sqrt(Math.max(0, radius ** 2 - (y - height / 3) ** 2));
    const [left, right] = [width / 2 - half, width / 2 + half].map(Math.round);
    if (half > 0) rows.fill(SUN, from + left, from + right);
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  // Eight bits a pixel, each a place of the palette.
  head.set([8, 3, 0, 0, 0], 8);
  const data = deflateSync(rows, { level: 1 });
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', head),
    chunk('PLTE', PALETTE),
    chunk('IDAT', data),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}
