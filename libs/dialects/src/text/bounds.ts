import { createHash } from 'node:crypto';
import { memberAsWritten } from '@gateway/json-body';
import type { ModelRequest } from './model-request.js';

/** Range of the widest of the upstreams' seeds: a positive integer of 31 bits. */
const SEEDS = 2 ** 31;

/** The value, or the nearest that the upstream takes: its scale has the same meaning and ends earlier. */
export function within(value: number | null, least: number, most: number): number | null {
  return value === null ? null : Math.min(Math.max(value, least), most);
}

/** The seed as the caller wrote it: a double does not hold every integer. Null for none. */
export function seedAsWritten({ body, sampling }: Pick<ModelRequest, 'body' | 'sampling'>): unknown {
  return sampling.seed === null ? null : (memberAsWritten(body.value, 'seed') ?? sampling.seed);
}

/** The seed where it fits, else one that always stands for it. */
export function smallSeed(seed: number | null): number | null {
  if (seed === null || (Number.isInteger(seed) && seed >= 0 && seed < SEEDS)) return seed;
  return ((Math.trunc(seed) % SEEDS) + SEEDS) % SEEDS;
}

/** The end user's id, or its digest (SHA-256, hex) where the upstream takes no id of that length. */
export function shortId(id: string, most: number): string {
  return id.length <= most ? id : createHash('sha256').update(id).digest('hex');
}

/** Sequences that say where to stop. An empty one stops nothing, and some upstreams refuse it. */
export function filledStops(stop: readonly string[]): string[] {
  return stop.filter((one) => one !== '');
}
