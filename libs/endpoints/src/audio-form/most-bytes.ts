/**
 * Bytes that a second takes at most: what lasts shorter by its own header is not believed. Of speech a second takes a
 * tenth of it, so that no honest recording comes near.
 */
export const MOST_BYTES = {
  /** 320 kbit/s, the highest rate of its frames. */
  mp3: 40_000,
  /** AAC, Opus and Vorbis: 512 kbit/s. */
  lossy: 64_000,
  /** 48 kHz of 16 bit in two channels, and whatever else is compressed without loss. */
  lossless: 192_000,
  /** 192 kHz of 24 bit in two channels. */
  flac: 1_152_000,
} as const;

/**
 * Returns the header's seconds if so many bytes can be as short, else the least possible. null: the header has none.
 * null: it says nothing.
 */
export function atLeast(seconds: number | null, bytes: number, mostBytesPerSecond: number): number | null {
  return seconds === null || !(seconds > 0) ? null : Math.max(seconds, bytes / mostBytesPerSecond);
}
