import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Module } from '@nestjs/common';
import {
  CatalogueReader,
  Funds,
  PrincipalReader,
  ProviderKeyVault,
  ResponseStore,
  StoredContent,
  type CatalogueModel,
} from '@gateway/contracts';
import { EdgeConfig, EdgeModule, START_SHIPPER, type StartShipper } from '@gateway/edge';
import { Shipper } from '@gateway/journal';
import { bootstrap, mintSecret, PlatformModule, SystemClock, SystemRandom } from '@gateway/platform';
import { PROVIDERS } from '@gateway/providers';
import {
  catalogueModel,
  CatalogueReaderDouble,
  EventLogDouble,
  FundsDouble,
  keyPrincipal,
  LimitStoreDouble,
  PrincipalReaderDouble,
  ProviderKeyVaultDouble,
  ResponseStoreDouble,
  StoredContentDouble,
  scopeLimits,
} from '@gateway/testing';

const clock = new SystemClock();
const random = new SystemRandom();

/** A gateway whose every provider is the replay upstream. */
export interface Gateway {
  url: string;
  key: string;
  /** Catalogue id of the model that a provider serves. */
  modelOf(provider: string): string;
  close(): Promise<void>;
}

/** Nothing is shipped: the journal goes with its folder. */
const startShipper: StartShipper = (events) =>
  new Shipper({
    append: () => Promise.resolve(),
    watermark: () => Promise.resolve(0),
    clock,
    random,
    events,
  });

/** Able to do what any recording asks for. */
function modelOf(provider: string, dialect: 'chat' | 'messages'): CatalogueModel {
  const bounds = { contextLength: 1_000_000, maxOutputTokens: 64_000 };
  const model = catalogueModel(
    `replay/${provider}`,
    [{ provider, upstreamModel: 'recorded', dialect, ...bounds }],
    {
      context_length: bounds.contextLength,
      max_output_tokens: bounds.maxOutputTokens,
      input_modalities: ['text', 'image', 'audio', 'file'],
      output_modalities: ['text', 'audio'],
      supports_responses_api: true,
    },
  );
  const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];
  return { ...model, reasoning: { style: dialect === 'chat' ? 'effort' : 'adaptive', efforts } };
}

export async function startGateway(upstreamUrl: string): Promise<Gateway> {
  const folder = mkdtempSync(join(tmpdir(), 'replay-'));
  const limits = new LimitStoreDouble({ clock, random });
  const dialectOf = (slug: string): 'chat' | 'messages' =>
    PROVIDERS.find((provider) => provider.slug === slug)?.dialects.includes('messages') ? 'messages' : 'chat';
  const catalogue = new CatalogueReaderDouble();
  catalogue.serve(...PROVIDERS.map(({ slug }) => modelOf(slug, dialectOf(slug))));
  const principals = new PrincipalReaderDouble();
  const key = mintSecret('rsk_', random);
  const unlimited = { creditLimitUsd: null, limits: [scopeLimits('key', 'key_1')] };
  principals.add(key, keyPrincipal({ ...unlimited, routingPolicy: { max_retries: 0 } }));
  const funds = new FundsDouble(limits);
  funds.balanceNano = 1_000_000_000_000n;
  const ports = [
    { provide: CatalogueReader, useValue: catalogue },
    { provide: PrincipalReader, useValue: principals },
    { provide: Funds, useValue: funds },
    { provide: ProviderKeyVault, useValue: new ProviderKeyVaultDouble() },
    { provide: ResponseStore, useValue: new ResponseStoreDouble() },
    { provide: StoredContent, useValue: new StoredContentDouble() },
    { provide: START_SHIPPER, useValue: startShipper },
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
      {
        provider,
        access: { baseUrl: upstreamUrl, credential: { kind: 'api_key' as const, key: 'replayed' } },
      },
    ]),
  );
  const config = Object.assign(new EdgeConfig(), { JOURNAL_DIR: folder });
  @Module({
    imports: [
      PlatformModule.with({
        service: 'replay',
        logLevel: 'error',
        fleetToken: 'a-token-for-this-replay-only-000000',
        eventLog: () => new EventLogDouble(),
        limitStore: () => limits,
      }),
      neighbours,
      EdgeModule.with({ config, providers, addresses: new Map(), frontDoor: {} }),
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
    key,
    modelOf: (provider) => `replay/${provider}`,
    close: async () => {
      await app.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
