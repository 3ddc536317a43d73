import { mp3Seconds } from './mp3-duration.js';

/** Containers that the endpoints of speech to text take, by their first bytes. */
export type AudioContainer = 'wav' | 'flac' | 'ogg' | 'mp4' | 'mp3' | 'webm';

/** null where the bytes are none of them. */
export function containerOf(bytes: Uint8Array): AudioContainer | null {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(12, bytes.byteLength)).toString('latin1');
  if (text.startsWith('RIFF') && text.slice(8) === 'WAVE') return 'wav';
  if (text.startsWith('fLaC')) return 'flac';
  if (text.startsWith('OggS')) return 'ogg';
  if (text.slice(4, 8) === 'ftyp') return 'mp4';
  if (text.startsWith('\x1aE\xdf\xa3')) return 'webm';
  // An ID3 tag, or the sync word of a frame.
  if (text.startsWith('ID3') || (bytes[0] === 0xff && (bytes[1] & 0xe0) === 0xe0)) return 'mp3';
  return null;
}

/**
 * Seconds of a recording, read from its headers: what is billed where a provider reports none. null where the headers
 * say nothing, as of a recording that was never finished. Bounded by the number of headers, whatever the bytes.
 */
export function audioSeconds(bytes: Uint8Array): number | null {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const read = { wav, flac, ogg, mp4, mp3: mp3Seconds, webm };
  const container = containerOf(data);
  if (container === null) return null;
  try {
    const seconds = read[container](data);
    return seconds !== null && Number.isFinite(seconds) && seconds > 0 && seconds < SECONDS_MAX
      ? seconds
      : null;
  } catch (failure) {
    // A header that points past the end of the file.
    if (/OUT_OF_(?:RANGE|BOUNDS)$/.test(String((failure as { code?: unknown }).code))) return null;
    throw failure;
  }
}

/** No file within the size limit lasts longer at any usable rate. */
const SECONDS_MAX = 1_000_000;
const HEADERS_MAX = 10_000;

function wav(data: Buffer): number | null {
  let bytesPerSecond = 0;
  for (let at = 12, n = 0; at + 8 <= data.length && n < HEADERS_MAX; n += 1) {
    const name = data.toString('latin1', at, at + 4);
    const size = data.readUInt32LE(at + 4);
    if (name === 'fmt ') bytesPerSecond = data.readUInt32LE(at + 16);
    // A recorder that could not go back wrote 0 or the largest number.
    if (name === 'data') return Math.min(size || Infinity, data.length - at - 8) / bytesPerSecond;
    at += 8 + size + (size % 2);
  }
  return null;
}

/** STREAMINFO is always the first block. */
function flac(data: Buffer): number | null {
  const rate = (data[18] << 12) | (data[19] << 4) | (data[20] >> 4);
  const samples = (data[21] & 0x0f) * 2 ** 32 + data.readUInt32BE(22);
  return samples / rate;
}

/** Samples up to the last page; Opus always counts at 48 kHz. */
function ogg(data: Buffer): number | null {
  const last = data.lastIndexOf('OggS');
  const vorbis = data.subarray(0, 4_096).indexOf('\x01vorbis', 0, 'latin1');
  const opus = data.subarray(0, 4_096).indexOf('OpusHead', 0, 'latin1');
  const samples = Number(data.readBigInt64LE(last + 6));
  if (opus >= 0) return (samples - data.readUInt16LE(opus + 10)) / 48_000;
  return vorbis >= 0 ? samples / data.readUInt32LE(vorbis + 12) : null;
}

/** mvhd in moov, wherever moov stands. */
function mp4(data: Buffer): number | null {
  const moov = box(data, 0, data.length, 'moov');
  const mvhd = moov && box(data, moov.start, moov.end, 'mvhd');
  if (!mvhd) return null;
  const at = mvhd.start;
  return data[at] === 1
    ? Number(data.readBigUInt64BE(at + 24)) / data.readUInt32BE(at + 20)
    : data.readUInt32BE(at + 16) / data.readUInt32BE(at + 12);
}

function box(data: Buffer, from: number, to: number, wanted: string): { start: number; end: number } | null {
  for (let at = from, n = 0; at + 8 <= to && n < HEADERS_MAX; n += 1) {
    const short = data.readUInt32BE(at);
    const size = short === 1 ? Number(data.readBigUInt64BE(at + 8)) : short === 0 ? to - at : short;
    if (size < 8) return null;
    const end = Math.min(to, at + size);
    if (data.toString('latin1', at + 4, at + 8) === wanted)
      return { start: at + (short === 1 ? 16 : 8), end };
    at += size;
  }
  return null;
}

/** Duration of the segment's Info, in its timecode scale. */
function webm(data: Buffer): number | null {
  const head = data.subarray(0, 65_536);
  const duration = head.indexOf(Buffer.from([0x44, 0x89]));
  if (duration < 0) return null;
  const scaleAt = head.indexOf(Buffer.from([0x2a, 0xd7, 0xb1]));
  const scale = scaleAt < 0 ? 1_000_000 : head.readUIntBE(scaleAt + 4, head[scaleAt + 3] & 0x07);
  const is64 = head[duration + 2] === 0x88;
  const ticks = is64 ? head.readDoubleBE(duration + 3) : head.readFloatBE(duration + 3);
  return (ticks * scale) / 1e9;
}
