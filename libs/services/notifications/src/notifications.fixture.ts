import { Module, type DynamicModule } from '@nestjs/common';
import {
  Directory,
  LimitStore,
  newId,
  PrincipalReader,
  TOPIC,
  type AccountEvent,
  type ConsumedRecord,
  type NewAccountEvent,
  type OrgRole,
  type RejectionRecord,
  type UsageRecord,
} from '@gateway/contracts';
import { applyMigrations } from '@gateway/database';
import { connectEventLog, OutboxRelay } from '@gateway/event-log';
import { Mailer } from '@gateway/mail';
import { bootstrap, PlatformModule, SystemRandom, type RunningApp } from '@gateway/platform';
import {
  DirectoryDouble,
  EventLogDouble,
  fixedClock,
  LimitStoreDouble,
  MailerDouble,
  NO_PRESSURE,
  PrincipalReaderDouble,
  sessionPrincipal,
  testDatabase,
  type FixedClock,
} from '@gateway/testing';
import { ClosedChannels } from './background/closed-channels.js';
import { Housekeeping } from './background/housekeeping.js';
import { DispatchLoop } from './deliveries/dispatch-loop.js';
import { EventsConsumer } from './events.consumer.js';
import { NotificationsConfig } from './notifications.config.js';
import { NotificationsModule } from './notifications.module.js';
import { NotificationsDatabase, SCHEMA, SCHEMA_DIR } from './postgres/notifications-database.js';
import { startReceiver, type WebhookReceiver } from './webhook-receiver.fixture.js';

/** The service over a real database, with an endpoint that receives; only specs start it. Its clock stands still. */
export interface NotificationsApp extends RunningApp {
  clock: FixedClock;
  database: NotificationsDatabase;
  databaseUrl: string;
  dispatch: DispatchLoop;
  principals: PrincipalReaderDouble;
  receiver: WebhookReceiver;
  mailer: MailerDouble;
  /** A person with this role in a new organization. */
  person(role?: OrgRole, orgId?: string): Person;
  call(
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    as: Person | string | null,
    body?: unknown,
  ): Promise<Answer>;
  /** An enabled webhook channel at the receiver, subscribed to these. */
  channel(person: Person, ...policies: (string | object)[]): Promise<Channel>;
  /** Records as the event log hands them over, again where they were handed over before. */
  account(...events: AccountEvent[]): Promise<void>;
  usage(...records: UsageRecord[]): Promise<void>;
  rejections(...records: RejectionRecord[]): Promise<void>;
  /** An event as another service makes it. */
  event(event: NewAccountEvent): AccountEvent;
  /** Sends what is due, until nothing is. */
  deliver(): Promise<void>;
}

export interface Person {
  token: string;
  userId: string;
  orgId: string;
}

interface Channel {
  id: string;
  secret: string;
  policies: string[];
}

interface Answer {
  status: number;
  headers: Record<string, unknown>;
  text: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  body: any;
}

export const START = '2026-11-22T12:00:00.000Z';

/** Migrations of this service, for `testDatabase`. */
export const MIGRATED = {
  schemaDir: SCHEMA_DIR,
  migrate: async (url: string): Promise<void> => {
    await applyMigrations({ url, schemaDir: SCHEMA_DIR, schema: SCHEMA });
  },
};

/** Starts the service over a database of its own, which goes when the service is closed. */
export async function startOnOwnDatabase(): Promise<NotificationsApp> {
  const database = await testDatabase(MIGRATED);
  const app = await startNotificationsApp(database.url);
  return {
    ...app,
    close: async () => {
      await app.close();
      await database.drop();
    },
  };
}

export async function startNotificationsApp(
  url: string,
  more: Partial<NotificationsConfig> = {},
): Promise<NotificationsApp> {
  const clock = fixedClock(START);
  const random = new SystemRandom();
  const principals = new PrincipalReaderDouble();
  const receiver = await startReceiver();
  const mailer = new MailerDouble();
  const running = await boot(url, {
    clock,
    principals,
    mailer,
    more: { ALERTS_ALLOW_PRIVATE: [receiver.place], ...more },
  });
  const { app } = running;
  const dispatch = app.get(DispatchLoop, { strict: false });
  // Time moves when a test moves it, and what is due is sent when it says so.
  for (const loop of [
    dispatch,
    app.get(Housekeeping, { strict: false }),
    app.get(ClosedChannels, { strict: false }),
  ])
    await loop.beforeApplicationShutdown();
  await app.get(OutboxRelay, { strict: false }).stop();
  const call = callOver(app);
  return {
    ...running,
    close: async () => {
      await running.close();
      await receiver.close();
    },
    clock,
    database: app.get(NotificationsDatabase, { strict: false }),
    databaseUrl: url,
    dispatch,
    principals,
    receiver,
    mailer,
    person: (role = 'owner', orgId = newId('org', clock, random)) => {
      const userId = newId('usr', clock, random);
      const membership = { orgId, accountId: `acct_${orgId}`, role, teams: [] };
      const token = `header.${userId}.signature`;
      principals.add(token, sessionPrincipal({ userId, memberships: [membership] }));
      return { token, userId, orgId };
    },
    call,
    channel: (person, ...policies) => channelWith(call, receiver.url, person, policies),
    ...consumed(app),
    event: (event) => ({
      ...event,
      id: newId('evt', clock, random),
      created_at: new Date(clock.now()).toISOString(),
    }),
    deliver: async () => {
      for (let rounds = 0; rounds < 100; rounds += 1) {
        await dispatch.round();
        if (dispatch.isIdle) return;
        await dispatch.settled();
      }
      throw new Error('The deliveries do not come to an end.');
    },
  };
}

