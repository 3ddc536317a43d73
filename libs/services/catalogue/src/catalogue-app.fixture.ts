import { Module, type DynamicModule } from '@nestjs/common';
import { PrincipalReader, type Clock, type Principal } from '@gateway/contracts';
import {
  bootstrap,
  loadConfig,
  mintSecret,
  PlatformModule,
  SystemClock,
  SystemRandom,
  type RunningApp,
} from '@gateway/platform';
import { EventLogDouble, LimitStoreDouble, NO_PRESSURE, PrincipalReaderDouble } from '@gateway/testing';
import { CatalogueConfig } from './catalogue.config.js';
import { CatalogueModule } from './catalogue.module.js';

/** The catalogue service in one process with principals that a spec names; only specs start it. */
export const FLEET_TOKEN = 'fleet-token-of-the-spec';

export interface CatalogueApp extends RunningApp {
  /** A new credential of this caller. */
  credentialOf(principal: Principal): string;
  /** Takes what the outbox sends. */
  log: EventLogDouble;
  get(path: string, credential?: string, headers?: Record<string, string>): Promise<Answer>;
  send(
    method: 'PUT' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    credential: string,
    body?: object,
    headers?: Record<string, string>,
  ): Promise<Answer>;
}

interface Answer {
  status: number;
  headers: Headers;
  /** Untyped as JSON.parse answers it: what it holds is asserted. */
  body: ReturnType<JSON['parse']>;
}

export async function startCatalogue(
  env: Partial<Record<keyof CatalogueConfig, string>>,
  clock: Clock = new SystemClock(),
): Promise<CatalogueApp> {
  const config = loadConfig(CatalogueConfig, { CATALOGUE_MIGRATE_AT_START: 'true', ...env });
  const principals = new PrincipalReaderDouble();
  const log = new EventLogDouble();
  const random = new SystemRandom();
  const limits = new LimitStoreDouble({ clock: new SystemClock(), random });
  const platform = PlatformModule.with({
    service: 'catalogue',
    logLevel: 'silent',
    fleetToken: FLEET_TOKEN,
    eventLog: () => log,
    limitStore: () => limits,
    clock,
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
  return {
    ...running,
    log,
    credentialOf: (principal) => {
      const credential =
        principal.kind === 'session'
          ? `e30.${Buffer.from(random.bytes(12)).toString('base64url')}.c2ln`
          : mintSecret(principal.kind === 'key' ? 'rsk_' : 'mak_', random);
      principals.add(credential, principal);
      return credential;
    },
    get: (path, credential, headers = {}) => read(`${running.url}${path}`, credential, headers),
    send: (method, path, credential, body, headers = {}) =>
      read(
        `${running.url}${path}`,
        credential,
        body === undefined ? headers : { 'content-type': 'application/json', ...headers },
        {
          method,
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        },
      ),
  };
}

async function read(
  url: string,
  credential: string | undefined,
  more: Record<string, string>,
  init: { method?: string; body?: string } = {},
): Promise<Answer> {
  const headers = { ...more, ...(credential === undefined ? {} : { authorization: `Bearer ${credential}` }) };
  const answer = await fetch(url, { ...init, headers });
  const text = await answer.text();
  const body: unknown = text === '' ? null : JSON.parse(text);
  return { status: answer.status, headers: answer.headers, body };
}
