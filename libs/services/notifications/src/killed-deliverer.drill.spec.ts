import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import type { AccountEvent, NewAccountEvent } from '@gateway/contracts';
import { eventually, repository, seededRandom, testDatabase, type TestDatabase } from '@gateway/testing';
import { keyCreated } from './deliveries.fixture.js';
import {
  MIGRATED,
  startNotificationsApp,
  type NotificationsApp,
  type Person,
} from './notifications.fixture.js';
import { verdicts } from './verifier.fixture.js';

const PROGRAM = join(repository, 'dist/libs/services/notifications/src/deliver-until-killed.fixture.js');
/** More of them by hand: docs/chaos.md. */
const KILLS = Number(process.env.DELIVERY_KILLS ?? 10);
/** A lease of a minute ends in three seconds. */
const SPEED = 20;
/** Number of events of each kind: some are under way whenever it is killed. */
const EVENTS = KILLS * 4;
const FLOORS = [80, 50, 20];
const BUDGET_PCT = [25, 75];

let database: TestDatabase;
let app: NotificationsApp;
let owner: Person;
const children: ChildProcess[] = [];
let committed = 0;

beforeAll(async () => {
  database = await testDatabase(MIGRATED);
  app = await startNotificationsApp(database.url);
  owner = app.person();
});
afterAll(async () => {
  children.forEach((child) => child.kill('SIGKILL'));
  await app.close();
  await database.drop();
});

/** Key events, and between them a balance that falls from 100 to 0 and a budget that is spent twice, in a period each. */
function records(): AccountEvent[] {
  const balanceAfter = (moved: number): string => (100 - (moved * 100) / EVENTS).toFixed(6);
  return Array.from({ length: EVENTS }, (_, at) => {
    const data = { balance_before: balanceAfter(at), balance_after: balanceAfter(at + 1) };
    const movement = { type: 'balance.movement', account_id: 'acct_1', org_id: owner.orgId, data } as const;
    return [app.event(keyCreated(owner.orgId)), app.event(movement), app.event(budgetAt(at))];
  }).flat();
}

function budgetAt(at: number): NewAccountEvent {
  const half = EVENTS / 2;
  const month = at < half ? 11 : 12;
  const spent = ((at % half) + 1) / half;
  const data = {
    ...{ budget_id: 'bud_1', name: 'Ours', scope: 'org' as const, scope_id: owner.orgId, amount_usd: '1' },
    ...{ thresholds_pct: BUDGET_PCT.filter((pct) => spent * 100 >= pct), spent_usd: spent.toFixed(6) },
    ...{ period_start: `2026-${month}-01T00:00:00.000Z`, period_end: `2026-${month}-30T00:00:00.000Z` },
  };
  return { type: 'budget.movement', account_id: 'acct_1', org_id: owner.orgId, data };
}

/** Goes on from what was committed, as a consumer does that comes back. */
async function start(events: readonly AccountEvent[], began: number): Promise<ChildProcess> {
  const from = committed;
  const args = [
    '--enable-source-maps',
    PROGRAM,
    database.url,
    app.receiver.place,
    String(began),
    String(SPEED),
  ];
  const child = spawn(process.execPath, args, { cwd: repository, stdio: ['pipe', 'pipe', 'inherit'] });
  children.push(child);
  child.stdin.on('error', () => undefined); // It was killed before it had read it.
  child.stdin.end(JSON.stringify(events.slice(from)));
  await new Promise<void>((resolve) => {
    createInterface(child.stdout).on('line', (line) => {
      if (line === 'ready') resolve();
      else committed = from + Number(line.split(' ')[1]);
    });
  });
  return child;
}

it(
  'EVT-40 W09 kill -9 at any time loses no event and reports no rung twice',
  async () => {
    const { secret } = await app.channel(
      owner,
      'api_key.created',
      'balance.depleted',
      'budget.threshold',
      ...FLOORS.map((threshold_usd) => ({ alert_type: 'balance.low', threshold_usd })),
    );
    const input = records();
    const random = seededRandom(20_261_122);
    const began = Date.now();
    for (let kills = 0; kills < KILLS; kills += 1) {
      const child = await start(input, began);
      await pause(random.fraction() * 300);
      const gone = once(child, 'close');
      child.kill('SIGKILL');
      await gone;
    }
    const last = await start(input, began);
    const expected = EVENTS + FLOORS.length + 1 + 2 * BUDGET_PCT.length;
    const ids = (type: string) => new Set(app.receiver.of(type).map(({ event }) => event.id));
    const open = `SELECT count(*)::int AS n FROM delivery WHERE status <> 'delivered'`;
    await eventually(
      async () =>
        ids('api_key.created').size === EVENTS &&
        ids('balance.low').size === FLOORS.length &&
        (await app.database.pool.query<{ n: number }>(open)).rows[0].n === 0,
      { timeoutMs: 60_000 + KILLS * 300, intervalMs: 200 },
    );
    const { rows } = await app.database.pool.query<{ n: number }>('SELECT count(*)::int AS n FROM delivery');
    expect(rows[0].n).toBe(expected);
    expect(ids('balance.depleted').size).toBe(1);
    expect(ids('budget.threshold').size).toBe(2 * BUDGET_PCT.length);
    expect(new Set(app.receiver.received.map(({ event }) => event.id)).size).toBe(expected);
    const lows = new Map(
      app.receiver.of('balance.low').map(({ event }) => [event.id, Number(event.data.balance_usd)]),
    );
    const step = 100 / EVENTS;
    expect([...lows.values()].sort((a, b) => a - b)).toEqual(
      FLOORS.toReversed().map((floor) => expect.closeTo(floor - step, 3)),
    );
    const asked = app.receiver.received.map(({ headers, body }) => ({
      ...{ secrets: [secret], headers, body },
      now: Number(headers['service-webhook-timestamp']),
    }));
    expect(new Set(verdicts(...asked))).toEqual(new Set(['valid']));
    if (KILLS > 10)
      process.stdout.write(
        `${KILLS} kills, ${expected} events, ${asked.length} deliveries, ${Math.round((Date.now() - began) / 1_000)} s\n`,
      );
    const gone = once(last, 'close');
    last.kill('SIGTERM');
    last.kill('SIGKILL');
    await gone;
  },
  180_000 + KILLS * 5_000,
);
