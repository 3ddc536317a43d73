import { Module } from '@nestjs/common';
import { CatalogueNames, Funds, newId, type Clock, type LimitStore, type OrgRole } from '@gateway/contracts';
import { applyMigrations } from '@gateway/database';
import { Mailer } from '@gateway/mail';
import { bootstrap, PlatformModule, SystemClock, SystemRandom, type RunningApp } from '@gateway/platform';
import {
  CatalogueNamesDouble,
  EventLogDouble,
  FundsDouble,
  LimitStoreDouble,
  MailerDouble,
  NO_PRESSURE,
  testDatabase,
  type TestDatabase,
} from '@gateway/testing';
import type { KeyedProvider } from '@gateway/upstream';
import { createAccount } from './accounts/account.store.js';
import { FirstRun, type FirstRunResult } from './first-run/first-run.js';
import { KeysConfig } from './keys.config.js';
import { KeysModule } from './keys.module.js';
import { KeysDatabase, SCHEMA, SCHEMA_DIR } from './postgres/keys-database.js';
import { SessionTokens } from './sessions/session-token.js';
import { startSession } from './sessions/session.store.js';

/** The keys service with the real database, in one process; only specs start it. */
export const FLEET_TOKEN = 'fleet-token-of-the-keys-specs';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface Person {
  userId: string;
  email: string;
  accountId: string;
  token: string;
}

export interface KeysApp extends RunningApp {
  funds: FundsDouble;
  events: EventLogDouble;
  mail: MailerDouble;
  names: CatalogueNamesDouble;
  limits: LimitStore;
  /** Settings that a test may change. */
  config: KeysConfig;
  database: KeysDatabase;
  first: FirstRunResult;
  /** The super admin, who is the owner of the first org. */
  admin: Person;
  /** Another session of a person. */
  signedIn(userId: string): Promise<Person>;
  /** A new person with a session. */
  person(membership?: { orgId: string; role: OrgRole }): Promise<Person>;
  /** A new org of this owner. */
  org(
    owner: Person,
    more?: { tier?: string; default_api_version?: string },
  ): Promise<{ orgId: string; accountId: string }>;
  call(method: Method, path: string, options?: CallOptions): Promise<Answer>;
}

interface CallOptions {
  /** A person's session, or any bearer text. */
  as?: Person | string;
  body?: unknown;
  headers?: Record<string, string>;
}

export interface Answer {
  status: number;
  headers: Record<string, string | undefined>;
  text: string;
  body: Record<string, unknown>;
}

export function keysConfig(url: string, more: Partial<KeysConfig> = {}): KeysConfig {
  return Object.assign(new KeysConfig(), {
    KEYS_DATABASE_URL: url,
    KEYS_DATABASE_CONNECTIONS: 5,
    KEYS_PEPPER: Buffer.alloc(32, 1).toString('base64'),
    KEYS_KEK: Buffer.alloc(32, 2).toString('base64'),
    KEYS_PRINCIPAL_CACHE: true,
    ...more,
  });
}

/** An empty database of this service. */
export function migratedDatabase(): Promise<TestDatabase> {
  const migrate = async (url: string): Promise<void> => {
    await applyMigrations({ url, schemaDir: SCHEMA_DIR, schema: SCHEMA });
  };
  return testDatabase({ schemaDir: SCHEMA_DIR, migrate });
}

