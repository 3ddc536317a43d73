import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { AccountEvent } from '@gateway/contracts';
import { eventually, repository, seededRandom, testDatabase, type TestDatabase } from '@gateway/testing';
import { keyCreated } from './deliveries.fixture.js';
import {
  MIGRATED,
  startNotificationsApp,
  type NotificationsApp,
  type Person,
} from './notifications.fixture.js';

const PROGRAM = join(repository, 'dist/libs/services/notifications/src/deliver-until-killed.fixture.js');
const KILLS = 10;
/** A lease of a minute ends in three seconds. */
const SPEED = 20;
const EVENTS = 40;
const FLOORS = [80, 50, 20];

let database: TestDatabase;
let app: NotificationsApp;
let owner: Person;
const children: ChildProcess[] = [];

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

/** Key events, and a balance that falls from 100 to 0 between them. */
function records(): AccountEvent[] {
  const step = 100 / EVENTS;
  return Array.from({ length: EVENTS }, (_, at) => {
    const data = { balance_before: String(100 - at * step), balance_after: String(100 - (at + 1) * step) };
    const movement = { type: 'balance.movement', account_id: 'acct_1', org_id: owner.orgId, data } as const;
    return [app.event(keyCreated(owner.orgId)), app.event(movement)];
  }).flat();
}

async function start(input: string, began: number): Promise<ChildProcess> {
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
  child.stdin.end(input);
  await once(child.stdout, 'data');
  return child;
}

it('EVT-40 W09 kill -9 at any time loses no event and tells no rung twice', async () => {
  await app.channel(
    owner,
    'api_key.created',
    'balance.depleted',
    ...FLOORS.map((threshold_usd) => ({ alert_type: 'balance.low', threshold_usd })),
  );
  const input = JSON.stringify(records());
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
  const expected = EVENTS + FLOORS.length + 1;
  const ids = (type: string) => new Set(app.receiver.of(type).map(({ event }) => event.id));
  const open = `SELECT count(*)::int AS n FROM delivery WHERE status <> 'delivered'`;
  await eventually(
    async () =>
      ids('api_key.created').size === EVENTS &&
      ids('balance.low').size === FLOORS.length &&
      (await app.database.pool.query<{ n: number }>(open)).rows[0].n === 0,
    { timeoutMs: 60_000, intervalMs: 200 },
  );
  const { rows } = await app.database.pool.query<{ n: number }>('SELECT count(*)::int AS n FROM delivery');
  expect(rows[0].n).toBe(expected);
  expect(ids('balance.depleted').size).toBe(1);
  expect(new Set(app.receiver.received.map(({ event }) => event.id)).size).toBe(expected);
  const lows = new Map(app.receiver.of('balance.low').map(({ event }) => [event.id, event.data.balance_usd]));
  expect([...lows.values()].sort()).toEqual(['17.5', '47.5', '77.5']);
  const gone = once(last, 'close');
  last.kill('SIGTERM');
  last.kill('SIGKILL');
  await gone;
}, 180_000);
