import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { EXACT, percentile, row, verdictOf, type Row } from '../figures.js';
import type { Lab } from '../lab.js';
import { plainBodyOf } from '../loads.js';

/** Rate so low that the machine is at rest: the figure is the way of an event, not the wait behind others. */
const PER_SECOND = 40;
const SECONDS = 30;
const EVERY_MS = 5;
const LONGEST_MS = 30_000;
const GATE_MS = 2_000;

/** Milliseconds from the end of an answer, for each request, until it was seen there. */
interface Lags {
  posted: number[];
  mirrored: number[];
}

/**
 * Measures the time from the end of an answer until its event is committed in the ledger, and its unit counted as
 * posted in Redis.
 */
export async function settleRows(lab: Lab): Promise<Row[]> {
  const database = new Client({ connectionString: lab.fleet.databaseUrl });
  const redis = new Redis(lab.fleet.redisUrl);
  await database.connect();
  try {
    const { posted, mirrored } = await measure(lab, database, redis);
    const note = `${posted.length} answers, ${PER_SECOND} a second, looked at every ${EVERY_MS} ms`;
    return [
      rowOf('posted', 'end of an answer until its event is in the ledger', posted, note),
      rowOf('mirrored', 'end of an answer until Redis counts it as posted', mirrored, note),
    ].flat();
  } finally {
    await database.end();
    redis.disconnect();
  }
}

function rowOf(id: string, figure: string, lags: number[], note: string): Row[] {
  lags.sort((a, b) => a - b);
  const p99 = percentile(lags, 0.99);
  const of = { figure, unit: 'ms' };
  return [
    row({
      ...of,
      id: `settle-${id}-p50`,
      figure: `${figure}, p50`,
      gateway: EXACT(percentile(lags, 0.5)),
      note,
    }),
    row({
      ...of,
      id: `settle-${id}-p99`,
      figure: `${figure}, p99`,
      gateway: EXACT(p99),
      gate: `< ${GATE_MS.toLocaleString('en')}`,
      verdict: verdictOf(p99 < GATE_MS),
      note: `the last of all after ${lags[lags.length - 1].toFixed(0)} ms`,
    }),
  ];
}

async function measure({ gateway, fleet }: Lab, database: Client, redis: Redis): Promise<Lags> {
  const found = await database.query<{ account_id: string }>(
    'select account_id from keys.api_key where id = $1',
    [fleet.keyId],
  );
  const units = `units:{${found.rows[0].account_id}}`;
  const unposted = new Map<string, number>();
  const unmirrored = new Map<string, number>();
  const lags: Lags = { posted: [], mirrored: [] };
  const sending: Promise<void>[] = [];
  const send = async (): Promise<void> => {
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: plainBodyOf(gateway),
    });
    await answer.text();
    const id = answer.headers.get('x-request-id');
    if (answer.status !== 200 || id === null) throw new Error(`an answer was ${answer.status}`);
    unposted.set(id, performance.now());
    unmirrored.set(id, performance.now());
  };
  const look = async (): Promise<void> => {
    const ids = [...unposted.keys()];
    if (ids.length > 0) {
      const { rows } = await database.query<{ request_id: string }>(
        'select request_id from usage.usage_event where request_id = any($1)',
        [ids],
      );
      take(
        rows.map(({ request_id }) => request_id),
        unposted,
        lags.posted,
      );
    }
    const left = [...unmirrored.keys()];
    if (left.length === 0) return;
    // A unit is there from its admission until its mirror.
    const held = await redis.hmget(units, ...left.map((id) => `${id}/0`));
    take(
      left.filter((_, at) => held[at] === null),
      unmirrored,
      lags.mirrored,
    );
  };
  const startMs = performance.now();
  for (let sent = 0; sent < PER_SECOND * SECONDS; await pause(EVERY_MS)) {
    for (; sent < ((performance.now() - startMs) / 1_000) * PER_SECOND; sent += 1) sending.push(send());
    await look();
  }
  await Promise.all(sending);
  for (
    const untilMs = performance.now() + LONGEST_MS;
    unposted.size + unmirrored.size > 0;
    await pause(EVERY_MS)
  ) {
    if (performance.now() > untilMs)
      throw new Error(`${unposted.size} events were not posted in ${LONGEST_MS} ms`);
    await look();
  }
  return lags;
}

/** Records the lag of what was just seen. */
function take(seen: readonly string[], waiting: Map<string, number>, lags: number[]): void {
  for (const id of seen) {
    lags.push(performance.now() - (waiting.get(id) ?? 0));
    waiting.delete(id);
  }
}
