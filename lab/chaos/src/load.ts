import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '@gateway/contracts';
import { REFUSED, send, type Sent } from './caller.js';
import type { ChaosFleet } from './fleet.js';
import type { Key } from './organization.js';
import { drawWork } from './work.js';

export interface Load {
  fleet: ChaosFleet;
  keys: readonly Key[];
  /** Begins the tag of each sending. */
  tag: string;
  requests: number;
  rate: number;
  /** The load ends after so long also where fewer could be sent. */
  forMs?: number;
  random: Random;
  /** Called after each begin with how many have begun. */
  onBegun(count: number): void;
}

/** Number of requests under way at which the sender waits: a fleet that is down gets its load when it is back. */
const UNDER_WAY_S = 2;
const UNDER_WAY_MIN = 24;
/** Time for which no edge may listen. As with load balancers, an edge that does not listen is passed over. */
const LISTEN_MS = 60_000;
/** Sendings of one request. One that broke off, or a 503, is sent again, as the same work and another request. */
const SENDINGS = 3;
const AGAIN_MS = 200;

/** Sends at a steady rate as long as answers come, and waits for all of them. */
export async function runLoad(load: Load): Promise<Sent[]> {
  const all: Sent[] = [];
  const running = new Set<Promise<void>>();
  const underWayMax = Math.max(UNDER_WAY_MIN, load.rate * UNDER_WAY_S);
  let dueMs = performance.now();
  const endMs = dueMs + (load.forMs ?? Infinity);
  for (let n = 0; n < load.requests && performance.now() < endMs; n += 1) {
    if (dueMs > performance.now()) await pause(dueMs - performance.now());
    while (running.size >= underWayMax) await Promise.race(running);
    const one = sendUntilTaken(load, n, all).finally(() => running.delete(one));
    running.add(one);
    load.onBegun(n + 1);
    dueMs = Math.max(dueMs, performance.now() - 1_000) + 1_000 / load.rate;
  }
  await Promise.all(running);
  return all;
}

async function sendUntilTaken(load: Load, n: number, all: Sent[]): Promise<void> {
  const { fleet, keys, random } = load;
  const work = drawWork(n, random);
  const { id: keyId, secret: key } = keys[n % keys.length];
  const giveUpMs = performance.now() + LISTEN_MS;
  let sendings = 0;
  for (let turn = n; sendings < SENDINGS; turn += 1) {
    const { url, name: edge } = fleet.edges[turn % fleet.edges.length];
    const sent = await send(work, { url, edge, key, keyId, tag: `${load.tag}-${n}-${sendings}` });
    const isRefused = sent.fault === REFUSED && performance.now() < giveUpMs;
    if (!isRefused) {
      all.push(sent);
      sendings += 1;
    }
    const isOver = sent.isWhole || (sent.status !== 0 && sent.status !== 503) || work.ending !== 'whole';
    if (isOver && !isRefused) return;
    await pause(AGAIN_MS);
  }
}
