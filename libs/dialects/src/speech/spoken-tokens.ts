import type { Piece } from '../translation/translation.js';

const BYTES_PER_TOKEN = 4;
/** Tokens of a second, by OpenAI's price of a minute of speech; Gemini's are 25. */
const TOKENS_PER_SECOND = 20;
/** Bytes of a second of one channel at 24 kHz at most: samples, of which only these formats take less. */
const SAMPLE_BYTES_PER_SECOND = 48_000;
const BYTES_PER_SECOND: ReadonlyMap<string, number> = new Map([
  ['mp3', 20_000],
  ['aac', 16_000],
  ['opus', 16_000],
]);

/** Returns the least playing time of so many bytes of speech. */
export function spokenSeconds(format: string, bytes: number): number {
  return bytes / (BYTES_PER_SECOND.get(format) ?? SAMPLE_BYTES_PER_SECOND);
}

/**
 * Returns the tokens of so many bytes of speech where nobody has counted them, or not yet: of a caller that leaves
 * before the last event, and of an answer without counts. No less than this was heard.
 */
export function spokenTokens(
  format: string,
  bytes: number,
): Required<Pick<Piece, 'deliveredBytes'>> & {
  tokens: number;
} {
  const tokens = Math.ceil(spokenSeconds(format, bytes) * TOKENS_PER_SECOND);
  return { tokens, deliveredBytes: tokens * BYTES_PER_TOKEN };
}
