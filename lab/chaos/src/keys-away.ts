import { setTimeout as pause } from 'node:timers/promises';
import { ConnectedLimitStore } from '@gateway/fleet';
import { SystemClock, SystemRandom } from '@gateway/platform';
import { eventually } from '@gateway/testing';
import pg from 'pg';
import { resultOf, untilSettled, type Run, type SeedResult } from './run-seed.js';
import { steadyLoad, type Timed } from './steady-load.js';

const WARM_MS = 3_000;
const AWAY_MS = 30_000;
const BUMPED_MS = 5_000;
const BACK_MS = 30_000;

/**
 * K07: the keys service is killed. Warm keys go on; an account that has changed is 503 until it is back, because nobody
 * can say what has changed; nobody gets 401, 403 or 404.
 */
export async function runKeysAway(run: Run, seed: number, notes: string[]): Promise<SeedResult> {
  const { fleet, organization, options } = run;
  const [changed, , untouched] = organization.keys;
  const startMs = performance.now();
  const rate = (options.rate ?? 50) / 2;
  const keys = fleet.parts.get('keys');
  if (keys === undefined) throw new Error('This fleet has no keys service.');
  const during = async (name: string, forMs: number): Promise<{ changed: Timed[]; untouched: Timed[] }> => {
    const loads = [changed, untouched].map((key) =>
      steadyLoad(run, key, `K07-${seed}-${name}-${key.id}`, rate),
    );
    await pause(forMs);
    const [one, other] = await Promise.all(loads.map((load) => load.stop()));
    return { changed: one, untouched: other };
  };
  await during('warm', WARM_MS);
  await keys.kill();
  const away = await during('away', AWAY_MS);
  await change(run, changed.id);
  const bumped = await during('changed', BUMPED_MS);
  await keys.restart();
  const back = await eventually(
    async () => {
      const { changed: asked } = await during(`back-${performance.now()}`, 200);
      return asked.every(({ sent }) => sent.status === 200) && asked.length > 0;
    },
    { timeoutMs: BACK_MS },
  ).catch(() => false);
  const loadEndMs = performance.now();
  const settled = await untilSettled(run);
  const all = [away.changed, away.untouched, bumped.changed, bumped.untouched].flat();
  notes.push(
    `keys away for ${AWAY_MS / 1_000} s: ${said([...away.changed, ...away.untouched])}; after a change of one account ` +
      `its key: ${said(bumped.changed)}, another account's: ${said(bumped.untouched)}`,
  );
  const only = (timed: Timed[], status: number, what: string): string[] =>
    timed.every((one) => one.sent.status === status) ? [] : [`${what}: ${said(timed)}, not ${status} alone`];
  return resultOf(run, {
    ...{ seed, case: 'K07', requests: all.length, kills: 1, stops: 0, startMs, loadEndMs, settled },
    answers: all.map(({ sent }) => sent),
    schedule: ['kill keys', 'change one account'],
    differences: [
      ...only([...away.changed, ...away.untouched], 200, 'warm keys while keys was away'),
      ...only(bumped.changed, 503, 'the key of a changed account'),
      ...only(bumped.untouched, 200, 'the key of another account'),
      ...(back
        ? []
        : [`the changed account was not served within ${BACK_MS} ms of the keys service's return`]),
    ],
  });
}

function said(timed: readonly Timed[]): string {
  const counts = new Map<number, number>();
  for (const { sent } of timed) counts.set(sent.status, (counts.get(sent.status) ?? 0) + 1);
  return [...counts].map(([status, count]) => `${count} x ${status}`).join(', ');
}

/** Changes an account as the keys service does: its version in the database, then in the limit store. */
async function change({ fleet }: Run, keyId: string): Promise<void> {
  const client = new pg.Client({ connectionString: fleet.databaseUrl });
  await client.connect();
  const { rows } = await client
    .query<{ id: string; version: number }>(
      `UPDATE keys.account SET version = version + 1
       WHERE id = (SELECT account_id FROM keys.api_key WHERE id = $1) RETURNING id, version`,
      [keyId],
    )
    .finally(() => client.end());
  const [{ id, version }] = rows;
  const store = new ConnectedLimitStore({
    ...{ ...fleet.redis, clientName: 'chaos', clock: new SystemClock(), random: new SystemRandom() },
  });
  try {
    await eventually(() => store.stamp(id, version, null).then(() => true));
  } finally {
    await store.close();
  }
}
