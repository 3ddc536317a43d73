import { atLeast, MOST_BYTES } from './most-bytes.js';

/** kbit/s by index, of MPEG 1 and of MPEG 2 and 2.5, both layer III. */
const KBPS_1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const KBPS_2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
const RATES = [44_100, 48_000, 32_000];
/** Garbage before the first frame. */
const SEARCH_BYTES = 65_536;
/** Places within what is no frame at which one may begin: what is behind more of them is not looked at. */
const PLACES_MAX = 10_000;

interface Frame {
  /** Its own length, the header included. */
  bytes: number;
  seconds: number;
  bytesPerSecond: number;
  isMono: boolean;
  isMpeg1: boolean;
}

/**
 * Seconds of an MP3: of its frames, each of which says how long it plays, or as many as its first one names, whichever
 * are more. What is no frame counts by the rate of the first one, where that names no number. null = no frame found.
 */
export function mp3Seconds(data: Buffer): number | null {
  const at = firstFrame(data, afterId3(data));
  const frame = at === null ? null : frameAt(data, at);
  if (at === null || frame === null) return null;
  const named = namedFrames(data, at, frame);
  const played = walk(data, named === null ? at : at + frame.bytes);
  const rest = (data.length - at - played.bytes) / frame.bytesPerSecond;
  const seconds = played.seconds + (named === null ? rest : 0);
  return atLeast(Math.max(seconds, (named ?? 0) * frame.seconds), data.length - at, MOST_BYTES.mp3);
}

/** Returns the count of frames that an encoder wrote in a silent frame of its own; null where there is none. */
function namedFrames(data: Buffer, at: number, { isMpeg1, isMono }: Frame): number | null {
  const side = isMpeg1 ? (isMono ? 17 : 32) : isMono ? 9 : 17;
  const tag = at + 4 + side;
  const name = data.toString('latin1', tag, tag + 4);
  const isNamed = (name === 'Xing' || name === 'Info') && (data.readUInt32BE(tag + 4) & 1) === 1;
  return isNamed ? data.readUInt32BE(tag + 8) : null;
}

/** All frames from here on, and how many bytes they are. */
function walk(data: Buffer, from: number): { seconds: number; bytes: number } {
  let seconds = 0;
  let bytes = 0;
  let isInStep = true;
  let places = 0;
  for (let at = from; at >= 0 && at + 4 <= data.length;) {
    const frame = frameAt(data, at);
    // In what is no sound a header may stand by chance, but not one more where its frame would end.
    if (frame !== null && (isInStep || isFollowed(data, at + frame.bytes))) {
      seconds += frame.seconds;
      bytes += frame.bytes;
      at += frame.bytes;
      isInStep = true;
      continue;
    }
    isInStep = false;
    places += 1;
    at = places > PLACES_MAX ? -1 : data.indexOf(0xff, at + 1);
  }
  return { seconds, bytes: Math.min(bytes, data.length - from) };
}

function isFollowed(data: Buffer, at: number): boolean {
  return at === data.length || frameAt(data, at) !== null;
}

/** Returns the offset behind the ID3 tags; a tag longer than the file is none, as players see it. */
function afterId3(data: Buffer): number {
  let at = 0;
  while (data.toString('latin1', at, at + 3) === 'ID3' && data.length - at >= 10) {
    const size = [6, 7, 8, 9].reduce((sum, byte) => sum * 128 + (data[at + byte] & 0x7f), 0);
    if (at + 10 + size > data.length) break;
    at += 10 + size;
  }
  return at;
}

function firstFrame(data: Buffer, start: number): number | null {
  const end = Math.min(data.length - 4, start + SEARCH_BYTES);
  for (let at = start; at < end; at += 1) if (data[at] === 0xff && frameAt(data, at) !== null) return at;
  return null;
}

/** Layer III only: the others are no mp3. */
export function frameAt(data: Buffer, at: number): Frame | null {
  if (data[at] !== 0xff || at + 4 > data.length) return null;
  const second = data[at + 1];
  const third = data[at + 2];
  const version = (second >> 3) & 3;
  const isLayer3 = ((second >> 1) & 3) === 1;
  const rateIndex = (third >> 2) & 3;
  if ((second & 0xe0) !== 0xe0 || version === 1 || !isLayer3 || rateIndex === 3) return null;
  const isMpeg1 = version === 3;
  const kbps = (isMpeg1 ? KBPS_1 : KBPS_2)[third >> 4];
  if (!kbps) return null;
  const rate = RATES[rateIndex] / (isMpeg1 ? 1 : version === 2 ? 2 : 4);
  const samples = isMpeg1 ? 1_152 : 576;
  const bytesPerSecond = kbps * 125;
  const bytes = Math.floor((samples * bytesPerSecond) / rate) + ((third >> 1) & 1);
  const isMono = data[at + 3] >> 6 === 3;
  return { bytes, seconds: samples / rate, bytesPerSecond, isMono, isMpeg1 };
}
