import { Module } from '@nestjs/common';
import {
  CatalogueReader,
  Directory,
  ResponseStore,
  LimitStore,
  PrincipalReader,
  TOPIC,
  type ConsumedRecord,
  type EventLog,
  type KeyPrincipal,
  type RejectionRecord,
  type UsageRecord,
  type UsageRecordV2,
} from '@gateway/contracts';
import { keyScopeLimits } from '@gateway/limits';
import { applyMigrations } from '@gateway/database';
import { connectEventLog } from '@gateway/event-log';
import { bootstrap, PlatformModule, SystemClock, SystemRandom, type RunningApp } from '@gateway/platform';
import {
  DirectoryDouble,
  ResponseStoreDouble,
  EventLogDouble,
  keyPrincipal,
  LimitStoreDouble,
  NO_PRESSURE,
  PrincipalReaderDouble,
  scopeLimits,
} from '@gateway/testing';
import { Ingestion } from './ingest/ingestion.js';
import { LedgerFunds } from './ledger/ledger-funds.js';
import { Projections } from './projection/projections.js';
import { WindowRollup } from './projection/window-rollup.js';
import { SCHEMA, SCHEMA_DIR, UsageDatabase } from './postgres/usage-database.js';
import { UsageConfig } from './usage.config.js';
import { UsageModule } from './usage.module.js';

/** The service over a real database with what surrounds it in process. Only specs start it. */
export const FLEET_TOKEN = 'fleet-token-of-the-usage-specs';

export interface UsageApp extends RunningApp {
  database: UsageDatabase;
  ingestion: Ingestion;
  funds: LedgerFunds;
  projections: Projections;
  roller: WindowRollup;
  limits: LimitStoreDouble;
  log: EventLogDouble;
  principals: PrincipalReaderDouble;
  directory: DirectoryDouble;
  responses: ResponseStoreDouble;
  call(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    path: string,
    as: string | null,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>;
  /** Hands records to the consumer as the event log would. */
  post(...records: (UsageRecord | RejectionRecord)[]): Promise<void>;
}

interface Answer {
  status: number;
  headers: Record<string, unknown>;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  body: any;
}

/** Migrations of this service, for `testDatabase`. */
export const MIGRATED = {
  schemaDir: SCHEMA_DIR,
  migrate: async (url: string): Promise<void> => {
    await applyMigrations({ url, schemaDir: SCHEMA_DIR, schema: SCHEMA });
  },
};

const KEK = Buffer.alloc(32, 5).toString('base64');

/** Starts the service over a migrated database. */
export async function startUsageApp(
  url: string,
  options: {
    limits?: LimitStore;
    eventLog?: EventLog;
    catalogue?: CatalogueReader;
    settings?: Partial<UsageConfig>;
  } = {},
): Promise<UsageApp> {
  const clock = new SystemClock();
  const limits = new LimitStoreDouble({ clock, random: new SystemRandom() });
  const log = new EventLogDouble();
  const principals = new PrincipalReaderDouble();
  const directory = new DirectoryDouble();
  const responses = new ResponseStoreDouble();
  const platform = PlatformModule.with({
    service: 'usage',
    logLevel: 'silent',
    fleetToken: FLEET_TOKEN,
    eventLog: () => options.eventLog ?? log,
    limitStore: () => options.limits ?? limits,
  });
  const config = Object.assign(new UsageConfig(), {
    USAGE_DATABASE_URL: url,
    USAGE_KEK: KEK,
    ...options.settings,
  });
  const catalogue = options.catalogue ? [{ provide: CatalogueReader, useValue: options.catalogue }] : [];
  const providers = [
    { provide: PrincipalReader, useValue: principals },
    { provide: Directory, useValue: directory },
    { provide: ResponseStore, useValue: responses },
    ...catalogue,
  ];
  const neighbours = { module: class Neighbours {}, global: true, providers, exports: providers };
  class UsageAppModule {}
  Module({ imports: [platform, neighbours, UsageModule.with(config)] })(UsageAppModule);
  const running = await bootstrap({
    name: 'usage',
    module: UsageAppModule,
    config: { host: '127.0.0.1', port: 0, drainGraceMs: 500, pressure: NO_PRESSURE },
    connect: connectEventLog,
  });
  const { app } = running;
  const ingestion = app.get(Ingestion, { strict: false });
  return {
    ...running,
    database: app.get(UsageDatabase, { strict: false }),
    ingestion,
    funds: app.get(LedgerFunds, { strict: false }),
    projections: app.get(Projections, { strict: false }),
    roller: app.get(WindowRollup, { strict: false }),
    limits,
    log,
    principals,
    directory,
    responses,
    call: (method, path, as, body, headers) => call(app, method, path, as, body, headers),
    post: (...records) => ingestion.apply(records.map(delivered)),
  };
}

async function call(
  app: RunningApp['app'],
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  as: string | null,
  body: unknown,
  more: Record<string, string> = {},
): Promise<Answer> {
  const caller: Record<string, string> =
    as === FLEET_TOKEN ? { 'x-fleet-token': as } : as === null ? {} : { authorization: `Bearer ${as}` };
  const response = await app.inject({
    method,
    url: path,
    headers: { ...caller, ...more },
    ...(body === undefined ? {} : { payload: body as object | string }),
  });
  const text = response.body;
  const isJson = String(response.headers['content-type']).includes('json');
  return {
    status: response.statusCode,
    headers: response.headers,
    body: isJson ? (JSON.parse(text) as unknown) : text === '' ? null : text,
  };
}

/** A record as the log delivers it. */
export function delivered(record: UsageRecord | RejectionRecord): ConsumedRecord {
  const topic = 'unit' in record ? TOPIC.usage : TOPIC.rejections;
  return {
    topic,
    partition: 0,
    offset: String(record.seq),
    key: record.account_id,
    value: cloudEvent(topic, record),
  };
}

export function cloudEvent(topic: string, data: UsageRecord | UsageRecordV2 | RejectionRecord): string {
  return JSON.stringify({
    specversion: '1.0',
    id: `${data.epoch}-${data.seq}`,
    source: `/${data.producer}`,
    type: topic,
    time: data.created_at,
    datacontenttype: 'application/json',
    data,
  });
}

/** A key with limits of its own and of its organization. */
export function limitedKey(more: Partial<KeyPrincipal> = {}): KeyPrincipal {
  const keyId = more.keyId ?? 'key_1';
  const limits = [
    keyScopeLimits(keyId, { rpm: null, rpd: 50, tpm: null, spendCapUsd: null }),
    scopeLimits('org', 'org_1', { rpm: 500 }),
  ];
  return keyPrincipal({ limits, ...more });
}
