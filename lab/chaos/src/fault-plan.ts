import type { Random } from '@gateway/contracts';

/** Parts that can be killed. */
export const PARTS = [
  'edge-0',
  'edge-1',
  'keys',
  'catalogue',
  'usage',
  'notifications',
  'workers',
  'kafka',
  'redis',
  'postgres',
] as const;
export type Part = (typeof PARTS)[number];

/** One fault of a schedule; the part comes back after `forMs`. */
export interface Fault {
  /** Begins when so many requests of the seed have been sent. */
  afterRequests: number;
  part: Part;
  /** SIGKILL; SIGSTOP; SIGSTOP for the first half of the time and SIGKILL then. */
  how: 'kill' | 'stop' | 'stop_then_kill';
  forMs: number;
}

/** Shares of one draw: what is drawn, how often, and for how long. */
export interface FaultMix {
  /** Faults of one seed. */
  count: number;
  parts: readonly Part[];
  /** Number of stops in a hundred. */
  stops: number;
  forMsMin: number;
  forMsMax: number;
}

/** Faults over the middle of the load: the same for the same numbers. In the order of their begin. */
export function drawFaults(requests: number, mix: FaultMix, random: Random): Fault[] {
  const upTo = (most: number): number => Math.floor(random.fraction() * most);
  const faults = Array.from({ length: mix.count }, (): Fault => {
    const afterRequests = Math.floor(requests * (0.05 + 0.8 * random.fraction()));
    const part = mix.parts[upTo(mix.parts.length)];
    const how = upTo(100) < mix.stops ? 'stop' : 'kill';
    return { afterRequests, part, how, forMs: mix.forMsMin + upTo(mix.forMsMax - mix.forMsMin) };
  });
  return faults.sort((a, b) => a.afterRequests - b.afterRequests);
}
