import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '@gateway/testing';
import { logIn, type Person } from './caller.js';
import { memoryOf, type Memory } from './memory.js';
import { readApi } from './operations.js';
import { run, type RunOptions, type RunResult } from './run.js';
import { startTarget, type Target } from './target.js';

export interface Flags {
  requests: string;
  seed?: string;
  from: string;
  /** One request of this number, as a run with the seed sent it. */
  only?: string;
  connections: string;
  url?: string;
}

/** Time that no answer takes on a machine that does nothing else. */
const HANG_MS = 5_000;
const RENEW_MS = 5 * 60_000;
/** The first part of a run fills caches and lets the compiler settle: growth is counted from there. */
const WARM_UP = 0.2;
const GROWTH_MIB = 64;
/** Share of requests that a machine with other work may refuse as overloaded. */
const SHED_MAX = 0.02;
const FAILURES_SHOWN = 20;

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function runningTarget(url: string): Target {
  const { FUZZ_EMAIL: email = '', FUZZ_PASSWORD: password = '' } = process.env;
  const nothing = { isAlive: () => true, output: () => '', stop: () => Promise.resolve() };
  return { url: url.replace(/\/$/, ''), admin: { email, password }, inspectorUrl: null, ...nothing };
}

function report(name: string, result: RunResult): void {
  const { requests, seconds, statuses, longestMs, p99Ms, failures } = result;
  const rate = (requests / seconds).toFixed(0);
  say(
    `${name}: ${requests} requests in ${seconds.toFixed(1)} s (${rate}/s), p99 ${p99Ms.toFixed(0)} ms, longest ${longestMs.toFixed(0)} ms`,
  );
  say(
    `  by status: ${[...statuses]
      .sort(([a], [b]) => a - b)
      .map(([status, times]) => `${status} ${times}`)
      .join(', ')}`,
  );
  for (const { n, fault, curl, answer } of failures.slice(0, FAILURES_SHOWN))
    say(`\n#${n} ${fault}\n${curl.slice(0, 6_000)}\n${answer}`);
  if (failures.length > FAILURES_SHOWN) say(`and ${failures.length - FAILURES_SHOWN} more`);
}

/** Waits until nothing is reserved; leases of what a request left open end by themselves only after minutes. */
async function settled(person: Person): Promise<string> {
  let reserved = '';
  for (let waits = 0; waits < 40; waits += 1) {
    reserved = await person.reservedUsd();
    if (Number(reserved) === 0) break;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  return reserved;
}

async function sendAll(target: Target, flags: Flags, seed: number): Promise<number> {
  const requests = Number(flags.requests);
  const person = await logIn(target.url, target.admin);
  const renewing = setInterval(() => void person.renew().catch(() => undefined), RENEW_MS);
  const api = readApi(readFileSync(join(repository, 'docs/openapi.json'), 'utf8'));
  const { connections, only } = flags;
  const interrupted = new AbortController();
  process.once('SIGINT', () => interrupted.abort());
  const { signal } = interrupted;
  const sender = { connections: Number(connections), hangMs: HANG_MS };
  const options = { signal, url: target.url, api, caller: person, seed, ...sender };
  const part = (more: Pick<RunOptions, 'from' | 'to'>): Promise<RunResult> => run({ ...options, ...more });
  let failures = 0;
  const show = (name: string, result: RunResult): void => {
    report(name, result);
    failures += result.failures.length;
    const shed = result.statuses.get(503) ?? 0;
    if (shed > result.requests * SHED_MAX) {
      say(`${shed} requests were shed: too many for this run to mean anything`);
      failures += 1;
    }
  };
  try {
    if (only !== undefined) {
      show('one', await part({ from: Number(only), to: Number(only) + 1 }));
      return failures;
    }
    const from = Number(flags.from);
    const warm = from + Math.floor((requests - from) * WARM_UP);
    show('warm-up', await part({ from, to: warm }));
    const before = await memoryOf(target);
    show('measured', await part({ from: warm, to: requests }));
    const reserved = await settled(person);
    const after = await memoryOf(target);
    say(memoryLine(before, after));
    say(`reserved and not settled: ${reserved} USD`);
    if (Number(reserved) !== 0) failures += 1;
    if (after.heapMiB - before.heapMiB > GROWTH_MIB) failures += 1;
    if (!target.isAlive()) failures += 1;
    return failures;
  } finally {
    clearInterval(renewing);
  }
}

function memoryLine(before: Memory, after: Memory): string {
  const line = (name: keyof Memory): string => `${before[name].toFixed(0)} to ${after[name].toFixed(0)} MiB`;
  return `memory after the warm-up and at the end: resident ${line('rssMiB')}, heap ${line('heapMiB')}`;
}

/** Returns the exit code: 1 where something was found. */
export async function fuzz(flags: Flags): Promise<number> {
  const seed = flags.seed === undefined ? randomInt(2 ** 31) : Number(flags.seed);
  say(`seed ${seed}`);
  const target = flags.url === undefined ? await startTarget() : runningTarget(flags.url);
  try {
    const failures = await sendAll(target, flags, seed);
    say(failures === 0 ? 'nothing found' : `${failures} findings; the seed is ${seed}`);
    return failures === 0 ? 0 : 1;
  } finally {
    await target.stop();
  }
}
