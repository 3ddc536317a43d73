import type { Random } from '@gateway/contracts';
import { drawFaults, PARTS, type Fault, type FaultMix } from './fault-plan.js';

/** The part that is killed in a run: one of these, or any of them in turn. */
export interface Case {
  what: string;
  edges: number;
  /** Requests sent per second. */
  rate: number;
  faults(requests: number, random: Random): Fault[];
  /** The callers must notice nothing. */
  isInvisible: boolean;
  /** Faults of the network instead of processes: between the parts lie TCP proxies. */
  hasProxies: boolean;
  /** The books are right before what was killed comes back. */
  isSettledWhileAway: boolean;
  /** Settings of every process. */
  env?: Readonly<Record<string, string>>;
  /** It has a course of its own (courses.ts) instead of a load with faults, and a fleet of its own. */
  isAlone?: true;
  /** The simulated provider in place of the one whose usage requests order: it makes videos and responses. */
  isSimulated?: true;
  /** Edges read CLOCK_BEHIND_OF and CLOCK_BEHIND_MS. */
  hasWrongClock?: true;
  /** The journals lie on a disk of 64 MiB of their own. */
  hasSmallDisk?: true;
  /** It fails where the memory of a process grows all the way. */
  isSoak?: true;
  /** Number of requests, instead of 200. */
  requests?: number;
}

const drawn =
  (mix: FaultMix): Case['faults'] =>
  (requests, random) =>
    drawFaults(requests, mix, random);
const short = { forMsMin: 100, forMsMax: 1_500 };
const plain = {
  edges: 1,
  rate: 25,
  isInvisible: false,
  hasProxies: false,
  isSettledWhileAway: false,
} as const;

export const CASES: Readonly<Record<string, Case>> = {
  B01: {
    ...plain,
    what: 'the edge killed at any moment, in mid-stream too',
    faults: drawn({ count: 3, parts: ['edge-0'], stops: 0, ...short }),
  },
  B02: {
    ...plain,
    what: 'the usage service killed',
    isInvisible: true,
    faults: drawn({ count: 3, parts: ['usage'], stops: 20, ...short }),
  },
  B03: {
    ...plain,
    what: 'PostgreSQL and the usage service killed',
    faults: drawn({ count: 3, parts: ['postgres', 'usage', 'postgres'], stops: 10, ...short }),
  },
  B04: {
    ...plain,
    what: 'Kafka stopped, then killed',
    isInvisible: true,
    faults: (requests, random) => [
      {
        afterRequests: Math.floor(requests * (0.05 + 0.2 * random.fraction())),
        part: 'kafka',
        how: 'stop_then_kill',
        forMs: 6_000,
      },
    ],
  },
  B08: {
    ...plain,
    what: 'the disk of the journal filled to its last byte, and emptied',
    faults: () => [],
    isAlone: true,
    hasSmallDisk: true,
  },
  B18: {
    ...plain,
    what: 'soak: kills of an edge, the usage service and Kafka; memory comes to a rest',
    edges: 2,
    // The other edge lives from the beginning to the end, and its memory is judged.
    faults: drawn({ count: 3, parts: ['edge-0', 'usage', 'kafka'], stops: 20, ...short }),
    isSoak: true,
  },
  heir: {
    ...plain,
    what: 'an edge killed that does not come back for long: the other takes its journal over',
    edges: 2,
    isSettledWhileAway: true,
    faults: (requests, random) => [
      {
        afterRequests: Math.floor(requests * (0.3 + 0.6 * random.fraction())),
        part: random.fraction() < 0.5 ? 'edge-0' : 'edge-1',
        how: 'kill',
        forMs: 130_000,
      },
    ],
  },
  net: {
    ...plain,
    what: 'slow, cut, stalled and trickling connections between the parts',
    hasProxies: true,
    faults: () => [],
  },
  K04: {
    ...plain,
    what: 'keys deleted while four edges serve them, nothing broken',
    edges: 4,
    rate: 50,
    faults: () => [],
    // As for R01: while Redis is too late an edge may serve a key for a second after it was confirmed.
    env: { EDGE_REPLICAS: '4', REDIS_COMMAND_TIMEOUT_MS: '5000' },
    isAlone: true,
  },
  K07: {
    ...plain,
    what: 'the keys service away',
    edges: 2,
    rate: 50,
    faults: () => [],
    env: { EDGE_REPLICAS: '2' },
    isAlone: true,
  },
  W01: {
    ...plain,
    what: 'workers and edges killed while videos, batches and background responses are under way',
    faults: () => [],
    isSimulated: true,
    env: { WORKERS_LEASE_MS: '2000' },
  },
  clock: {
    ...plain,
    what: 'the wall clock of one of two edges 31 days behind',
    edges: 2,
    faults: () => [],
    env: { CLOCK_BEHIND_OF: 'edge-1', CLOCK_BEHIND_MS: String(31 * 86_400_000), EDGE_REPLICAS: '2' },
    isAlone: true,
    hasWrongClock: true,
  },
  streams: {
    ...plain,
    what: '--requests (2,000) streams at once over two edges, nothing broken',
    edges: 2,
    requests: 2_000,
    faults: () => [],
    env: { EDGE_REPLICAS: '2', REDIS_COMMAND_TIMEOUT_MS: '5000' },
    isAlone: true,
  },
  R01: {
    ...plain,
    what: 'a limit of --requests (20,000) a minute over four edges, nothing broken',
    edges: 4,
    requests: 20_000,
    faults: () => [],
    // What is exact is so by Redis: on a machine that stands still the local share must not step in.
    env: { EDGE_REPLICAS: '4', REDIS_COMMAND_TIMEOUT_MS: '5000' },
    isAlone: true,
  },
  any: {
    ...plain,
    what: 'anything killed or stopped',
    edges: 2,
    faults: drawn({ count: 4, parts: PARTS, stops: 25, ...short }),
  },
};
