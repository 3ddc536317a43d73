import { atLeast, MOST_BYTES } from './most-bytes.js';

const BOXES_MAX = 10_000;
/** A writer that did not know. */
const UNKNOWN = 0xffffffff;

/** The longer of the movie and its tracks of sound, and no less than their samples are; null of one without a length. */
export function mp4Seconds(data: Buffer): number | null {
  const moov = find(data, 'moov');
  const mvhd = moov && find(moov, 'mvhd');
  if (!mvhd) return null;
  let seconds: number | null = lengthIn(mvhd);
  const tracks = boxesIn(moov, 'trak').map((trak) => find(trak, 'mdia') ?? trak);
  const isSound = (mdia: Buffer): boolean => typeOf(mdia) === 'soun';
  for (const mdia of tracks.filter(isSound)) {
    const mdhd = find(mdia, 'mdhd');
    const table = within(mdia, 'minf', 'stbl');
    const most = codecOf(table) === 'mp4a' ? MOST_BYTES.lossy : MOST_BYTES.lossless;
    seconds = Math.max(seconds, mdhd ? lengthIn(mdhd) : 0);
    seconds = atLeast(seconds, Math.min(sampleBytes(table), data.length), most) ?? 0;
  }
  // What comes in fragments has its samples outside of the movie: without pictures all of the file is sound.
  const hasFragments = find(data, 'moof') !== null;
  return hasFragments && tracks.every(isSound) ? atLeast(seconds, data.length, MOST_BYTES.lossless) : seconds;
}

/** Returns the length in the box of a movie or a medium: both have the same layout. */
function lengthIn(header: Buffer): number {
  const isLong = header[0] === 1;
  const length = isLong ? Number(header.readBigUInt64BE(24)) : header.readUInt32BE(16);
  return !isLong && length === UNKNOWN ? 0 : length / header.readUInt32BE(isLong ? 20 : 12);
}

function typeOf(mdia: Buffer): string {
  return find(mdia, 'hdlr')?.toString('latin1', 8, 12) ?? '';
}

function codecOf(table: Buffer | null): string {
  return (table && find(table, 'stsd'))?.toString('latin1', 12, 16) ?? '';
}

/** Bytes of all samples of a track. */
function sampleBytes(table: Buffer | null): number {
  const stsz = table && find(table, 'stsz');
  if (!stsz) return 0;
  const [each, count] = [stsz.readUInt32BE(4), stsz.readUInt32BE(8)];
  if (each > 0) return each * count;
  const end = Math.min(stsz.length - 3, 12 + 4 * count);
  let bytes = 0;
  for (let at = 12; at < end; at += 4) bytes += stsz.readUInt32BE(at);
  return bytes;
}

function within(data: Buffer, ...names: string[]): Buffer | null {
  let found: Buffer | null = data;
  for (const name of names) found = found && find(found, name);
  return found;
}

function find(data: Buffer, wanted: string): Buffer | null {
  return boxesIn(data, wanted, 1).at(0) ?? null;
}

/** Returns the contents of the boxes of a name, at one level. */
function boxesIn(data: Buffer, wanted: string, most = Infinity): Buffer[] {
  const found: Buffer[] = [];
  for (let at = 0, n = 0; at + 8 <= data.length && n < BOXES_MAX && found.length < most; n += 1) {
    const short = data.readUInt32BE(at);
    const size = short === 1 ? Number(data.readBigUInt64BE(at + 8)) : short === 0 ? data.length - at : short;
    if (size < 8) break;
    if (data.toString('latin1', at + 4, at + 8) === wanted)
      found.push(data.subarray(at + (short === 1 ? 16 : 8), at + size));
    at += size;
  }
  return found;
}
