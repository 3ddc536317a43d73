import { setTimeout as pause } from 'node:timers/promises';
import { seededRandom } from '@gateway/testing';
import { readBooks, type Books } from './books.js';
import type { Sent } from './caller.js';
import { FaultRunner } from './faults.js';
import type { ChaosFleet } from './fleet.js';
import { runLoad } from './load.js';
import type { Case } from './cases.js';
import { disturbNetwork } from './network.js';
import type { Options } from './options.js';
import type { Organization } from './organization.js';
import { readHeld, type Held } from './redis-rest.js';

export interface SeedResult {
  seed: number;
  case: string;
  requests: number;
  sent: number;
  whole: number;
  /** Steps taken, in order: `kill usage 700 ms`. */
  schedule: string[];
  /** Number of failures of an answer that callers saw, by its code. */
  faults: Record<string, number>;
  kills: number;
  stops: number;
  /** Time from the end of the load and of the faults until the ledger was right. */
  settledMs: number;
  seconds: number;
  books: Books;
  /** Empty where the seed holds. */
  differences: string[];
}

/** The common part of the seeds of one fleet. */
export interface Run {
  fleet: ChaosFleet;
  organization: Organization;
  options: Options;
  /** Everything sent since the fleet started: the books are of all of it. */
  history: Sent[];
}

/** A consumer's session, a rebalance, the back-off of a producer, and a busy machine. */
const SETTLE_MS = 90_000;
const AGAIN_MS = 250;
/** An edge that died between admission and INTENT leaves a reservation that ends with its lease. */
const LEASE_MS = 100_000;
/** Another edge looks for dead journals every minute. */
const HEIR_MS = 120_000;

export async function runSeed(
  run: Run,
  seed: number,
  { name, which }: { name: string; which: Case },
): Promise<SeedResult> {
  const { fleet, organization, options, history } = run;
  const { requests } = options;
  const rate = options.rate ?? which.rate;
  const startMs = performance.now();
  const faults = which.faults(requests, seededRandom(seed * 2));
  const runner = new FaultRunner(fleet, faults);
  const network = which.hasProxies ? disturbNetwork(fleet.proxies, seededRandom(seed * 2)) : null;
  const random = seededRandom(seed * 2 + 1);
  const sent = await runLoad({
    ...{ fleet, keys: organization.keys, requests, rate, random, tag: `${name}-${seed}` },
    onBegun: (count) => runner.begun(count),
  });
  network?.end();
  history.push(...sent);
  const early = which.isSettledWhileAway ? await untilSettled(run, { timeoutMs: HEIR_MS }) : null;
  const failures = await runner.over();
  const loadEndMs = performance.now();
  const settled = early ?? (await untilSettled(run));
  return resultOf(run, {
    ...{ seed, case: name, requests, answers: sent, startMs, loadEndMs, settled },
    ...runner.counts,
    schedule: faults.map(({ how, part, forMs }) => `${how} ${part} ${forMs} ms`),
    differences: [...failures, ...falselyRefused(sent), ...(which.isInvisible ? visible(sent) : [])],
  });
}

/** The additions of a case to the ledger's proof: who sent what, and what was done meanwhile. */
type Outcome = Pick<SeedResult, 'seed' | 'case' | 'requests' | 'schedule' | 'kills' | 'stops'> & {
  /** `performance.now()` at its begin, and at the end of the load and of the faults. */
  startMs: number;
  loadEndMs: number;
  /** Answers that callers got. */
  answers: readonly Sent[];
  /** Number sent, where more is sent than is judged; default: the answers. */
  sent?: number;
  /** Number of whole pieces, where work goes on after its answer; default: the whole answers. */
  whole?: number;
  settled: Settled;
  /** Promises that do not hold, beside fleet and ledger. */
  differences: readonly string[];
};

export function resultOf({ fleet }: Run, outcome: Outcome): SeedResult {
  const { answers, startMs, loadEndMs, settled, differences, ...rest } = outcome;
  const { sent = answers.length, whole = answers.filter(({ isWhole }) => isWhole).length, ...facts } = rest;
  const { books, left } = settled;
  return {
    ...facts,
    ...{ sent, whole, books },
    faults: counted(answers),
    settledMs: Math.round(performance.now() - loadEndMs),
    seconds: Math.round((performance.now() - startMs) / 100) / 10,
    differences: [...fleet.findings(), ...books.differences, ...left, ...differences],
  };
}

export interface Settled {
  books: Books;
  left: string[];
}

/** Reads the books again until nothing differs, or until the time is over. */
export async function untilSettled(
  { fleet, history }: Run,
  { isEnd = false, timeoutMs = SETTLE_MS } = {},
): Promise<Settled> {
  const endMs = performance.now() + (isEnd ? Math.max(timeoutMs, LEASE_MS) : timeoutMs);
  for (;;) {
    const books = await readBooksInTime(fleet.databaseUrl, history, endMs);
    const left = leftIn(await readHeld(fleet.databaseUrl, fleet.redis), isEnd);
    const isRight = books.differences.length === 0 && left.length === 0;
    if (isRight || performance.now() > endMs) return { books, left };
    await pause(AGAIN_MS);
  }
}

/** A database that takes a backlog in may be too busy to answer: asked again while there is time. */
async function readBooksInTime(url: string, sent: readonly Sent[], endMs: number): Promise<Books> {
  for (;;) {
    try {
      return await readBooks(url, sent);
    } catch (error) {
      if (performance.now() > endMs) throw error;
      await pause(AGAIN_MS);
    }
  }
}

/**
 * Returns the rest in Redis. Between seeds reservations may remain whose edge died before their INTENT; at the end none
 * may.
 */
function leftIn(held: Held, isEnd: boolean): string[] {
  const { reservedUnits, unpostedUnits, reservedNano, unpostedNano } = held;
  const left: string[] = [];
  if (unpostedUnits > 0 || unpostedNano !== 0n)
    left.push(`Redis holds ${unpostedUnits} unposted units, ${unpostedNano} nano-USD`);
  if (isEnd && (reservedUnits > 0 || reservedNano !== 0n))
    left.push(`Redis holds ${reservedUnits} reserved units, ${reservedNano} nano-USD`);
  return left;
}

/** The load's keys exist, are solvent and have no limits: whatever fails, these are never the answer. */
const FALSE_STATUSES: readonly number[] = [401, 402, 403, 404, 429];

export function falselyRefused(sent: readonly Pick<Sent, 'tag' | 'edge' | 'status' | 'fault'>[]): string[] {
  const refused = sent.filter(({ status }) => FALSE_STATUSES.includes(status));
  if (refused.length === 0) return [];
  const shown = refused
    .slice(0, 3)
    .map(({ tag, edge, status, fault }) => `${tag} of ${edge} ${status} ${fault}`);
  return [`solvent callers were refused (${refused.length}): ${shown.join('; ')}`];
}

function visible(sent: readonly Sent[]): string[] {
  const seen = sent.filter(({ isWhole, work }) => !isWhole && work.ending === 'whole');
  return seen.length === 0
    ? []
    : [
        `callers noticed (${seen.length}): ${seen
          .slice(0, 3)
          .map(({ tag, status, fault }) => `${tag} ${status} ${fault}`)
          .join('; ')}`,
      ];
}

export function counted(sent: readonly Sent[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { fault } of sent) if (fault !== '') counts[fault] = (counts[fault] ?? 0) + 1;
  return counts;
}
