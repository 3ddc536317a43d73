import { Module, type DynamicModule } from '@nestjs/common';
import {
  ApiError,
  PrincipalReader,
  type Credential,
  type EventLog,
  type KeyPrincipal,
  type LimitStore,
  type LogRecord,
  type ModelAccess,
  type Principal,
  type SessionPrincipal,
} from '@gateway/contracts';
import {
  bootstrap,
  loadConfig,
  mintSecret,
  PlatformModule,
  secretDigest,
  SystemRandom,
  type RunningApp,
} from '@gateway/platform';
import { CatalogueConfig } from './catalogue.config.js';
import { CatalogueModule } from './catalogue.module.js';

/** The catalogue service in one process with principals that a spec names; only specs start it. */
export const FLEET_TOKEN = 'fleet-token-of-the-spec';

/** The memory of a test run is not the service's. */
const NO_LIMIT = { some: Infinity, all: Infinity };
const NO_PRESSURE = { delayMs: NO_LIMIT, rssBytes: NO_LIMIT, bodyBytes: NO_LIMIT };

class NamedPrincipals extends PrincipalReader {
  readonly byCredential = new Map<string, Principal>();

  async resolve(credential: Credential): Promise<Principal> {
    const found = this.byCredential.get(credential.kind === 'session' ? credential.token : credential.digest);
    if (found === undefined) throw new ApiError('unauthorized');
    return found;
  }

  reload(credential: Credential): Promise<Principal> {
    return this.resolve(credential);
  }
}

export interface CatalogueApp extends RunningApp {
  /** A new credential of this caller. */
  credentialOf(principal: Principal): string;
  /** What the outbox has sent. */
  sent: { topic: string; record: LogRecord }[];
  get(path: string, credential?: string, headers?: Record<string, string>): Promise<Answer>;
}

export interface Answer {
  status: number;
  headers: Headers;
  /** Untyped as JSON.parse answers it: what it holds is asserted. */
  body: ReturnType<JSON['parse']>;
}

export async function startCatalogue(
  env: Partial<Record<keyof CatalogueConfig, string>>,
): Promise<CatalogueApp> {
  const config = loadConfig(CatalogueConfig, { CATALOGUE_MIGRATE_AT_START: 'true', ...env });
  const principals = new NamedPrincipals();
  const sent: CatalogueApp['sent'] = [];
  const platform = PlatformModule.with({
    service: 'catalogue',
    logLevel: 'silent',
    fleetToken: FLEET_TOKEN,
    eventLog: () => collectingLog(sent),
    limitStore: () => ({ version: async () => null, close: async () => undefined }) as unknown as LimitStore,
  });
  class Root {}
  Module({
    imports: [platform, CatalogueModule.with(config)],
    providers: [{ provide: PrincipalReader, useValue: principals }],
  })(Root);
  const module: DynamicModule = { module: Root };
  const running = await bootstrap({
    name: 'catalogue',
    module,
    config: { host: '127.0.0.1', port: 0, drainGraceMs: 1_000, pressure: NO_PRESSURE },
  });
  const random = new SystemRandom();
  return {
    ...running,
    sent,
    credentialOf: (principal) => {
      if (principal.kind === 'session') {
        const token = `e30.${Buffer.from(random.bytes(12)).toString('base64url')}.c2ln`;
        principals.byCredential.set(token, principal);
        return token;
      }
      const secret = mintSecret(principal.kind === 'key' ? 'rsk_' : 'mak_', random);
      principals.byCredential.set(secretDigest(secret), principal);
      return secret;
    },
    get: (path, credential, headers = {}) => read(`${running.url}${path}`, credential, headers),
  };
}

async function read(
  url: string,
  credential: string | undefined,
  more: Record<string, string>,
): Promise<Answer> {
  const headers = { ...more, ...(credential === undefined ? {} : { authorization: `Bearer ${credential}` }) };
  const answer = await fetch(url, { headers });
  const text = await answer.text();
  const body: unknown = text === '' ? null : JSON.parse(text);
  return { status: answer.status, headers: answer.headers, body };
}

function collectingLog(sent: CatalogueApp['sent']): EventLog {
  return {
    append: async (topic: string, records: LogRecord[]) =>
      void sent.push(...records.map((record) => ({ topic, record }))),
    close: async () => undefined,
    consume: async () => ({ stop: async () => undefined }),
  };
}

export function keyPrincipal(more: Partial<KeyPrincipal> = {}): KeyPrincipal {
  return {
    kind: 'key',
    keyId: 'key_1',
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
    limits: [],
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

export function sessionPrincipal(): SessionPrincipal {
  return {
    kind: 'session',
    userId: 'usr_1',
    sessionId: 'ses_1',
    email: 'person@example.com',
    isSuperAdmin: false,
    accountId: 'acct_2',
    accountVersion: 1,
    memberships: [],
  };
}

export function lists(
  kind: ModelAccess['kind'],
  allowed: string[] | null,
  blocked: string[] | null,
): ModelAccess {
  return { kind, allowed, blocked };
}
