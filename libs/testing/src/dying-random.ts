import type { Random } from '@gateway/contracts';

/** Draws of `random` that end after so many, as kill -9 ends a program between two lines. */
export function dyingRandom(random: Random, draws: number): Random {
  let left = draws;
  return {
    bytes: (size) => {
      left -= 1;
      if (left < 0) throw new Error('killed');
      return random.bytes(size);
    },
    fraction: () => random.fraction(),
  };
}
