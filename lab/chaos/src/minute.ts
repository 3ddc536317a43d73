import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import type { Sent } from './caller.js';
import type { Key } from './organization.js';
import { counted, resultOf, untilSettled, type Run, type SeedResult } from './run-seed.js';
import { bodyOf, expectedPico, markOf, pathOf, plainWork } from './work.js';

/** Number of connections on each edge at once. */
const CONNECTIONS = 16;
/** Requests sent beyond the limit, to be refused. */
const OVER = 1_000;
const WARM_UP_MS = 45_000;
const MINUTE_MS = 60_000;
/** Margin of the fixed minute at both ends: nothing may count in another one. */
const MARGIN_MS = 200;
const AGAIN_MS = 200;
const MINUTES = 8;
const SETTLE_MS = 300_000;

/**
 * R01: a key gets a thousand requests more than its limit within one fixed minute of the clock, over all edges at once.
 * Exactly the limit is served, everything else is 429, and the ledger has what was served.
 */
export async function runMinute(run: Run, seed: number, notes: string[]): Promise<SeedResult> {
  const { fleet, organization, options, history } = run;
  const limit = options.requests;
  const startMs = performance.now();
  const pools = fleet.edges.map(({ url }) => new Pool(url, { connections: CONNECTIONS, pipelining: 1 }));
  const load = (key: Key, tag: string, count: number, untilMs: number): Promise<Sent[]> =>
    sendAll(run, pools, { key, tag, count, untilMs });
  try {
    // Compiled code comes late, and what is asked of a key's first request is asked before the minute.
    const warmed = await load(organization.keys[0], `warm-${seed}`, Infinity, Date.now() + WARM_UP_MS);
    history.push(...warmed);
    let sent: Sent[] = [];
    let tookMs = 0;
    // A machine that does other work as well may have a minute in which it can.
    for (let minute = 1; minute <= MINUTES && decided(sent).length < limit + OVER; minute += 1) {
      const key = await organization.limitedKey(limit);
      await waitForMinute();
      const beganMs = Date.now();
      const endMs = Math.ceil(beganMs / MINUTE_MS) * MINUTE_MS - MARGIN_MS;
      sent = await load(key, `R01-${seed}-${minute}`, limit + OVER, endMs);
      tookMs = Date.now() - beganMs;
      history.push(...sent);
      if (decided(sent).length < limit + OVER)
        notes.push(`minute ${minute} was over after ${decided(sent).length} answers`);
    }
    const loadEndMs = performance.now();
    const settled = await untilSettled(run, { timeoutMs: SETTLE_MS });
    const served = sent.filter(({ status }) => status === 200).length;
    const refused = sent.filter(({ fault }) => fault === 'rate_limit_exceeded').length;
    const whole = sent.filter(({ isWhole }) => isWhole).length;
    const local = await Promise.all(fleet.edges.map(({ url }) => decidedAlone(url)));
    notes.push(
      `within one minute ${fleet.edges.length} edges answered ${sent.length} requests in ${(tookMs / 1_000).toFixed(1)} s: ` +
        `${served} of a limit of ${limit} were 200, ${refused} were 429, ${sent.length - decided(sent).length} were 503 and were sent again`,
      `served by edge: ${fleet.edges.map(({ name }) => sent.filter((one) => one.status === 200 && one.edge === name).length).join(', ')}`,
    );
    return resultOf(run, {
      ...{ seed, case: 'R01', requests: limit + OVER, sent: history.length, kills: 0, stops: 0 },
      ...{ answers: sent, startMs, loadEndMs, settled },
      schedule: [`a limit of ${limit} requests a minute`],
      differences: [
        ...(decided(sent).length < limit + OVER
          ? [
              `the minute was over after ${decided(sent).length} of ${limit + OVER}: this machine needs a smaller --requests`,
            ]
          : []),
        ...(served === limit && whole === limit
          ? []
          : [`${served} were served, ${whole} whole, of a limit of ${limit}`]),
        ...(served + refused === decided(sent).length
          ? []
          : [`others than 200 and 429: ${JSON.stringify(counted(sent))}`]),
        ...(local.some((count) => count > 0) ? [`edges decided without Redis: ${local.join(', ')}`] : []),
      ],
    });
  } finally {
    await Promise.all(pools.map((pool) => pool.destroy()));
  }
}

/** Returns the answers without those that an overloaded process refused. */
function decided(sent: readonly Sent[]): Sent[] {
  return sent.filter(({ status }) => status !== 503);
}

/** The begin of the next minute of the clock. */
async function waitForMinute(): Promise<void> {
  await pause(MINUTE_MS - (Date.now() % MINUTE_MS) + MARGIN_MS);
}

/** Sends as fast as answers come, until so many were served or refused for a limit. */
async function sendAll(
  { fleet }: Run,
  pools: readonly Pool[],
  { key, tag, count, untilMs }: { key: Key; tag: string; count: number; untilMs: number },
): Promise<Sent[]> {
  const all: Sent[] = [];
  let begun = 0;
  let left = count;
  const lane = async (at: number): Promise<void> => {
    while (left > 0 && Date.now() < untilMs) {
      left -= 1;
      const n = begun;
      begun += 1;
      const sent = await sendOne(pools[at], { edge: fleet.edges[at].name, key, tag: `${tag}-${n}`, n });
      all.push(sent);
      // An overloaded process refuses before it admits, which decides nothing.
      if (sent.status !== 503) continue;
      left += 1;
      await pause(AGAIN_MS);
    }
  };
  await Promise.all(pools.flatMap((_, at) => Array.from({ length: CONNECTIONS }, () => lane(at))));
  return all;
}

async function sendOne(
  pool: Pool,
  { edge, key, tag, n }: { edge: string; key: Key; tag: string; n: number },
): Promise<Sent> {
  const work = plainWork(n);
  const sent: Sent = {
    ...{ work, tag, edge, keyId: key.id, requestId: '', status: 0, isWhole: false, fault: '' },
    expectedPico: expectedPico(work),
  };
  try {
    const answer = await pool.request({
      method: 'POST',
      path: pathOf(work),
      headers: {
        authorization: `Bearer ${key.secret}`,
        'content-type': 'application/json',
        'x-request-tags': `chaos=${tag}`,
      },
      body: bodyOf(work),
    });
    sent.status = answer.statusCode;
    sent.requestId = String(answer.headers['x-request-id']);
    const text = await answer.body.text();
    sent.isWhole = sent.status === 200 && text.includes(markOf(work));
    if (!sent.isWhole) sent.fault = /"code":\s*"([a-z_]+)"/.exec(text)?.[1] ?? `status ${sent.status}`;
  } catch (failure) {
    sent.fault = `connection: ${failure instanceof Error ? failure.message : String(failure)}`;
  }
  return sent;
}

/** Admissions that an edge decided by its local share of the limit: what is exact is so by Redis. */
async function decidedAlone(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const counts = [...text.matchAll(/^gateway_admissions_total\{[^}]*outcome="local_\w+"[^}]*\} (\d+)$/gm)];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}
