import { atLeast, MOST_BYTES } from './most-bytes.js';

const CAPTURE = Buffer.from('OggS');
const HEAD_BYTES = 27;
/** Number of pages of 20 ms that the size limit admits. */
const PAGES_MAX = 400_000;
/** Opus always counts at 48 kHz. */
const OPUS_RATE = 48_000;
const IS_FIRST = 2;

/** One recording in the file; several may follow each other. */
interface Stream {
  rate: number;
  /** Samples before its first one. */
  skipped: number;
  /** Samples up to the end of the page that says most. */
  samples: number;
}

/** Returns the samples of each stream up to the last of its pages; null for what is neither Opus nor Vorbis. */
export function oggSeconds(data: Buffer): number | null {
  const streams = new Map<number, Stream>();
  let at = data.indexOf(CAPTURE);
  for (let n = 0; n < PAGES_MAX && at >= 0 && at + HEAD_BYTES <= data.length; n += 1) {
    const body = at + HEAD_BYTES + data[at + 26];
    const serial = data.readUInt32LE(at + 14);
    if ((data[at + 5] & IS_FIRST) !== 0 && !streams.has(serial)) {
      const begun = streamAt(data, body);
      if (begun !== null) streams.set(serial, begun);
    }
    const stream = streams.get(serial);
    if (stream) stream.samples = Math.max(stream.samples, samplesAt(data, at + 6));
    at = data.indexOf(CAPTURE, at + HEAD_BYTES);
  }
  if (streams.size === 0) return null;
  let seconds = 0;
  for (const { rate, samples, skipped } of streams.values()) seconds += Math.max(0, samples - skipped) / rate;
  return atLeast(seconds, data.length, MOST_BYTES.lossy);
}

function samplesAt(data: Buffer, at: number): number {
  return data.readInt32LE(at + 4) * 2 ** 32 + data.readUInt32LE(at);
}

function streamAt(data: Buffer, at: number): Stream | null {
  const name = data.toString('latin1', at, at + 8);
  if (name === 'OpusHead') return { rate: OPUS_RATE, skipped: data.readUInt16LE(at + 10), samples: 0 };
  if (name.startsWith('\x01vorbis')) return { rate: data.readUInt32LE(at + 12), skipped: 0, samples: 0 };
  return null;
}
