import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Module, type DynamicModule, type Type } from '@nestjs/common';
import {
  CatalogueReader,
  Funds,
  PrincipalReader,
  TOPIC,
  type CatalogueModel,
  type KeyPrincipal,
  type LimitScope,
  type ModelRecord,
  type Route,
} from '@gateway/contracts';
import { InProcessLimitStore } from '@gateway/limits';
import {
  bootstrap,
  defaultPressureLimits,
  mintSecret,
  PlatformModule,
  secretDigest,
  SystemClock,
  SystemRandom,
  type RunningApp,
} from '@gateway/platform';
import { PROVIDERS } from '@gateway/providers';
import { startUpstreamSim, type RecordedRequest, type UpstreamSim } from '@gateway/simulator';
import {
  KeptEventLog,
  keepingShipper,
  TestCatalogue,
  TestFunds,
  TestPrincipals,
} from './edge-ports.fixture.js';
import { EdgeConfig, type EnabledProvider } from './config/edge.config.js';
import { EdgeModule } from './edge.module.js';
import type { FrontDoorServices } from './front-door/front-door.js';
import { JournalRuntime, START_SHIPPER } from './units/journal-runtime.js';

const clock = new SystemClock();
const random = new SystemRandom();

/** Providers at the simulator's address, each with a credential of its own. */
function simulatedAccess(
  sim: UpstreamSim,
  addresses: Readonly<Record<string, string>>,
): Map<string, EnabledProvider> {
  const chosen = PROVIDERS.filter(({ slug }) =>
    ['simulated', 'simulated-messages', 'openai', 'anthropic'].includes(slug),
  );
  return new Map(
    chosen.map((provider) => {
      const origin = addresses[provider.slug] ?? sim.url;
      const baseUrl = provider.dialects.includes('messages') ? origin : `${origin}/v1`;
      return [
        provider.slug,
        {
          provider,
          access: { baseUrl, credential: { kind: 'api_key', key: `sim-key-of-${provider.slug}` } },
        },
      ];
    }),
  );
}

const FLAGS = {
  supports_tools: true,
  supports_completions_api: true,
  supports_structured_output: true,
  supports_thinking: true,
} as const;

export function testModel(
  id: string,
  routes: { provider: string; upstreamModel: string; price?: string }[],
  record: Partial<ModelRecord> = {},
): CatalogueModel {
  const made = routes.map(({ provider, upstreamModel, price = '1' }): Route => {
    const dialect =
      provider.startsWith('simulated-messages') || provider === 'anthropic' ? 'messages' : 'chat';
    const rates = { prompt_usd_per_1m: price, completion_usd_per_1m: '2' };
    return {
      provider,
      model: id,
      upstreamModel,
      dialect,
      contextLength: 100_000,
      maxOutputTokens: 4_096,
      price: rates,
    };
  });
  return {
    record: {
      id,
      name: id,
      brand: id.slice(0, id.indexOf('/')),
      model_type: 'text',
      context_length: 100_000,
      max_output_tokens: 4_096,
      is_free: false,
      input_modalities: ['text', 'image'],
      output_modalities: ['text'],
      is_composite: false,
      composite_models: [],
      pricing: made[0].price,
      ...FLAGS,
      ...record,
    },
    reasoning: { style: 'effort', efforts: ['low', 'medium', 'high'] },
    fixesSampling: false,
    routes: made,
  };
}

export function testPrincipal(keyId: string, more: Partial<KeyPrincipal> = {}): KeyPrincipal {
  return {
    kind: 'key',
    keyId,
    label: 'test',
    status: 'active',
    accountId: 'acct_test',
    accountVersion: 1,
    creditLimitUsd: '0',
    orgId: 'org_test',
    teamId: null,
    createdBy: 'usr_test',
    apiVersion: null,
    defaultModel: null,
    permissions: null,
    limits: [keyScope(keyId)],
    access: [],
    modelLimits: {},
    routingPolicy: { retry_backoff_ms: 1 },
    fixedProvider: null,
    requestTags: {},
    expiresAtMs: null,
    endUserKey: Buffer.alloc(32, 1).toString('base64'),
    ...more,
  };
}

export type Json = Record<string, unknown>;

export interface EdgeUnderTest {
  url: string;
  key: string;
  principals: TestPrincipals;
  limits: InProcessLimitStore;
  funds: TestFunds;
  journal: JournalRuntime;
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
  drainGraceMs?: number;
  /** Origins by provider slug, for example of a proxy before the simulator; default: the simulator itself. */
  upstreams?: (sim: UpstreamSim) => Promise<Record<string, string>>;
  frontDoor?: FrontDoorServices;
}

/** The body of a greeting to a model. */
export function hello(model: string, more: Json = {}): Json {
  return { model, max_tokens: 100, messages: [{ role: 'user', content: 'Hello there' }], ...more };
}

