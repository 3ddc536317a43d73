import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Module } from '@nestjs/common';
import {
  ApiError,
  CatalogueReader,
  EventLog,
  Funds,
  PrincipalReader,
  TOPIC,
  type CatalogueModel,
  type CatalogueSnapshot,
  type Consumer,
  type Credential,
  type KeyPrincipal,
  type LogRecord,
  type ModelRecord,
  type Route,
} from '@gateway/contracts';
import { Shipper, type ShipperEvents, type ShipperHandle } from '@gateway/journal';
import { InProcessLimitStore } from '@gateway/limits';
import {
  bootstrap,
  mintSecret,
  PlatformModule,
  secretDigest,
  SystemClock,
  SystemRandom,
  type RunningApp,
} from '@gateway/platform';
import { PROVIDERS } from '@gateway/providers';
import { startUpstreamSim, type UpstreamSim } from '@gateway/simulator';
import { EdgeConfig, type EnabledProvider } from './edge.config.js';
import { EdgeModule } from './edge.module.js';
import { ShipperFactory } from './units/shipper-factory.js';

const clock = new SystemClock();
const random = new SystemRandom();

/** Keeps what was appended, by topic. */
class KeptEventLog extends EventLog {
  readonly records: { topic: string; record: LogRecord }[] = [];
  append(topic: string, records: LogRecord[]): Promise<void> {
    for (const record of records) this.records.push({ topic, record });
    return Promise.resolve();
  }
  consume(): Promise<Consumer> {
    return Promise.reject(new Error('nobody consumes here'));
  }
  close(): Promise<void> {
    return Promise.resolve();
  }
}

class FixedCatalogue extends CatalogueReader {
  constructor(private readonly current: CatalogueSnapshot) {
    super();
  }
  snapshot(): CatalogueSnapshot {
    return this.current;
  }
  snapshotById(id: string): Promise<CatalogueSnapshot | null> {
    return Promise.resolve(id === this.current.id ? this.current : null);
  }
  onChange(): () => void {
    return () => undefined;
  }
}

/** Ships beside the test into the log that keeps everything; nothing is ever applied. */
class KeptShippers extends ShipperFactory {
  constructor(private readonly log: KeptEventLog) {
    super();
  }
  start(events: ShipperEvents): ShipperHandle {
    const { log } = this;
    const shipper = new Shipper({
      append: (topic, records) => log.append(topic, records),
      watermark: () => Promise.resolve(0),
      clock,
      random,
      events,
    });
    shipper.start();
    return shipper;
  }
}

/** Providers at the simulator's address, each with a credential of its own. */
function simulatedAccess(sim: UpstreamSim): Map<string, EnabledProvider> {
  const chosen = PROVIDERS.filter(({ slug }) =>
    ['simulated', 'simulated-messages', 'openai', 'anthropic'].includes(slug),
  );
  return new Map(
    chosen.map((provider) => {
      const baseUrl = provider.dialects.includes('messages') ? sim.url : `${sim.url}/v1`;
      return [provider.slug, { provider, access: { baseUrl, credential: `sim-key-of-${provider.slug}` } }];
    }),
  );
}

/** Principals that a test changes while the edge runs. */
export class TestPrincipals extends PrincipalReader {
  readonly byDigest = new Map<string, KeyPrincipal>();
  reloads = 0;
  resolve(credential: Credential): Promise<KeyPrincipal> {
    const found = 'digest' in credential ? this.byDigest.get(credential.digest) : undefined;
    return found ? Promise.resolve(found) : Promise.reject(new ApiError('unauthorized'));
  }
  reload(credential: Credential): Promise<KeyPrincipal> {
    this.reloads += 1;
    return this.resolve(credential);
  }
}

