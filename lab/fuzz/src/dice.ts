import { seededRandom } from '@gateway/testing';

/** Chance of one request: the same seed and number give the same request, whatever was sent before. */
export class Dice {
  private readonly random: ReturnType<typeof seededRandom>;

  constructor(seed: number, n: number) {
    this.random = seededRandom(Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(n + 1, 0xc2b2ae35));
  }

  /** 0 <= x < max, whole. */
  below(max: number): number {
    return Math.floor(this.random.fraction() * max);
  }

  chance(probability: number): boolean {
    return this.random.fraction() < probability;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)];
  }
}
