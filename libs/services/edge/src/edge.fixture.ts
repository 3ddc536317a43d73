import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Module, type DynamicModule, type Type } from '@nestjs/common';
import {
  BackgroundResponses,
  CatalogueReader,
  Funds,
  IdempotencyStore,
  ObjectStore,
  PrincipalReader,
  PlatformCredentials,
  ProviderKeyVault,
  RequestContents,
  ResponseStore,
  RouteHealth,
  StoredContent,
  TOPIC,
  type Alias,
  type CatalogueModel,
  type Clock,
  type KeyPrincipal,
  type ModelRecord,
  type Route,
  type ScopeLimits,
} from '@gateway/contracts';
import { Journal, Shipper } from '@gateway/journal';
import {
  bootstrap,
  defaultPressureLimits,
  mintSecret,
  PlatformModule,
  SystemClock,
  SystemRandom,
  type RunningApp,
} from '@gateway/platform';
import { FolderStore } from '@gateway/object-store';
import { PROVIDERS, type ProviderAccess } from '@gateway/providers';
import { startUpstreamSim, type RecordedRequest, type UpstreamSim } from '@gateway/simulator';
import {
  catalogueModel,
  CatalogueReaderDouble,
  EventLogDouble,
  eventually,
  fixedClock,
  FundsDouble,
  keyPrincipal,
  LimitStoreDouble,
  PrincipalReaderDouble,
  PlatformCredentialsDouble,
  ProviderKeyVaultDouble,
  BackgroundResponsesDouble,
  RequestContentsDouble,
  ResponseStoreDouble,
  RouteHealthDouble,
  StoredContentDouble,
  scopeLimits,
} from '@gateway/testing';
import { EdgeConfig, type EnabledProvider } from './config/edge.config.js';
import { EdgeModule, type EdgeOptions } from './edge.module.js';
import type { FrontDoorServices } from './front-door/front-door.js';
import { START_SHIPPER, type StartShipper } from './units/journal-runtime.js';

const clock = new SystemClock();
const random = new SystemRandom();

/** Base URL of a provider's double, or its access with the TLS of its address. */
type UpstreamUnderTest = string | EnabledProvider | (ProviderAccess & Pick<EnabledProvider, 'tls'>);

/** Providers at the simulator's address, each with a credential of its own. */
function simulatedAccess(
  sim: UpstreamSim,
  addresses: Readonly<Record<string, UpstreamUnderTest>>,
): Map<string, EnabledProvider> {
  const slugs = ['simulated', 'simulated-messages', 'openai', 'anthropic', ...Object.keys(addresses)];
  return new Map(
    PROVIDERS.filter(({ slug }) => slugs.includes(slug)).map((provider): [string, EnabledProvider] => {
      const given = addresses[provider.slug] ?? sim.url;
      if (typeof given !== 'string' && 'provider' in given) return [provider.slug, given];
      if (typeof given !== 'string') return [provider.slug, { provider, access: given, tls: given.tls }];
      const baseUrl = provider.dialects.includes('messages') ? given : `${given}/v1`;
      const credential = { kind: 'api_key' as const, key: `sim-key-of-${provider.slug}` };
      return [provider.slug, { provider, access: { baseUrl, credential } }];
    }),
  );
}

export function testModel(
  id: string,
  routes: { provider: string; upstreamModel: string; price?: string; dialect?: string }[],
  record: Partial<ModelRecord> = {},
): CatalogueModel {
  const made = routes.map(({ provider, upstreamModel, price = '1', ...given }): Partial<Route> => {
    const isMessages = provider.startsWith('simulated-messages') || provider === 'anthropic';
    const rates = { prompt_usd_per_1m: price, completion_usd_per_1m: '2' };
    const dialect = given.dialect ?? (isMessages ? 'messages' : 'chat');
    return { provider, upstreamModel, dialect, price: rates };
  });
  return catalogueModel(id, made, record);
}

export function testPrincipal(keyId: string, more: Partial<KeyPrincipal> = {}): KeyPrincipal {
  return keyPrincipal({
    keyId,
    label: 'test',
    accountId: 'acct_test',
    orgId: 'org_test',
    createdBy: 'usr_test',
    limits: [keyScope(keyId)],
    routingPolicy: { retry_backoff_ms: 1 },
    endUserKey: Buffer.alloc(32, 1).toString('base64'),
    ...more,
  });
}

export type Json = Record<string, unknown>;