/** Starts the service over a migrated database and seeds it as the first run does. */
export async function startKeysApp(
  url: string,
  options: {
    clock?: Clock;
    config?: Partial<KeysConfig>;
    limits?: LimitStore;
    keyed?: ReadonlyMap<string, KeyedProvider>;
    /** Gets what the service logs; nothing is logged without it. */
    logTo?: { write(line: string): void };
  } = {},
): Promise<KeysApp> {
  const clock = options.clock ?? new SystemClock();
  const limits = options.limits ?? new LimitStoreDouble({ clock, random: new SystemRandom() });
  const funds = new FundsDouble();
  const events = new EventLogDouble();
  const settings = keysConfig(url, options.config);
  const mail = new MailerDouble();
  const platform = PlatformModule.with({
    service: 'keys',
    logLevel: options.logTo === undefined ? 'silent' : 'info',
    logTo: options.logTo,
    fleetToken: FLEET_TOKEN,
    eventLog: () => events,
    limitStore: () => limits,
    clock,
  });
  const names = new CatalogueNamesDouble();
  const neighbours = {
    module: class Neighbours {},
    global: true,
    providers: [
      { provide: Mailer, useValue: mail },
      { provide: CatalogueNames, useValue: names },
      { provide: Funds, useValue: funds },
    ],
    exports: [Mailer, CatalogueNames, Funds],
  };
  class KeysAppModule {}
  Module({ imports: [platform, neighbours, KeysModule.with(settings, options.keyed)] })(KeysAppModule);
  const config = { host: '127.0.0.1', port: 0, drainGraceMs: 1_000, pressure: NO_PRESSURE };
  const running = await bootstrap({ name: 'keys', module: KeysAppModule, config });
  const database = running.app.get(KeysDatabase, { strict: false });
  const first = await running.app.get(FirstRun, { strict: false }).run({ withKey: true });
  if (first === null) throw new Error('The database of this spec was not empty.');
  const people = peopleOf(running, clock);
  const { id } = await database.prisma.user.findUniqueOrThrow({ where: { email: first.admin.email } });
  return {
    ...running,
    ...people,
    funds,
    events,
    mail,
    names,
    limits,
    config: settings,
    database,
    first,
    admin: await people.signedIn(id),
    call: (method, path, call) => callOver(running, method, path, call),
  };
}

type People = Pick<KeysApp, 'person' | 'org' | 'signedIn'>;

function peopleOf(running: RunningApp, clock: Clock): People {
  const database = running.app.get(KeysDatabase, { strict: false });
  const tokens = running.app.get(SessionTokens, { strict: false });
  const sources = { clock, random: new SystemRandom() };
  const now = (): Date => new Date(clock.now());
  const signedIn = async (userId: string): Promise<Person> => {
    const user = await database.prisma.user.findUniqueOrThrow({
      where: { id: userId },
      include: { account: true },
    });
    const { sessionId } = await database.transaction((tx) =>
      startSession(tx, user, { ip: '127.0.0.1', userAgent: 'spec' }, sources),
    );
    const { token } = await tokens.issue({ userId, sessionId, epoch: user.epoch });
    return { userId, email: user.email, accountId: user.account?.id ?? '', token };
  };
  return {
    signedIn,
    person: async (membership) => {
      const id = newId('usr', clock, sources.random);
      const email = `${id}@example.com`;
      await database.prisma.user.create({
        data: { id, email, name: 'A person', password_hash: 'none', created_at: now() },
      });
      await createAccount(database.prisma, { userId: id }, sources);
      if (membership !== undefined) {
        const { orgId, role } = membership;
        await database.prisma.membership.create({
          data: { org_id: orgId, user_id: id, role, created_at: now() },
        });
      }
      return signedIn(id);
    },
    org: async (owner, more = {}) => {
      const orgId = newId('org', clock, sources.random);
      await database.prisma.org.create({
        data: { id: orgId, name: 'Another org', created_at: now(), updated_at: now(), ...more },
      });
      const accountId = await createAccount(database.prisma, { orgId }, sources);
      const membership = { org_id: orgId, user_id: owner.userId, role: 'owner', created_at: now() };
      await database.prisma.membership.create({ data: membership });
      return { orgId, accountId };
    },
  };
}

async function callOver(
  running: RunningApp,
  method: Method,
  path: string,
  { as, body, headers = {} }: CallOptions = {},
): Promise<Answer> {
  const token = typeof as === 'object' ? as.token : as;
  const response = await running.app.inject({
    method,
    url: path,
    headers: { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...headers },
    ...(body === undefined ? {} : { payload: body as object }),
  });
  const text = response.body;
  const parsed: unknown = text.startsWith('{') ? JSON.parse(text) : {};
  const shown = Object.entries(response.headers).map(([name, value]) => [name, value?.toString()]);
  return {
    status: response.statusCode,
    headers: Object.fromEntries(shown) as Record<string, string | undefined>,
    text,
    body: parsed as Record<string, unknown>,
  };
}
