import { Module } from '@nestjs/common';
import {
  ApiError,
  EventLog,
  LimitStore,
  PrincipalReader,
  TOPIC,
  type ConsumedRecord,
  type Credential,
  type KeyPrincipal,
  type LogRecord,
  type Principal,
  type RejectionRecord,
  type SessionPrincipal,
  type Subscription,
  type UsageRecord,
} from '@gateway/contracts';
import { InProcessLimitStore, keyScopeLimits } from '@gateway/limits';
import { applyMigrations } from '@gateway/database';
import { bootstrap, PlatformModule, SystemClock, SystemRandom, type RunningApp } from '@gateway/platform';
import { UsageConsumer } from './ingest/usage.consumer.js';
import { LedgerFunds } from './ledger/ledger-funds.js';
import { Mirrors } from './mirror/mirrors.js';
import { WindowRoller } from './mirror/window-roller.js';
import { SCHEMA, SCHEMA_DIR, UsageDatabase } from './postgres/usage-database.js';
import { UsageConfig } from './usage.config.js';
import { UsageModule } from './usage.module.js';

/** The service over a real database with what surrounds it in process. Only specs start it. */
export const FLEET_TOKEN = 'fleet-token-of-the-usage-specs';

export interface UsageApp extends RunningApp {
  database: UsageDatabase;
  consumer: UsageConsumer;
  funds: LedgerFunds;
  mirrors: Mirrors;
  roller: WindowRoller;
  limits: InProcessLimitStore;
  log: SilentEventLog;
  principals: FewPrincipals;
  call(
    method: 'GET' | 'POST',
    path: string,
    as: string | null,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>;
  /** Hands records to the consumer as the event log would. */
  post(...records: (UsageRecord | RejectionRecord)[]): Promise<void>;
}

export interface Answer {
  status: number;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  body: any;
}

/** Keeps what the outbox relays; delivers nothing by itself. */
export class SilentEventLog extends EventLog {
  readonly appended: { topic: string; record: LogRecord }[] = [];

  override async append(topic: string, records: LogRecord[]): Promise<void> {
    this.appended.push(...records.map((record) => ({ topic, record })));
  }

  override async consume(_subscription: Subscription): Promise<{ stop(): Promise<void> }> {
    return { stop: async () => undefined };
  }

  override async close(): Promise<void> {}
}

/** Principals by the credential's text: a key's id stands for its digest. */
export class FewPrincipals extends PrincipalReader {
  readonly known = new Map<string, Principal>();

  override async resolve(credential: Credential): Promise<Principal> {
    const found = this.known.get(credential.kind === 'session' ? credential.token : credential.digest);
    if (found === undefined) throw new ApiError('unauthorized');
    return found;
  }

  override reload(credential: Credential): Promise<Principal> {
    return this.resolve(credential);
  }
}

/** For `testDatabase`: the migrations of this service. */
export const MIGRATED = {
  schemaDir: SCHEMA_DIR,
  migrate: async (url: string): Promise<void> => {
    await applyMigrations({ url, schemaDir: SCHEMA_DIR, schema: SCHEMA });
  },
};

/** Starts the service over a migrated database. */
export async function startUsageApp(
  url: string,
  options: { limits?: LimitStore; eventLog?: EventLog } = {},
): Promise<UsageApp> {
  const clock = new SystemClock();
  const limits = new InProcessLimitStore({ clock, random: new SystemRandom() });
  const log = new SilentEventLog();
  const principals = new FewPrincipals();
  const platform = PlatformModule.with({
    service: 'usage',
    logLevel: 'silent',
    fleetToken: FLEET_TOKEN,
    eventLog: () => options.eventLog ?? log,
    limitStore: () => options.limits ?? limits,
  });
  const config = Object.assign(new UsageConfig(), { USAGE_DATABASE_URL: url });
  class UsageAppModule {}
  Module({
    imports: [platform, UsageModule.with(config)],
    providers: [{ provide: PrincipalReader, useValue: principals }],
  })(UsageAppModule);
  const running = await bootstrap({
    name: 'usage',
    module: UsageAppModule,
    config: { host: '127.0.0.1', port: 0, drainGraceMs: 500 },
  });
  const { app } = running;
  const consumer = app.get(UsageConsumer, { strict: false });
  return {
    ...running,
    database: app.get(UsageDatabase, { strict: false }),
    consumer,
    funds: app.get(LedgerFunds, { strict: false }),
    mirrors: app.get(Mirrors, { strict: false }),
    roller: app.get(WindowRoller, { strict: false }),
    limits,
    log,
    principals,
    call: (method, path, as, body, headers) => call(app, method, path, as, body, headers),
    post: (...records) => consumer.apply(records.map(delivered)),
  };
}

async function call(
  app: RunningApp['app'],
  method: 'GET' | 'POST',
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
    ...(body === undefined ? {} : { payload: body as object }),
  });
  const text = response.body;
  return { status: response.statusCode, body: text === '' ? null : (JSON.parse(text) as unknown) };
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