export interface EdgeUnderTest {
  url: string;
  key: string;
  principals: PrincipalReaderDouble;
  limits: LimitStoreDouble;
  funds: FundsDouble;
  responses: ResponseStoreDouble;
  contents: RequestContentsDouble;
  background: BackgroundResponsesDouble;
  vault: ProviderKeyVaultDouble;
  pool: PlatformCredentialsDouble;
  stored: StoredContentDouble;
  objects: FolderStore;
  journal: Journal;
  sim: UpstreamSim;
  app: RunningApp;
  /** A further key for a principal. */
  addKey(principal: KeyPrincipal): string;
  /** Adds or replaces a model of one route per upstream model name, in this order; prices rise with the order. */
  serve(
    id: string,
    ...routes: (string | { provider: string; upstreamModel: string; price?: string })[]
  ): string;
  /** Adds or replaces models. */
  serveModels(...models: CatalogueModel[]): void;
  /** Replaces all aliases. */
  name(...aliases: Alias[]): void;
  /** POST of a body with the key, to /v1/chat/completions unless a path is given. */
  post(body: unknown, options?: PostOptions): Promise<Response>;
  /** Usage or rejection records shipped so far. */
  shipped(topic?: string): Json[];
  /** The record of an answered request, once it was shipped. */
  record(requestId: string | Response, topic?: string): Promise<Json>;
  /** Requests that reached the upstream. */
  upstream(): RecordedRequest[];
  close(): Promise<void>;
}

