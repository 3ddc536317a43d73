import { atLeast, MOST_BYTES } from './most-bytes.js';

const BLOCKS_MAX = 10_000;
/** Frames of noise are a little longer than its samples. */
const OVERHEAD = 1.05;

/** STREAMINFO is always the first block. */
export function flacSeconds(data: Buffer): number | null {
  const rate = (data[18] << 12) | (data[19] << 4) | (data[20] >> 4);
  const channels = ((data[20] >> 1) & 7) + 1;
  const bits = (((data[20] & 1) << 4) | (data[21] >> 4)) + 1;
  const samples = (data[21] & 0x0f) * 2 ** 32 + data.readUInt32BE(22);
  const raw = (rate * channels * bits * OVERHEAD) / 8;
  return atLeast(samples / rate, soundBytes(data), Math.min(raw, MOST_BYTES.flac));
}

/** Returns the bytes after the metadata blocks, of which a picture may be one. */
function soundBytes(data: Buffer): number {
  let at = 4;
  for (let n = 0; n < BLOCKS_MAX && at + 4 <= data.length; n += 1) {
    const isLast = data[at] >= 0x80;
    at += 4 + data.readUIntBE(at + 1, 3);
    if (isLast) break;
  }
  return Math.max(0, data.length - at);
}
