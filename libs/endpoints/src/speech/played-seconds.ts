import { spokenSeconds } from '@gateway/dialects';
import { framesOf, HEAD_BYTES, type FrameReader } from './sound-frames.js';

/** 4 kbit/s: no codec of speech takes less, whatever a head says. */
const LEAST_BYTES_PER_SECOND = 500;
/** Length of a WAV header up to its first sample, as speech providers write it. */
const WAV_HEAD_BYTES = 44;

/**
 * Playing time of a sound whose bytes come in pieces: MP3, AAC and Opus by their frames, WAV by its bytes a second,
 * others by their bytes. Holds the head of a frame at most.
 */
export class PlayedSeconds {
  private framed = 0;
  private bytes = 0;
  private rest = Buffer.alloc(0);
  /** Bytes to come that belong to a frame that has been counted. */
  private ahead = 0;
  /** undefined: its first bytes are not all there. */
  private frames: FrameReader | null | undefined;
  private wavBytesPerSecond = 0;

  /** `format` as the caller named it: what bytes are that do not say it themselves. */
  constructor(private readonly format: string) {}

  add(piece: Uint8Array): void {
    this.bytes += piece.byteLength;
    if (this.frames === null) return;
    const used = Math.min(this.ahead, piece.byteLength);
    this.ahead -= used;
    this.rest = Buffer.concat([this.rest, piece.subarray(used)]);
    this.walk();
  }

  /** Nothing follows: what is left is shorter than the longest head. */
  end(): void {
    if (this.frames === null) return;
    const left = this.rest.length;
    this.rest = Buffer.concat([this.rest, Buffer.alloc(HEAD_BYTES)]);
    this.walk(left);
  }

  get seconds(): number {
    return Math.min(this.said(), this.bytes / LEAST_BYTES_PER_SECOND);
  }

  private said(): number {
    if (this.framed > 0) return this.framed;
    if (this.wavBytesPerSecond > 0) return Math.max(0, this.bytes - WAV_HEAD_BYTES) / this.wavBytesPerSecond;
    return spokenSeconds(this.format, this.bytes);
  }

  /** Counts the frames that begin in the rest, before `end`. */
  private walk(end = this.rest.length): void {
    const { rest } = this;
    if (rest.length < HEAD_BYTES) return;
    if (this.frames === undefined) this.begin(rest);
    const { frames } = this;
    let at = 0;
    while (frames && at < end && at + HEAD_BYTES <= rest.length) {
      const frame = frames(rest, at);
      this.framed += frame?.seconds ?? 0;
      at += frame?.bytes ?? 1;
    }
    this.ahead = Math.max(0, at - rest.length);
    this.rest = rest.subarray(frames ? at : rest.length);
  }

  private begin(head: Buffer): void {
    this.frames = framesOf(head);
    const isWav = head.toString('latin1', 0, 4) === 'RIFF' && head.toString('latin1', 8, 16) === 'WAVEfmt ';
    if (isWav) this.wavBytesPerSecond = head.readUInt32LE(28);
  }
}