interface PostOptions {
  path?: string;
  key?: string | null;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

export interface EdgeTestOptions {
  models?: CatalogueModel[];
  balanceUsd?: number;
  config?: Partial<EdgeConfig>;
  drainAcceptMs?: number;
  drainGraceMs?: number;
  /** Origins by provider slug, for example of a proxy before the simulator, or whole accesses; default: the simulator itself. */
  upstreams?: (sim: UpstreamSim) => Promise<Record<string, UpstreamUnderTest>>;
  frontDoor?: FrontDoorServices;
  /** Lead of the limit store's clock over the edge's; default 0. */
  storeAheadMs?: number;
  /** Base URL of a collector of traces; default: there are none. */
  otlpEndpoint?: string;
  /** The edge's own clock; default: the machine's. */
  clock?: Clock;
}

/** The body of a greeting to a model. */
export function hello(model: string, more: Json = {}): Json {
  return { model, max_tokens: 100, messages: [{ role: 'user', content: 'Hello there' }], ...more };
}

/** The one limit scope of a test key. */
export function keyScope(keyId: string, more: Partial<ScopeLimits> = {}): ScopeLimits {
  const isDefault = { rpm: false, rpd: false, tpm: true };
  return scopeLimits('key', keyId, { rpm: 10_000, rpd: 100_000, isDefault, ...more });
}

/** The provider that speaks what an upstream model's name says: sim-claude is messages, the rest chat. */
function simulatedRoute(
  upstreamModel: string,
  at: number,
): { provider: string; upstreamModel: string; price: string } {
  const isClaude = upstreamModel.startsWith('sim-claude');
  return { provider: isClaude ? 'simulated-messages' : 'simulated', upstreamModel, price: String(at + 1) };
}

function fundsWith(limits: LimitStoreDouble, balanceUsd: number): FundsDouble {
  return Object.assign(new FundsDouble(limits), { balanceNano: BigInt(balanceUsd) * 1_000_000_000n });
}

function objectsIn(folder: string): FolderStore {
  return new FolderStore({
    folder: join(folder, 'objects'),
    publicUrl: 'http://gateway.test',
    clock,
    random,
  });
}

type Kept = Pick<
  EdgeUnderTest,
  'responses' | 'contents' | 'background' | 'vault' | 'pool' | 'stored' | 'objects'
>;

interface AppParts extends Kept, Pick<EdgeUnderTest, 'limits' | 'principals' | 'funds'> {
  log: EventLogDouble;
  catalogue: CatalogueReaderDouble;
  edgeModule: DynamicModule;
  otlpEndpoint: string | null;
  clock: Clock;
}

/** The edge with its platform, and the neighbours' ports as the test's own. */
function appOf({
  log,
  limits,
  principals,
  catalogue,
  funds,
  responses,
  contents,
  background,
  vault,
  pool,
  stored,
  objects,
  edgeModule,
  otlpEndpoint,
  clock,
}: AppParts): Type<unknown> {
  const ports = [
    { provide: CatalogueReader, useValue: catalogue },
    { provide: PrincipalReader, useValue: principals },
    { provide: Funds, useValue: funds },
    { provide: ResponseStore, useValue: responses },
    { provide: RequestContents, useValue: contents },
    { provide: BackgroundResponses, useValue: background },
    { provide: IdempotencyStore, useValue: background.creates },
    { provide: ProviderKeyVault, useValue: vault },
    { provide: PlatformCredentials, useValue: pool },
    { provide: StoredContent, useValue: stored },
    { provide: RouteHealth, useValue: new RouteHealthDouble() },
    { provide: ObjectStore, useValue: objects },
    { provide: START_SHIPPER, useValue: keepingShipper(log) },
  ];
  const neighbours = {
    module: class Neighbours {},
    global: true,
    providers: ports,
    exports: ports.map(({ provide }) => provide),
  };
  const platform = PlatformModule.with({
    service: 'edge',
    logLevel: 'fatal',
    fleetToken: 'fleet-token-of-the-edge-under-test',
    eventLog: () => log,
    limitStore: () => limits,
    otlpEndpoint,
    clock,
  });
  @Module({ imports: [platform, neighbours, edgeModule] })
  class EdgeApp {}
  return EdgeApp;
}

/** Ships beside the test into the log that keeps everything; nothing is ever applied. */
function keepingShipper(log: EventLogDouble): StartShipper {
  return (events) => {
    const shipper = new Shipper({
      append: (topic, records) => log.append(topic, records),
      watermark: () => Promise.resolve(0),
      clock,
      random,
      events,
    });
    shipper.start();
    return shipper;
  };
}

function mint(principals: PrincipalReaderDouble, principal: KeyPrincipal): string {
  const secret = mintSecret('rsk_', random);
  principals.add(secret, principal);
  return secret;
}

function post(url: string, ownKey: string, body: unknown, options: PostOptions = {}): Promise<Response> {
  const { path = '/v1/chat/completions', key = ownKey, headers = {}, signal } = options;
  return fetch(`${url}${path}`, {
    method: 'POST',
    headers: {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      'content-type': 'application/json',
      ...headers,
    },
    body: typeof body === 'string' || body instanceof Uint8Array ? (body as string) : JSON.stringify(body),
    ...(signal ? { signal } : {}),
  });
}

function keyedBy(providers: ReadonlyMap<string, EnabledProvider>): EdgeOptions['keyed'] {
  const plain = PROVIDERS.filter(({ slug }) => providers.has(slug));
  const addressOf = (slug: string): string => providers.get(slug)?.access.baseUrl ?? '';
  return new Map(plain.map((provider) => [provider.slug, { provider, baseUrl: addressOf(provider.slug) }]));
}

/** Returns what neighbours store for the edge. */
function keptIn(folder: string): Kept {
  return {
    responses: new ResponseStoreDouble(),
    contents: new RequestContentsDouble(),
    background: new BackgroundResponsesDouble(),
    vault: new ProviderKeyVaultDouble(),
    pool: new PlatformCredentialsDouble(),
    stored: new StoredContentDouble(),
    objects: objectsIn(folder),
  };
}

/** The edge on a real socket before the simulated provider: everything real but the neighbours' ports. */
export async function startEdge(options: EdgeTestOptions = {}): Promise<EdgeUnderTest> {
  const sim = await startUpstreamSim({});
  const folder = mkdtempSync(join(tmpdir(), 'edge-'));
  // A window is a minute of the clock, and what a test counts has to lie in one: this clock stands still.
  const standing = fixedClock(new Date(clock.now() + (options.storeAheadMs ?? 0)).toISOString());
  const limits = new LimitStoreDouble({ clock: standing, random });
  const principals = new PrincipalReaderDouble();
  const log = new EventLogDouble();
  const catalogue = new CatalogueReaderDouble();
  catalogue.serve(
    testModel('simulator/chat', [{ provider: 'simulated', upstreamModel: 'sim-chat' }]),
    testModel('simulator/claude', [{ provider: 'simulated-messages', upstreamModel: 'sim-claude' }]),
    ...(options.models ?? []),
  );
  const funds = fundsWith(limits, options.balanceUsd ?? 100);
  // A clock that stands still never reaches the end of the pause between two syncs.
  const journal = { JOURNAL_DIR: folder, JOURNAL_SYNC: options.clock ? 'wait' : 'group' } as const;
  const config = Object.assign(new EdgeConfig(), { ...journal, ...options.config });
  const kept = keptIn(folder);
  const providers = simulatedAccess(sim, (await options.upstreams?.(sim)) ?? {});
  const keyed = keyedBy(providers);
  const edgeModule = EdgeModule.with({ config, providers, keyed, frontDoor: options.frontDoor ?? {} });
  const ports = { log, limits, principals, catalogue, funds, clock: options.clock ?? clock, ...kept };
  const app = await bootstrap({
    name: 'edge',
    module: appOf({ ...ports, edgeModule, otlpEndpoint: options.otlpEndpoint ?? null }),
    config: {
      host: '127.0.0.1',
      port: 0,
      drainAcceptMs: options.drainAcceptMs,
      drainGraceMs: options.drainGraceMs ?? 5_000,
      // Callers and the upstream run in this process too: its delay does not show how busy the edge is.
      pressure: { ...defaultPressureLimits(), delayMs: { some: Infinity, all: Infinity } },
    },
  });
  const addKey = (principal: KeyPrincipal): string => mint(principals, principal);
  const key = addKey(testPrincipal('key_test'));
  const shipped = (topic: string = TOPIC.usage): Json[] => log.dataOf(topic);
  return {
    url: app.url,
    key,
    principals,
    limits,
    ...kept,
    ...{ funds, sim, app, addKey, shipped },
    journal: app.app.get(Journal),
    serve: (id, ...routes) => {
      const made = routes.map((route, at) => (typeof route === 'string' ? simulatedRoute(route, at) : route));
      catalogue.serve(testModel(id, made));
      return id;
    },
    serveModels: (...models) => catalogue.serve(...models),
    name: (...aliases) => catalogue.name(...aliases),
    post: (body, options) => post(app.url, key, body, options),
    record: (of, topic) => {
      const id = typeof of === 'string' ? of : of.headers.get('x-request-id');
      return eventually(() => shipped(topic).find(({ request_id }) => request_id === id));
    },
    upstream: () => sim.requests(),
    close: async () => {
      await app.close();
      await sim.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
