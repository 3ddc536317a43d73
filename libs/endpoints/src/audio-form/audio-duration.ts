import { atLeast, MOST_BYTES } from './most-bytes.js';
import { mp3Seconds } from './mp3-duration.js';
import { mp4Seconds } from './mp4-duration.js';
import { oggSeconds } from './ogg-duration.js';
import { wavSeconds } from './wav-duration.js';
import { webmSeconds } from './webm-duration.js';

/** Containers that the endpoints of speech to text take, by their first bytes. */
export type AudioContainer = 'wav' | 'flac' | 'ogg' | 'mp4' | 'mp3' | 'webm';

/** Null: its headers say nothing. */
const SECONDS_OF: Readonly<Record<AudioContainer, (data: Buffer) => number | null>> = {
  wav: wavSeconds,
  flac: flacSeconds,
  ogg: oggSeconds,
  mp4: mp4Seconds,
  mp3: mp3Seconds,
  webm: webmSeconds,
};

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
 * Seconds of a recording: what is billed where a provider reports none. Read from its headers, which its sender wrote, so
 * never less than its bytes can be (libs/dialects/src/transcriptions/README.md). null where the headers say nothing,
 * as of a recording that was never finished. Bounded by the number of headers, whatever the bytes.
 */
export function audioSeconds(bytes: Uint8Array): number | null {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const container = containerOf(data);
  if (container === null) return null;
  try {
    const seconds = SECONDS_OF[container](data);
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

const BLOCKS_MAX = 10_000;
/** Frames of noise are a little longer than its samples. */
const OVERHEAD = 1.05;

/** STREAMINFO is always the first block. */
function flacSeconds(data: Buffer): number | null {
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
