import { frameAt } from '../audio-form/mp3-duration.js';

/** A piece of a sound: how long it is, and how long it plays. */
interface SoundFrame {
  readonly bytes: number;
  readonly seconds: number;
}

/** Reads the frame that begins at `at`, of which HEAD_BYTES are there; null: none does. */
export type FrameReader = (data: Buffer, at: number) => SoundFrame | null;

/** The largest head: a page of Ogg with all its lengths, and the begin of what it holds. */
export const HEAD_BYTES = 27 + 255 + 12;

const AAC_RATES = [
  ...[96_000, 88_200, 64_000, 48_000, 44_100, 32_000],
  ...[24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350],
];
const AAC_SAMPLES = 1_024;
const AAC_HEAD_BYTES = 7;
/** Opus always counts at 48 kHz. */
const OPUS_RATE = 48_000;

/** The frames of a sound, by its first bytes; null: it has none that are known here. */
export function framesOf(head: Buffer): FrameReader | null {
  if (head.toString('latin1', 0, 4) === 'OggS') return oggPages();
  if (aacFrame(head, 0) !== null) return aacFrame;
  return head.toString('latin1', 0, 3) === 'ID3' || frameAt(head, 0) !== null ? frameAt : null;
}

/** ADTS. */
function aacFrame(data: Buffer, at: number): SoundFrame | null {
  if (data[at] !== 0xff || (data[at + 1] & 0xf6) !== 0xf0) return null;
  const rate = AAC_RATES[(data[at + 2] >> 2) & 15] ?? 0;
  const bytes = ((data[at + 3] & 3) << 11) | (data[at + 4] << 3) | (data[at + 5] >> 5);
  if (rate === 0 || bytes < AAC_HEAD_BYTES) return null;
  return { bytes, seconds: (AAC_SAMPLES * ((data[at + 6] & 3) + 1)) / rate };
}

/** Opus: each page says how many samples there are up to its end, of which the first ones are not played. */
function oggPages(): FrameReader {
  let samples = 0;
  return (data, at) => {
    if (data.toString('latin1', at, at + 4) !== 'OggS') return null;
    const lengths = data.subarray(at + 27, at + 27 + data[at + 26]);
    const body = at + 27 + lengths.length;
    if (data.toString('latin1', body, body + 8) === 'OpusHead') samples = data.readUInt16LE(body + 10);
    const upTo = data.readUInt32LE(at + 6) + data.readInt32LE(at + 10) * 2 ** 32;
    const more = Math.max(0, upTo - samples);
    samples += more;
    return { bytes: body - at + lengths.reduce((sum, one) => sum + one, 0), seconds: more / OPUS_RATE };
  };
}
