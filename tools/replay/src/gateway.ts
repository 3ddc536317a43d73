import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Module } from '@nestjs/common';
import {
  CatalogueReader,
  EventLog,
  Funds,
  PrincipalReader,
  type CatalogueModel,
  type CatalogueSnapshot,
  type Consumer,
  type KeyPrincipal,
  type ModelRecord,
} from '@gateway/contracts';
import { EdgeConfig, EdgeModule, ShipperFactory } from '@gateway/edge';
import { Shipper, type ShipperEvents, type ShipperHandle } from '@gateway/journal';
import { InProcessLimitStore } from '@gateway/limits';
import { bootstrap, mintSecret, PlatformModule, SystemClock, SystemRandom } from '@gateway/platform';
import { PROVIDERS } from '@gateway/providers';

const clock = new SystemClock();
const random = new SystemRandom();
const FLAGS = ['tools', 'completions_api', 'structured_output', 'thinking', 'responses_api'] as const;

/** A gateway whose every provider is the replay upstream. */
export interface Gateway {
  url: string;
  key: string;
  /** Catalogue id of the model that a provider serves. */
  modelOf(provider: string): string;
  close(): Promise<void>;
}

class Forgetful extends EventLog {
  append(): Promise<void> {
    return Promise.resolve();
  }
  consume(): Promise<Consumer> {
    return Promise.reject(new Error('nobody consumes here'));
  }
  close(): Promise<void> {
    return Promise.resolve();
  }
}

class OneKey extends PrincipalReader {
  private readonly principal: KeyPrincipal = {
    kind: 'key',
    keyId: 'key_replay',
    label: null,
    status: 'active',
    accountId: 'acct_replay',
    accountVersion: 1,
    creditLimitUsd: null,
    orgId: null,
    teamId: null,
    createdBy: 'usr_replay',
    apiVersion: null,
    defaultModel: null,
    permissions: null,
    limits: [
      {
        kind: 'key',
        id: 'key_replay',
        rpm: null,
        rpd: null,
        tpm: null,
        spendCapUsd: null,
        isDefault: { rpm: false, rpd: false, tpm: false },
      },
    ],
    access: [],
    modelLimits: {},
    routingPolicy: { max_retries: 0 },
    fixedProvider: null,
    requestTags: {},
    expiresAtMs: null,
    endUserKey: '',
  };
  resolve(): Promise<KeyPrincipal> {
    return Promise.resolve(this.principal);
  }
  reload(): Promise<KeyPrincipal> {
    return Promise.resolve(this.principal);
  }
}

class OneCatalogue extends CatalogueReader {
  constructor(private readonly current: CatalogueSnapshot) {
    super();
  }
  snapshot(): CatalogueSnapshot {
    return this.current;
  }
  snapshotById(): Promise<CatalogueSnapshot> {
    return Promise.resolve(this.current);
  }
  onChange(): () => void {
    return () => undefined;
  }
}

class Unbounded extends Funds {
  constructor(private readonly limits: InProcessLimitStore) {
    super();
  }
  seedGate(accountId: string, gen: string, scopes: Parameters<Funds['seedGate']>[2]): Promise<void> {
    return this.limits.mirror({
      accountId,
      gen,
      version: 1,
      balanceNano: 1_000_000_000_000n,
      scopes: scopes.map((scope) => ({ ...scope, postedNano: 0n })),
      units: [],
    });
  }
  spent(scopes: unknown[]): Promise<string[]> {
    return Promise.resolve(scopes.map(() => '0'));
  }
  credit(): Promise<void> {
    return Promise.resolve();
  }
  watermark(): Promise<number> {
    return Promise.resolve(0);
  }
}

class Beside extends ShipperFactory {
  start(events: ShipperEvents): ShipperHandle {
    return new Shipper({
      append: () => Promise.resolve(),
      watermark: () => Promise.resolve(0),
      clock,
      random,
      events,
    });
  }
}

function modelOf(provider: string, dialect: 'chat' | 'messages'): CatalogueModel {
  const id = `replay/${provider}`;
  const price = { prompt_usd_per_1m: '1', completion_usd_per_1m: '1' };
  const record = {
    id,
    name: id,
    brand: 'replay',
    model_type: 'text',
    context_length: 1_000_000,
    max_output_tokens: 64_000,
    is_free: false,
    input_modalities: ['text', 'image', 'audio', 'file'],
    output_modalities: ['text', 'audio'],
    is_composite: false,
    composite_models: [],
    pricing: price,
    ...Object.fromEntries(FLAGS.map((flag) => [`supports_${flag}`, true])),
  } as unknown as ModelRecord;
  const route = {
    provider,
    model: id,
    upstreamModel: 'recorded',
    dialect,
    contextLength: 1_000_000,
    maxOutputTokens: 64_000,
    price,
  };
  const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];
  return {
    record,
    reasoning: { style: dialect === 'chat' ? 'effort' : 'adaptive', efforts },
    fixesSampling: false,
    routes: [route],
  };
}

export async function startGateway(upstreamUrl: string): Promise<Gateway> {
  const folder = mkdtempSync(join(tmpdir(), 'replay-'));
  const limits = new InProcessLimitStore({ clock, random });
  const dialectOf = (slug: string): 'chat' | 'messages' =>
    PROVIDERS.find((provider) => provider.slug === slug)?.dialects.includes('messages') ? 'messages' : 'chat';
  const models = PROVIDERS.map(({ slug }) => modelOf(slug, dialectOf(slug)));
  const ports = [
    {
      provide: CatalogueReader,
      useValue: new OneCatalogue({
        id: 'snap_replay',
        created_at: '2026-01-01T00:00:00Z',
        models,
        providers: [],
      }),
    },
    { provide: PrincipalReader, useValue: new OneKey() },
    { provide: Funds, useValue: new Unbounded(limits) },
    { provide: ShipperFactory, useValue: new Beside() },
  ];
  const neighbours = {
    module: class Neighbours {},
    global: true,
    providers: ports,
    exports: ports.map(({ provide }) => provide),
  };
  const providers = new Map(
    PROVIDERS.map((provider) => [
      provider.slug,
      { provider, access: { baseUrl: upstreamUrl, credential: 'replayed' } },
    ]),
  );
  const config = Object.assign(new EdgeConfig(), { JOURNAL_DIR: folder });
  @Module({
    imports: [
      PlatformModule.with({
        service: 'replay',
        logLevel: 'error',
        fleetToken: 'a-token-for-this-replay-only-000000',
        eventLog: () => new Forgetful(),
        limitStore: () => limits,
      }),
      neighbours,
      EdgeModule.with({ config, providers, frontDoor: {} }),
    ],
  })
  class ReplayApp {}
  const app = await bootstrap({
    name: 'replay',
    module: ReplayApp,
    config: { host: '127.0.0.1', port: 0, drainGraceMs: 1_000 },
  });
  return {
    url: app.url,
    key: mintSecret('rsk_', random),
    modelOf: (provider) => `replay/${provider}`,
    close: async () => {
      await app.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
