import type { Quirks } from '../../translation/translation.js';
import type { Json } from '../upstream-requests.fixture.js';
import { eventFrame } from '../upstream-streams.fixture.js';

/** An answer of an upstream: plain, or the bytes of its stream. */
export type GoldenAnswer = { plain: Json } | { stream: Uint8Array };
export interface GoldenDialect {
  answers: Readonly<Record<string, GoldenAnswer>>;
  quirks?: Quirks;
  toolNames?: Readonly<Record<string, string>>;
}

export const plain = (body: Json): GoldenAnswer => ({ plain: body });
const bytes = (parts: readonly (Uint8Array | string)[]): Uint8Array =>
  Buffer.concat(parts.map((part) => Buffer.from(part)));
const json = (frame: Json | string): string => (typeof frame === 'string' ? frame : JSON.stringify(frame));

/** Server-sent events of data alone. */
export const sse = (...frames: (Json | string)[]): GoldenAnswer => ({
  stream: bytes(frames.map((frame) => `data: ${json(frame)}\n\n`)),
});
/** The same with their types as names. */
export const typed = (...frames: (Json | string)[]): GoldenAnswer => ({
  stream: bytes(
    frames.map((frame) =>
      typeof frame === 'string'
        ? `data: ${frame}\n\n`
        : `event: ${String(frame.type)}\ndata: ${JSON.stringify(frame)}\n\n`,
    ),
  ),
});
/** A line each. */
export const lines = (...frames: (Json | string)[]): GoldenAnswer => ({
  stream: bytes(frames.map((frame) => `${json(frame)}\n`)),
});
/** Frames of Amazon's event stream. */
export const binary = (...frames: (Json | Uint8Array)[]): GoldenAnswer => ({
  stream: bytes(frames.map((frame) => (frame instanceof Uint8Array ? frame : eventFrame(frame)))),
});
/** Longer than any event may be. */
export const ENDLESS: GoldenAnswer = { stream: Buffer.alloc(33 * 1_048_576, 'a') };

/** One answer for each of the words with which a provider ends one. */
export function finishes(
  words: readonly string[],
  answer: (word: string) => GoldenAnswer,
): Record<string, GoldenAnswer> {
  return Object.fromEntries(words.map((word) => [`ends with ${word}`, answer(word)]));
}
