import { setTimeout as pause } from 'node:timers/promises';
import { send, type Sent } from './caller.js';
import type { Key } from './organization.js';
import type { Run } from './run-seed.js';
import { plainWork } from './work.js';

/** A sending and when it began, on the monotonic clock. */
export interface Timed {
  beganMs: number;
  sent: Sent;
}

export interface SteadyLoad {
  /** Resolves with everything sent, once the last answer is there; it is in the run's history then. */
  stop(): Promise<Timed[]>;
}

const TICK_MS = 5;

/** Sends so many plain requests a second on each edge, whatever becomes of them. */
export function steadyLoad({ fleet, history }: Run, key: Key, tag: string, perSecond: number): SteadyLoad {
  const sending: Promise<Timed>[] = [];
  let isOver = false;
  const begin = (at: number, n: number): void => {
    const { name: edge, url } = fleet.edges[at];
    const beganMs = performance.now();
    const to = { url, edge, key: key.secret, keyId: key.id, tag: `${tag}-${edge}-${n}` };
    sending.push(send(plainWork(n), to).then((sent) => ({ beganMs, sent })));
  };
  const run = async (): Promise<void> => {
    const startMs = performance.now();
    for (let begun = 0; !isOver; await pause(TICK_MS))
      for (; begun < ((performance.now() - startMs) / 1_000) * perSecond; begun += 1)
        for (let at = 0; at < fleet.edges.length; at += 1) begin(at, begun);
  };
  const running = run();
  return {
    stop: async () => {
      isOver = true;
      await running;
      const all = await Promise.all(sending);
      history.push(...all.map(({ sent }) => sent));
      return all;
    },
  };
}