export function cloudEvent(topic: string, data: UsageRecord | RejectionRecord): string {
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

const NOW = new Date(new SystemClock().now()).toISOString();
let sequence = 0;

/** A served chat of an org's key, costing 0.0015. */
export function usageRecord(more: Partial<UsageRecord> = {}): UsageRecord {
  sequence += 1;
  const request_id = more.request_id ?? `req_${String(sequence).padStart(8, '0')}`;
  return {
    id: `use_${request_id}_${more.unit ?? 0}`,
    request_id,
    unit: 0,
    account_id: 'acct_1',
    org_id: 'org_1',
    team_id: 'team_1',
    member_id: 'usr_1',
    key_id: 'key_1',
    endpoint: '/v1/chat/completions',
    model: 'acme/swift',
    requested_model: 'acme/swift',
    provider: 'hosty',
    status: 'success',
    outcome: 'served',
    http_status: 200,
    error_code: null,
    stream: false,
    usage: { prompt_tokens: 100, completion_tokens: 50, requests: 1 },
    usage_estimated: false,
    priced_from: null,
    cost_usd: '0.0015',
    list_cost_usd: '0.0015',
    attempts: [attemptRecord()],
    latency_ms: 120.4,
    ttft_ms: 80,
    created_at: NOW,
    routing_fallback: false,
    byok_used: false,
    cache_hit: false,
    request_tags: {},
    end_user_hash: null,
    api_version: '2026-08',
    limits: [],
    producer: 'edge-1',
    epoch: 'e1',
    seq: sequence,
    ...more,
  };
}

export function attemptRecord(
  more: Partial<UsageRecord['attempts'][number]> = {},
): UsageRecord['attempts'][number] {
  return {
    n: 1,
    provider: 'hosty',
    model: 'acme/swift',
    status: 'success',
    http_status: 200,
    error_code: null,
    provider_code: null,
    error_message: null,
    started_at: '2026-11-20T10:00:00.000Z',
    latency_ms: 100,
    ttft_ms: 80,
    prompt_tokens: 100,
    completion_tokens: 50,
    served: true,
    house_usd: null,
    ...more,
  };
}

export function rejectionRecord(more: Partial<RejectionRecord> = {}): RejectionRecord {
  sequence += 1;
  return {
    request_id: `req_${String(sequence).padStart(8, '0')}`,
    created_at: NOW,
    account_id: 'acct_1',
    org_id: 'org_1',
    team_id: 'team_1',
    member_id: 'usr_1',
    key_id: 'key_1',
    endpoint: '/v1/chat/completions',
    model: 'acme/swift',
    requested_model: 'acme/swift',
    http_status: 429,
    code: 'rate_limit_exceeded',
    message: 'Too many requests.',
    scope: 'key',
    scope_id: 'key_1',
    limit_type: 'rpm',
    cap_usd: null,
    spent_usd: null,
    count: 1,
    request_tags: {},
    producer: 'edge-1',
    epoch: 'e1',
    seq: sequence,
    ...more,
  };
}

export function keyPrincipal(more: Partial<KeyPrincipal> = {}): KeyPrincipal {
  const keyId = more.keyId ?? 'key_1';
  return {
    kind: 'key',
    keyId,
    label: null,
    status: 'active',
    accountId: 'acct_1',
    accountVersion: 1,
    creditLimitUsd: '0',
    orgId: 'org_1',
    teamId: null,
    createdBy: 'usr_1',
    apiVersion: null,
    defaultModel: null,
    permissions: null,
    limits: [
      keyScopeLimits(keyId, { rpm: null, rpd: 50, tpm: null, spendCapUsd: null }),
      { ...keyScopeLimits('org_1', { rpm: 500, rpd: null, tpm: null, spendCapUsd: null }), kind: 'org' },
    ],
    access: [],
    modelLimits: {},
    routingPolicy: null,
    fixedProvider: null,
    requestTags: {},
    expiresAtMs: null,
    endUserKey: 'AA==',
    ...more,
  };
}

export function sessionPrincipal(more: Partial<SessionPrincipal> = {}): SessionPrincipal {
  return {
    kind: 'session',
    userId: 'usr_1',
    sessionId: 'ses_1',
    email: 'one@example.com',
    isSuperAdmin: false,
    accountId: 'acct_own',
    accountVersion: 1,
    memberships: [],
    ...more,
  };
}
