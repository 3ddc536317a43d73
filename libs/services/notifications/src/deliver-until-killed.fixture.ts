import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { PrincipalReader, type AccountEvent } from '@gateway/contracts';
import { bootstrap, PlatformModule, SystemClock, SystemRandom } from '@gateway/platform';
import {
  EventLogDouble,
  FastClock,
  LimitStoreDouble,
  MailerDouble,
  PrincipalReaderDouble,
} from '@gateway/testing';
import { Enqueue } from './events/enqueue.js';
import { accountNotices } from './events/account-notices.js';
import { NotificationsConfig } from './notifications.config.js';
import { mailModule, START } from './notifications.fixture.js';
import { NotificationsModule } from './notifications.module.js';
import { movementNotices } from './notices/movement-notices.js';

/**
 * The service as a process of its own that may be killed at any time: `<database> <place of the receiver> <wall time at
 * which its clock began> <speed of its clock>`, the records as JSON on one line of standard input. It says how many of them
 * it has taken after each batch, as a consumer commits.
 */
const [, , database, place, began, speed] = process.argv;
const BATCH = 5;

const from = { machineMs: Number(began), shownMs: Date.parse(START) };
const clock = new FastClock(new SystemClock(), Number(speed), from);
const config = Object.assign(new NotificationsConfig(), {
  NOTIFICATIONS_DATABASE_URL: database,
  NOTIFICATIONS_KEK: Buffer.alloc(32, 3).toString('base64'),
  ALERTS_ALLOW_PRIVATE: [place],
});
const platform = PlatformModule.with({
  service: 'notifications',
  logLevel: 'silent',
  fleetToken: 'fleet-token-of-the-notifications-specs',
  eventLog: () => new EventLogDouble(),
  limitStore: () => new LimitStoreDouble({ clock, random: new SystemRandom() }),
  clock,
});
class Root {}
Module({
  imports: [platform, mailModule(new MailerDouble()), NotificationsModule.with(config)],
  providers: [{ provide: PrincipalReader, useValue: new PrincipalReaderDouble() }],
})(Root);

const { app } = await bootstrap({
  name: 'notifications',
  module: Root,
  config: { host: '127.0.0.1', port: 0, drainGraceMs: 0 },
});
process.stdout.write('ready\n');

let input = '';
for await (const chunk of process.stdin) input += String(chunk);
const events = JSON.parse(input) as AccountEvent[];
const enqueue = app.get(Enqueue, { strict: false });
for (let from = 0; from < events.length; from += BATCH) {
  const batch = events.slice(from, from + BATCH);
  await enqueue.run(
    batch.flatMap(({ org_id }) => org_id ?? []),
    (thresholds) =>
      batch.flatMap((event) => [...accountNotices(event), ...movementNotices(event, thresholds)]),
  );
  process.stdout.write(`fed ${from + batch.length}\n`);
}
