import { mp4Seconds } from './mp4-seconds.js';

const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const uint64 = (value: bigint): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(value);
  return bytes;
};
const box = (name: string, ...parts: Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  return Buffer.concat([uint32(8 + body.length), Buffer.from(name), body]);
};
/** The same with its length in 64 bits. */
const large = (name: string, body: Buffer): Buffer =>
  Buffer.concat([uint32(1), Buffer.from(name), uint64(BigInt(16 + body.length)), body]);
/** The same that goes to the end of the file. */
const last = (name: string, body: Buffer): Buffer => Buffer.concat([uint32(0), Buffer.from(name), body]);

const header = (scale: number, length: number): Buffer =>
  box('mvhd', Buffer.alloc(12), uint32(scale), uint32(length));
const longHeader = (scale: number, length: bigint): Buffer =>
  box('mvhd', Buffer.from([1]), Buffer.alloc(19), uint32(scale), uint64(length));
const FIVE = header(1_000, 5_250);
const ftyp = box('ftyp', Buffer.from('isom'));

describe('how long an mp4 plays', () => {
  it.each<[string, Buffer, number | null]>([
    ['its header', Buffer.concat([ftyp, box('moov', FIVE)]), 5.25],
    ['a header of 64 bits', box('moov', longHeader(600, 6_000n)), 10],
    ['a header behind others', box('moov', box('trak'), FIVE), 5.25],
    ['a large box', Buffer.concat([large('mdat', Buffer.alloc(3)), large('moov', FIVE)]), 5.25],
    ['a box to the end', Buffer.concat([ftyp, last('moov', FIVE)]), 5.25],
    ['a box that is cut', Buffer.concat([uint32(9_999), Buffer.from('moov'), FIVE]), 5.25],
    ['no scale', box('moov', header(0, 5_250)), null],
    ['a short header', box('moov', box('mvhd', Buffer.alloc(19))), null],
    ['a short header of 64 bits', box('moov', box('mvhd', Buffer.from([1]), Buffer.alloc(30))), null],
    ['no header', box('moov', box('trak')), null],
    ['no box of its own', ftyp, null],
    ['a box of no size', Buffer.concat([uint32(7), Buffer.from('free'), box('moov', FIVE)]), null],
    ['half a large box', Buffer.concat([uint32(1), Buffer.from('moov'), Buffer.alloc(7)]), null],
    [
      'a large box of no size',
      Buffer.concat([uint32(1), Buffer.from('free'), uint64(15n), box('moov', FIVE)]),
      null,
    ],
    ['nothing', Buffer.alloc(0), null],
    ['as many boxes as are looked at', Buffer.concat([...many(999), box('moov', FIVE)]), 5.25],
    ['more of them', Buffer.concat([...many(1_000), box('moov', FIVE)]), null],
  ])('is said by %s', (_name, file, seconds) => {
    expect(mp4Seconds(file)).toBe(seconds);
  });

  it('is read of a part of a larger piece of memory, too', () => {
    const bytes = Buffer.concat([Buffer.alloc(3), box('moov', FIVE)]);
    expect(mp4Seconds(new Uint8Array(bytes.buffer, bytes.byteOffset + 3, bytes.length - 3))).toBe(5.25);
  });
});

function many(count: number): Buffer[] {
  return Array.from({ length: count }, () => box('free'));
}