/** Says a fixed balance to a store that asks. */
class TestFunds extends Funds {
  constructor(
    private readonly limits: InProcessLimitStore,
    private readonly balanceNano: bigint,
  ) {
    super();
  }
  seedGate(accountId: string, gen: string, scopes: Parameters<Funds['seedGate']>[2]): Promise<void> {
    return this.limits.mirror({
      accountId,
      gen,
      version: 1,
      balanceNano: this.balanceNano,
      scopes: scopes.map((scope) => ({ ...scope, postedNano: 0n })),
      units: [],
    });
  }
  spent(scopes: Parameters<Funds['spent']>[0]): Promise<string[]> {
    return Promise.resolve(scopes.map(() => '0'));
  }
  credit(): Promise<void> {
    return Promise.resolve();
  }
  watermark(): Promise<number> {
    return Promise.resolve(0);
  }
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
    limits: [
      {
        kind: 'key',
        id: keyId,
        rpm: 10_000,
        rpd: 100_000,
        tpm: null,
        spendCapUsd: null,
        isDefault: { rpm: false, rpd: false, tpm: true },
      },
    ],
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

export interface EdgeUnderTest {
  url: string;
  key: string;
  principals: TestPrincipals;
  limits: InProcessLimitStore;
  sim: UpstreamSim;
  app: RunningApp;
  /** A further key for a principal. */
  addKey(principal: KeyPrincipal): string;
  /** Usage or rejection records shipped so far. */
  shipped(topic?: string): Record<string, unknown>[];
  close(): Promise<void>;
}

export interface EdgeTestOptions {
  models?: CatalogueModel[];
  balanceUsd?: number;
  config?: Partial<EdgeConfig>;
}

const MODELS = [
  testModel('simulator/chat', [{ provider: 'simulated', upstreamModel: 'sim-chat' }]),
  testModel('simulator/claude', [{ provider: 'simulated-messages', upstreamModel: 'sim-claude' }]),
];

/** The edge on a real socket before the simulated provider: everything real but the neighbours' ports. */
export async function startEdge(options: EdgeTestOptions = {}): Promise<EdgeUnderTest> {
  const sim = await startUpstreamSim({});
  const folder = mkdtempSync(join(tmpdir(), 'edge-'));
  const limits = new InProcessLimitStore({ clock, random });
  const principals = new TestPrincipals();
  const log = new KeptEventLog();
  const catalogue: CatalogueSnapshot = {
    id: 'snap_test',
    created_at: '2026-11-21T00:00:00Z',
    models: [...MODELS, ...(options.models ?? [])],
    providers: [],
  };
  const funds = new TestFunds(limits, BigInt(options.balanceUsd ?? 100) * 1_000_000_000n);
  const ports = [
    { provide: CatalogueReader, useValue: new FixedCatalogue(catalogue) },
    { provide: PrincipalReader, useValue: principals },
    { provide: Funds, useValue: funds },
    { provide: ShipperFactory, useValue: new KeptShippers(log) },
  ];
  const neighbours = {
    module: class Neighbours {},
    global: true,
    providers: ports,
    exports: ports.map(({ provide }) => provide),
  };
  const config = Object.assign(new EdgeConfig(), { JOURNAL_DIR: folder, ...options.config });
  @Module({
    imports: [
      PlatformModule.with({
        service: 'edge',
        logLevel: 'error',
        fleetToken: 'fleet-token-of-the-edge-under-test',
        eventLog: () => log,
        limitStore: () => limits,
      }),
      neighbours,
      EdgeModule.with({ config, providers: simulatedAccess(sim), frontDoor: {} }),
    ],
  })
  class EdgeApp {}
  const app = await bootstrap({
    name: 'edge',
    module: EdgeApp,
    config: { host: '127.0.0.1', port: 0, drainGraceMs: 5_000 },
  });
  const addKey = (principal: KeyPrincipal): string => {
    const secret = mintSecret('rsk_', random);
    principals.byDigest.set(secretDigest(secret), principal);
    return secret;
  };
  return {
    url: app.url,
    key: addKey(testPrincipal('key_test')),
    principals,
    limits,
    sim,
    app,
    addKey,
    shipped: (topic = TOPIC.usage) =>
      log.records
        .filter((entry) => entry.topic === topic)
        .map(({ record }) => (JSON.parse(record.value) as { data: Record<string, unknown> }).data),
    close: async () => {
      await app.close();
      await sim.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