/** Module that replaces a mail server and the keys service: each organization has one owner. */
export function mailModule(mailer: Mailer): DynamicModule {
  const providers = [
    { provide: Mailer, useValue: mailer },
    { provide: Directory, useValue: new DirectoryDouble() },
  ];
  return { module: class Mail {}, global: true, providers, exports: [Mailer, Directory] };
}

function boot(
  url: string,
  {
    clock,
    principals,
    mailer,
    more,
  }: {
    clock: FixedClock;
    principals: PrincipalReaderDouble;
    mailer: Mailer;
    more: Partial<NotificationsConfig>;
  },
): Promise<RunningApp> {
  const platform = PlatformModule.with({
    service: 'notifications',
    logLevel: 'silent',
    fleetToken: 'fleet-token-of-the-notifications-specs',
    eventLog: () => new EventLogDouble(),
    limitStore: (): LimitStore => new LimitStoreDouble({ clock, random: new SystemRandom() }),
    clock,
  });
  const config = Object.assign(new NotificationsConfig(), {
    NOTIFICATIONS_DATABASE_URL: url,
    NOTIFICATIONS_KEK: Buffer.alloc(32, 3).toString('base64'),
    ...more,
  });
  class Root {}
  Module({
    imports: [platform, mailModule(mailer), NotificationsModule.with(config)],
    providers: [{ provide: PrincipalReader, useValue: principals }],
  })(Root);
  const place = { host: '127.0.0.1', port: 0, drainGraceMs: 500, pressure: NO_PRESSURE };
  return bootstrap({ name: 'notifications', module: Root, config: place, connect: connectEventLog });
}

function consumed(app: RunningApp['app']): Pick<NotificationsApp, 'account' | 'usage' | 'rejections'> {
  const consumer = app.get(EventsConsumer, { strict: false });
  const strict = async (dead: Promise<readonly { reason: string }[]>): Promise<void> => {
    const [letter] = await dead;
    if (letter !== undefined) throw new Error(letter.reason);
  };
  return {
    account: (...events) => strict(consumer.account(events.map((data) => recordOf(TOPIC.account, data)))),
    usage: (...records) => strict(consumer.units(records.map((data) => recordOf(TOPIC.usage, data)))),
    rejections: (...records) =>
      strict(consumer.rejections(records.map((data) => recordOf(TOPIC.rejections, data)))),
  };
}

function recordOf(topic: string, data: { account_id: string }): ConsumedRecord {
  const value = JSON.stringify({ specversion: '1.0', id: 'any', source: '/spec', type: topic, data });
  return { topic, partition: 0, offset: '0', key: data.account_id, value };
}

function callOver(app: RunningApp['app']): NotificationsApp['call'] {
  return async (method, path, as, body) => {
    const token = typeof as === 'object' ? as?.token : as;
    const response = await app.inject({
      method,
      url: path,
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      ...(body === undefined ? {} : { payload: body as object }),
    });
    const text = response.body;
    const parsed: unknown = /^[{[]/.test(text) ? JSON.parse(text) : null;
    return { status: response.statusCode, headers: response.headers, text, body: parsed };
  };
}

async function channelWith(
  call: NotificationsApp['call'],
  destination: string,
  person: Person,
  policies: readonly (string | object)[],
): Promise<Channel> {
  const made = await call('POST', '/alerts/channels', person, {
    channel_type: 'webhook',
    destination,
    is_enabled: true,
  });
  if (made.status !== 201) throw new Error(made.text);
  const { id, signing_secret: secret } = made.body as { id: string; signing_secret: string };
  const ids: string[] = [];
  for (const policy of policies) {
    const fields = typeof policy === 'string' ? { alert_type: policy } : policy;
    const answer = await call('POST', '/alerts/policies', person, {
      channel_id: id,
      is_enabled: true,
      ...fields,
    });
    if (answer.status !== 201) throw new Error(answer.text);
    ids.push((answer.body as { id: string }).id);
  }
  return { id, secret, policies: ids };
}
