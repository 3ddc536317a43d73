import { setTimeout as pause } from 'node:timers/promises';
import { seededRandom } from '@gateway/testing';
import pg from 'pg';
import { send, type Sent } from './caller.js';
import { runLoad } from './load.js';
import { falselyRefused, resultOf, untilSettled, type Run, type SeedResult } from './run-seed.js';
import { expectedPico, plainWork } from './work.js';

/** The cap, in costs of one probe: the tenth reaches it. */
const PROBES_TO_CAP = 10;
const PROBES_AFTER = 10;
/** A 503 decides nothing: the probe is sent again. */
const SENDINGS = 10;
const AGAIN_MS = 500;
/** Time within which a probe's reservation is released. */
const PROBE_EVERY_MS = 1_000;

/**
 * `clock`: one of two edges has a wall clock 31 days behind. All that it serves would be older than the 30 days that caps
 * count. Its events have the right time, the books are right, and a team's cap is met to the request.
 */
export async function runClockBehind(run: Run, seed: number, notes: string[]): Promise<SeedResult> {
  const { fleet, organization, options, history } = run;
  const startMs = performance.now();
  const sent = await runLoad({
    ...{ fleet, keys: organization.keys, requests: options.requests, rate: options.rate ?? 25 },
    ...{ random: seededRandom(seed * 2 + 1), tag: `clock-${seed}`, onBegun: () => undefined },
  });
  history.push(...sent);
  const capPico = BigInt(PROBES_TO_CAP) * expectedPico(plainWork(0));
  const key = await organization.teamKey(`0.${capPico.toString().padStart(12, '0')}`);
  const behind = fleet.edges[1];
  const probes: Sent[] = [];
  const probe = async (): Promise<void> => {
    await pause(PROBE_EVERY_MS);
    for (let sendings = 0; sendings < SENDINGS; sendings += 1) {
      const to = { url: behind.url, edge: behind.name, key: key.secret, keyId: key.id };
      const one = await send(plainWork(0), { ...to, tag: `clock-${seed}-cap-${probes.length}` });
      probes.push(one);
      history.push(one);
      if (one.status !== 503) return;
      await pause(AGAIN_MS);
    }
  };
  for (let n = 0; n < PROBES_TO_CAP; n += 1) await probe();
  // What is posted counts by its time: from here on the cap rests on it alone.
  await untilSettled(run);
  for (let n = 0; n < PROBES_AFTER; n += 1) await probe();
  const loadEndMs = performance.now();
  const settled = await untilSettled(run);
  const served = probes.filter(({ isWhole }) => isWhole).length;
  const others = probes.filter(
    ({ isWhole, status, fault }) => !isWhole && status !== 503 && fault !== 'spend_limit_exceeded',
  );
  const old = await olderThanADay(fleet.databaseUrl);
  notes.push(
    `${sent.filter(({ edge, isWhole }) => isWhole && edge === behind.name).length} answers of the edge whose clock is 31 days behind`,
    `a team's cap of ${PROBES_TO_CAP} requests let ${served} of ${probes.length} through there; ${old} events have its time`,
  );
  return resultOf(run, {
    ...{ seed, case: 'clock', requests: options.requests, kills: 0, stops: 0, startMs, loadEndMs, settled },
    answers: [...sent, ...probes],
    schedule: ['one clock 31 days behind'],
    differences: [
      ...falselyRefused(sent),
      ...(served === PROBES_TO_CAP ? [] : [`a cap of ${PROBES_TO_CAP} requests let ${served} through`]),
      ...(old === 0 ? [] : [`${old} events are a day old and older`]),
      ...(others.length === 0 ? [] : [`a capped key was answered ${others[0].status} ${others[0].fault}`]),
    ],
  });
}

async function olderThanADay(databaseUrl: string): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client
    .query<{ count: string }>(
      `SELECT count(*) FROM usage.usage_event WHERE created_at < now() - interval '1 day'`,
    )
    .finally(() => client.end());
  return Number(rows[0].count);
}
