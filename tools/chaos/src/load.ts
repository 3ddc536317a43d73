import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '@gateway/contracts';
import { send, type Sent } from './caller.js';
import type { ChaosFleet } from './fleet.js';
import type { Key } from './organization.js';
import { drawWork } from './work.js';

export interface Load {
  fleet: ChaosFleet;
  keys: readonly Key[];
  seed: number;
  requests: number;
  rate: number;
  random: Random;
  /** Told after each begin how many have begun. */
  onBegun(count: number): void;
}

/** As a load balancer has them: a refused connection is tried on the other edge, or again a little later. */
const TRIES = 3;
const TRY_AGAIN_MS = 150;

/** Sends at a steady rate, whether or not answers come, and waits for all of them. */
export async function runLoad(load: Load): Promise<Sent[]> {
  const all: Sent[] = [];
  const running = new Set<Promise<void>>();
  const startMs = performance.now();
  for (let n = 0; n < load.requests; n += 1) {
    const dueMs = startMs + (n * 1_000) / load.rate;
    if (dueMs > performance.now()) await pause(dueMs - performance.now());
    const one = sendUntilTaken(load, n, all).finally(() => running.delete(one));
    running.add(one);
    load.onBegun(n + 1);
  }
  await Promise.all(running);
  return all;
}

async function sendUntilTaken(load: Load, n: number, all: Sent[]): Promise<void> {
  const { fleet, keys, seed, random } = load;
  const work = drawWork(n, random);
  const key = keys[n % keys.length];
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const edge = fleet.edges[(n + attempt) % fleet.edges.length];
    const to = {
      url: edge.url,
      edge: edge.name,
      key: key.secret,
      keyId: key.id,
      tag: `${seed}-${n}-${attempt}`,
    };
    const sent = await send(work, to);
    all.push(sent);
    // Nothing came back: whether it was taken is not known, so it is another request, and may be charged as one.
    if (sent.status !== 0 || !sent.fault.startsWith('connection')) return;
    await pause(TRY_AGAIN_MS);
  }
}
