import { asCurl } from './as-curl.js';
import { Dice } from './dice.js';
import { fuzzRequest, type Caller, type FuzzRequest } from './fuzz-request.js';
import { faultOf } from './judge.js';
import type { Api } from './operations.js';
import { Connection, type Answer } from './send.js';

export interface RunOptions {
  url: string;
  api: Api;
  caller: Caller;
  seed: number;
  /** Numbers of the requests: `from` <= n < `to`. */
  from: number;
  to: number;
  connections: number;
  /** Longest time that an answer may take. */
  hangMs: number;
  /** Ends the run early; what was sent is reported. */
  signal?: AbortSignal;
}

interface Failure {
  n: number;
  fault: string;
  curl: string;
  answer: string;
}

export interface RunResult {
  requests: number;
  seconds: number;
  /** Number of answers by status; 0 = none. */
  statuses: ReadonlyMap<number, number>;
  /** Number of answers by method and documented path. */
  operations: ReadonlyMap<string, number>;
  longestMs: number;
  p99Ms: number;
  failures: readonly Failure[];
}

/** A fault that shows everywhere ends the run early. */
const FAILURES_MAX = 200;

/** Sends the requests over parallel connections and judges every answer. */
export async function run(options: RunOptions): Promise<RunResult> {
  const { url, api, caller, seed, from, to, connections, hangMs, signal } = options;
  const statuses = new Map<number, number>();
  const operations = new Map<string, number>();
  const failures: Failure[] = [];
  const times: number[] = [];
  let next = from;
  const startedMs = performance.now();
  const worker = async (): Promise<void> => {
    const connection = new Connection(url, hangMs);
    while (next < to && failures.length < FAILURES_MAX && signal?.aborted !== true) {
      const n = next++;
      const request = fuzzRequest(api, new Dice(seed, n), caller);
      const answer = await connection.send(request);
      const fault = faultOf(request, answer, api.operations);
      if (fault !== null) failures.push(failureOf(n, fault, url, request, answer));
      count(statuses, typeof answer === 'string' ? 0 : answer.status);
      count(operations, `${request.operation.method} ${request.operation.path}`);
      if (typeof answer !== 'string') times.push(answer.tookMs);
    }
    await connection.close();
  };
  await Promise.all(Array.from({ length: connections }, worker));
  times.sort((a, b) => a - b);
  return {
    requests: next - from,
    seconds: (performance.now() - startedMs) / 1_000,
    statuses,
    operations,
    longestMs: times.at(-1) ?? 0,
    p99Ms: times[Math.floor(times.length * 0.99)] ?? 0,
    failures,
  };
}

function failureOf(
  n: number,
  fault: string,
  url: string,
  request: FuzzRequest,
  answer: Answer | string,
): Failure {
  const shown = typeof answer === 'string' ? '' : answer.text.slice(0, 400);
  return { n, fault, curl: asCurl(url, request), answer: shown };
}

function count<T>(counts: Map<T, number>, of: T): void {
  counts.set(of, (counts.get(of) ?? 0) + 1);
}