/** The one limit scope of a test key. */
export function keyScope(
  keyId: string,
  more: Partial<Pick<LimitScope, 'rpm' | 'rpd' | 'tpm'>> & { spendCapUsd?: string } = {},
) {
  return {
    kind: 'key' as const,
    id: keyId,
    rpm: 10_000,
    rpd: 100_000,
    tpm: null,
    spendCapUsd: null,
    isDefault: { rpm: false, rpd: false, tpm: true },
    ...more,
  };
}

/** The provider that speaks what an upstream model's name says: sim-claude is messages, the rest chat. */
function simulatedRoute(
  upstreamModel: string,
  at: number,
): { provider: string; upstreamModel: string; price: string } {
  const isClaude = upstreamModel.startsWith('sim-claude');
  return { provider: isClaude ? 'simulated-messages' : 'simulated', upstreamModel, price: String(at + 1) };
}

interface AppParts {
  log: KeptEventLog;
  limits: InProcessLimitStore;
  principals: TestPrincipals;
  catalogue: TestCatalogue;
  funds: TestFunds;
  edgeModule: DynamicModule;
}

/** The edge with its platform, and the neighbours' ports as the test's own. */
function appOf({ log, limits, principals, catalogue, funds, edgeModule }: AppParts): Type<unknown> {
  const ports = [
    { provide: CatalogueReader, useValue: catalogue },
    { provide: PrincipalReader, useValue: principals },
    { provide: Funds, useValue: funds },
    { provide: START_SHIPPER, useValue: keepingShipper(log, clock, random) },
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
  });
  @Module({ imports: [platform, neighbours, edgeModule] })
  class EdgeApp {}
  return EdgeApp;
}

function mint(principals: TestPrincipals, principal: KeyPrincipal): string {
  const secret = mintSecret('rsk_', random);
  principals.byDigest.set(secretDigest(secret), principal);
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

/** The edge on a real socket before the simulated provider: everything real but the neighbours' ports. */
export async function startEdge(options: EdgeTestOptions = {}): Promise<EdgeUnderTest> {
  const sim = await startUpstreamSim({});
  const folder = mkdtempSync(join(tmpdir(), 'edge-'));
  const limits = new InProcessLimitStore({ clock, random });
  const principals = new TestPrincipals();
  const log = new KeptEventLog();
  const catalogue = new TestCatalogue();
  catalogue.serve(
    testModel('simulator/chat', [{ provider: 'simulated', upstreamModel: 'sim-chat' }]),
    testModel('simulator/claude', [{ provider: 'simulated-messages', upstreamModel: 'sim-claude' }]),
    ...(options.models ?? []),
  );
  const funds = new TestFunds(limits, BigInt(options.balanceUsd ?? 100) * 1_000_000_000n);
  const config = Object.assign(new EdgeConfig(), { JOURNAL_DIR: folder, ...options.config });
  const edgeModule = EdgeModule.with({
    config,
    providers: simulatedAccess(sim, (await options.upstreams?.(sim)) ?? {}),
    frontDoor: options.frontDoor ?? {},
  });
  const app = await bootstrap({
    name: 'edge',
    module: appOf({ log, limits, principals, catalogue, funds, edgeModule }),
    config: {
      host: '127.0.0.1',
      port: 0,
      drainGraceMs: options.drainGraceMs ?? 5_000,
      // Callers and the upstream run in this process too: its delay does not tell how busy the edge is.
      pressure: { ...defaultPressureLimits(), delayMs: { some: Infinity, all: Infinity } },
    },
  });
  const addKey = (principal: KeyPrincipal): string => mint(principals, principal);
  const key = addKey(testPrincipal('key_test'));
  const shipped = (topic: string = TOPIC.usage): Json[] =>
    log.records
      .filter((entry) => entry.topic === topic)
      .map(({ record }) => (JSON.parse(record.value) as { data: Json }).data);
  return {
    url: app.url,
    key,
    principals,
    limits,
    funds,
    sim,
    app,
    addKey,
    shipped,
    journal: app.app.get(JournalRuntime),
    serve: (id, ...routes) => {
      const made = routes.map((route, at) => (typeof route === 'string' ? simulatedRoute(route, at) : route));
      catalogue.serve(testModel(id, made));
      return id;
    },
    serveModels: (...models) => catalogue.serve(...models),
    post: (body, options) => post(app.url, key, body, options),
    record: async (of, topic) => {
      const id = typeof of === 'string' ? of : of.headers.get('x-request-id');
      for (let waits = 0; waits < 500; waits += 1) {
        const found = shipped(topic).find(({ request_id }) => request_id === id);
        if (found) return found;
        await clock.sleep(10);
      }
      throw new Error(`no record of ${id}`);
    },
    upstream: () => sim.requests(),
    close: async () => {
      await app.close();
      await sim.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
