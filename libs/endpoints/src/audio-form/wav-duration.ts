import { MOST_BYTES } from './most-bytes.js';

const CHUNKS_MAX = 10_000;
/** Tags of a format. */
const PCM = 1;
const FLOAT = 3;
const A_LAW = 6;
const MU_LAW = 7;
const MP3 = 0x55;
/** The tag stands in the format's extension. */
const EXTENSIBLE = 0xfffe;

/** All chunks of samples: a player goes on with the next one. */
export function wavSeconds(data: Buffer): number | null {
  let bytesPerSecond = 0;
  let bytes = 0;
  for (let at = 12, n = 0; at + 8 <= data.length && n < CHUNKS_MAX; n += 1) {
    const name = data.toString('latin1', at, at + 4);
    const size = data.readUInt32LE(at + 4);
    if (name === 'fmt ' && bytesPerSecond === 0) bytesPerSecond = bytesPerSecondOf(data, at + 8, size);
    // A recorder that could not go back wrote 0 or the largest number.
    if (name === 'data') bytes += Math.min(size || Infinity, data.length - at - 8);
    if (name === 'data' && size === 0) break;
    at += 8 + size + (size % 2);
  }
  return bytes / bytesPerSecond;
}

/** Returns the bytes a second by rate and width of the samples, as a player does, and not by the header's field. */
function bytesPerSecondOf(data: Buffer, at: number, size: number): number {
  const named = data.readUInt16LE(at);
  const tag = named === EXTENSIBLE && size >= 26 ? data.readUInt16LE(at + 24) : named;
  const [channels, rate, said] = [
    data.readUInt16LE(at + 2),
    data.readUInt32LE(at + 4),
    data.readUInt32LE(at + 8),
  ];
  const width = tag === A_LAW || tag === MU_LAW ? 1 : Math.ceil(data.readUInt16LE(at + 14) / 8);
  const samples = rate * channels * width;
  if ([PCM, FLOAT, A_LAW, MU_LAW].includes(tag) && samples > 0) return samples;
  return Math.min(said, tag === MP3 ? MOST_BYTES.mp3 : MOST_BYTES.lossless);
}
