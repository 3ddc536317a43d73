import type { Random } from '@gateway/contracts';

/** The same numbers for the same seed (mulberry32). Never for secrets. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  return {
    bytes: (size) => Uint8Array.from({ length: size }, () => next() & 0xff),
    fraction: () => next() / 2 ** 32,
  };
}
