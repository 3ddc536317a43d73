import { rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '@gateway/testing';
import pg from 'pg';
import { startFleet, type Fleet } from './harness/fleet.js';
import { START_MS } from './harness/modes.js';
import { findingsOf } from './harness/reconcile.js';
import { askOnce } from './harness/requests.js';
import { logIn } from './harness/session.js';
import { withoutRates } from './harness/without-rates.js';

/** Number of kills, each at another moment. */
const SEEDS = Number(process.env.DRILL_SEEDS ?? '5');
/** Requests a second, from callers that wait for each answer. */
const RATE = Number(process.env.DRILL_RATE ?? '80');
const CALLERS = 16;
const SEED_MS = 60_000;
/** A lease and the time in which the ledger takes what had shipped. */
const LEASE_MS = 92_000;

const chat = { model: 'simulator/chat', max_tokens: 20, messages: [{ role: 'user', content: 'Hello' }] };

/** The fleet of one group of tests, and the ledger that says what it knows. */
function lostDisk(env: Record<string, string>) {
  let fleet: Fleet;
  let database: pg.Client;
  let key: string;
  beforeAll(async () => {
    fleet = await startFleet({ env: { edge: env } });
    database = new pg.Client({ connectionString: fleet.databaseUrl });
    await database.connect();
    const made = await (await logIn(fleet)).createKey('lost-disk');
    await withoutRates(fleet, made.id);
    key = made.key;
  }, START_MS);
  afterAll(async () => {
    await database?.end();
    await fleet?.stop();
  }, START_MS);

  /** Sends requests until `count` answers arrived whole, and kills the edge at the last of them. Returns their ids. */
  const answeredUntilKilled = async (count: number): Promise<string[]> => {
    const whole: string[] = [];
    const kills: Promise<unknown>[] = [];
    const call = async (n: number): Promise<void> => {
      const body = { ...chat, stream: n % 2 === 1 };
      // One that is under way at the kill has no end.
      const answer = await askOnce(fleet, 'POST', '/v1/chat/completions', { key, body }).catch(() => null);
      if (answer?.status !== 200) return;
      if (body.stream && !answer.text.trimEnd().endsWith('data: [DONE]')) return;
      whole.push(answer.requestId);
      // At once: a moment later the record of this answer would have shipped in any case.
      if (whole.length >= count && kills.length === 0) kills.push(fleet.process('edge').kill());
    };
    const caller = async (n: number): Promise<void> => {
      while (kills.length === 0) await Promise.all([call(n), pause((CALLERS / RATE) * 1_000)]);
    };
    await Promise.all(Array.from({ length: CALLERS }, (_, n) => caller(n)));
    await Promise.all(kills);
    return whole;
  };
  return {
    answeredUntilKilled,
    restart: async (): Promise<void> => {
      rmSync(fleet.journalFolder, { recursive: true, force: true });
      await fleet.process('edge').restart();
    },
    goOn: () => askOnce(fleet, 'POST', '/v1/chat/completions', { key, body: chat }),
    /** Returns those of these requests that have no event. */
    missing: async (ids: readonly string[]): Promise<string[]> => {
      const text = 'select request_id from usage.usage_event where request_id = any($1)';
      const { rows } = await database.query<{ request_id: string }>(text, [ids]);
      const known = new Set(rows.map(({ request_id }) => request_id));
      return ids.filter((id) => !known.has(id));
    },
    findings: (...flags: string[]) =>
      findingsOf(fleet, { REDIS_URL: fleet.redisUrl }, flags) as Promise<Finding[]>,
  };
}

interface Finding {
  kind: string;
  scope: string;
  expected: string;
}

describe('an edge that is lost with its disk, with JOURNAL_ACK=kafka', () => {
  const edge = lostDisk({ JOURNAL_ACK: 'kafka', JOURNAL_ACK_MS: '10000' });

  it(
    'operations 2: kill -9 with the folder of the journal deleted: each answer that arrived whole is in the ledger',
    async () => {
      const answered: string[] = [];
      for (let seed = 1; seed <= SEEDS; seed += 1) {
        answered.push(...(await edge.answeredUntilKilled(40 + ((seed * 37) % 80))));
        await edge.restart();
        await edge.goOn();
      }
      await eventually(async () => (await edge.missing(answered)).length === 0, { timeoutMs: 30_000 }).catch(
        () => undefined,
      );
      process.stdout.write(`lost-disk: ${SEEDS} kills, ${answered.length} answers\n`);
      expect(await edge.missing(answered)).toEqual([]);
    },
    SEEDS * SEED_MS + START_MS,
  );
});

describe('an edge that is lost with its disk, with JOURNAL_ACK=disk', () => {
  const edge = lostDisk({ JOURNAL_ACK: 'disk' });

  it.each([
    ['rests', false],
    ['goes on', true],
  ])(
    'operations 2: reconcile names each lost unit after its lease, where the account %s, and a repair closes them',
    async (_what, isGoingOn) => {
      const answered = await edge.answeredUntilKilled(60);
      const killedAt = performance.now();
      await edge.restart();
      const isPast = (): boolean => performance.now() - killedAt > LEASE_MS;
      while (!isPast()) {
        if (isGoingOn) await edge.goOn();
        await pause(1_000);
      }
      if (isGoingOn) await edge.goOn();
      const lost = await edge.missing(answered);
      const findings = await edge.findings('--repair');
      const named = findings.map(({ scope }) => scope.slice(0, scope.lastIndexOf('/')));
      process.stdout.write(`lost-disk: ${lost.length} answers lost, ${named.length} units named\n`);
      expect(new Set(findings.map(({ kind }) => kind))).toEqual(new Set(['unit_lost']));
      expect(findings.filter(({ expected }) => !(Number(expected) > 0))).toEqual([]);
      // The others were under way: their callers have no end of an answer.
      const whole = new Set(answered);
      expect(named.filter((id) => whole.has(id)).toSorted()).toEqual(lost.toSorted());
      expect(await edge.missing(named)).toEqual(named);
      expect(named.length - lost.length).toBeLessThanOrEqual(CALLERS);
      expect(await edge.findings()).toEqual([]);
    },
    LEASE_MS + 2 * START_MS,
  );
});
