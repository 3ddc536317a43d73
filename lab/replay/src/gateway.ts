import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Module } from '@nestjs/common';
import {
  CatalogueReader,
  Funds,
  ObjectStore,
  PrincipalReader,
  PlatformCredentials,
  ProviderKeyVault,
  BackgroundResponses,
  IdempotencyStore,
  RequestContents,
  ResponseStore,
  RouteHealth,
  StoredContent,
  type CatalogueModel,
  type DialectName,
  type LogRecord,
  type ModelType,
  type UsageRecord,
} from '@gateway/contracts';
import { EdgeConfig, EdgeModule, START_SHIPPER, type StartShipper } from '@gateway/edge';
import { Shipper } from '@gateway/journal';
import { FolderStore } from '@gateway/object-store';
import { bootstrap, mintSecret, PlatformModule, SystemClock, SystemRandom } from '@gateway/platform';
import { PROVIDERS } from '@gateway/providers';
import {
  catalogueModel,
  CatalogueReaderDouble,
  eventually,
  EventLogDouble,
  FundsDouble,
  keyPrincipal,
  LimitStoreDouble,
  NO_PRESSURE,
  PrincipalReaderDouble,
  PlatformCredentialsDouble,
  ProviderKeyVaultDouble,
  BackgroundResponsesDouble,
  IdempotencyStoreDouble,
  RequestContentsDouble,
  ResponseStoreDouble,
  RouteHealthDouble,
  StoredContentDouble,
  scopeLimits,
} from '@gateway/testing';

const clock = new SystemClock();
const random = new SystemRandom();

/** A gateway whose every provider is the replay upstream. */
export interface Gateway {
  url: string;
  key: string;
  /** Catalogue id of a model that a provider serves in a dialect, under a name of its own: from now on the only one. */
  serve(provider: string, dialect: DialectName, upstreamModel: string): string;
  /** The usage record of a request, once it has been shipped; null where none was. */
  usageOf(requestId: string): Promise<UsageRecord | null>;
  close(): Promise<void>;
}

/** Usage records, stored until they are asked for; the journal goes with its folder. */
class ShippedUsage {
  private readonly records = new Map<string, UsageRecord>();

  readonly start: StartShipper = (events) => {
    const shipper = new Shipper({
      append: async (_topic, records) => records.forEach((record) => this.keep(record)),
      watermark: () => Promise.resolve(0),
      clock,
      random,
      events,
    });
    shipper.start();
    return shipper;
  };

  private keep({ value }: LogRecord): void {
    const { data } = JSON.parse(value) as { data: UsageRecord };
    this.records.set(data.request_id, data);
  }

  async of(requestId: string): Promise<UsageRecord | null> {
    await eventually(() => this.records.has(requestId)).catch(() => undefined);
    const record = this.records.get(requestId) ?? null;
    this.records.clear();
    return record;
  }
}

/** Prices at which the judge computes the cost of an answer. */
const PRICE = {
  prompt_usd_per_1m: '1',
  completion_usd_per_1m: '2',
  cache_read_input_usd_per_1m: '0.1',
  cache_write_input_usd_per_1m: '1.25',
};
const TYPES: readonly [RegExp, ModelType][] = [[/embeddings$/, 'embedding']];

/** Able to do what any recording asks for. */
function modelFor(provider: string, dialect: DialectName, upstreamModel: string): CatalogueModel {
  const bounds = { contextLength: 1_000_000, maxOutputTokens: 64_000 };
  const model = catalogueModel(
    `replay/${provider}-${dialect}`,
    [{ provider, upstreamModel, dialect, price: PRICE, ...bounds }],
    {
      model_type: TYPES.find(([pattern]) => pattern.test(dialect))?.[1] ?? 'text',
      context_length: bounds.contextLength,
      max_output_tokens: bounds.maxOutputTokens,
      input_modalities: ['text', 'image', 'audio', 'file'],
      output_modalities: dialect.endsWith('rerank') ? ['rerank'] : ['text', 'audio'],
      supports_embeddings: dialect.endsWith('embeddings'),
      supports_responses_api: true,
    },
  );
  const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];
  return { ...model, reasoning: { style: dialect === 'messages' ? 'adaptive' : 'effort', efforts } };
}

/** Every provider at one address, with a key that nobody checks. */
function providersAt(baseUrl: string): Parameters<typeof EdgeModule.with>[0]['providers'] {
  const access = { baseUrl, credential: { kind: 'api_key' as const, key: 'replayed' } };
  return new Map(PROVIDERS.map((provider) => [provider.slug, { provider, access }]));
}

export async function startGateway(upstreamUrl: string): Promise<Gateway> {
  const folder = mkdtempSync(join(tmpdir(), 'replay-'));
  const limits = new LimitStoreDouble({ clock, random });
  const shipped = new ShippedUsage();
  const catalogue = new CatalogueReaderDouble();
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
    { provide: PlatformCredentials, useValue: new PlatformCredentialsDouble() },
    { provide: ResponseStore, useValue: new ResponseStoreDouble() },
    { provide: ObjectStore, useValue: new FolderStore({ folder, publicUrl: upstreamUrl, clock, random }) },
    { provide: RouteHealth, useValue: new RouteHealthDouble() },
    { provide: BackgroundResponses, useValue: new BackgroundResponsesDouble() },
    { provide: IdempotencyStore, useValue: new IdempotencyStoreDouble() },
    { provide: RequestContents, useValue: new RequestContentsDouble() },
    { provide: StoredContent, useValue: new StoredContentDouble() },
    { provide: START_SHIPPER, useValue: shipped.start },
  ];
  const neighbours = {
    module: class Neighbours {},
    global: true,
    providers: ports,
    exports: ports.map(({ provide }) => provide),
  };
  const providers = providersAt(upstreamUrl);
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
      EdgeModule.with({ config, providers, keyed: new Map(), frontDoor: {} }),
    ],
  })
  class ReplayApp {}
  const app = await bootstrap({
    name: 'replay',
    module: ReplayApp,
    config: { host: '127.0.0.1', port: 0, drainGraceMs: 1_000, pressure: NO_PRESSURE },
  });
  return {
    url: app.url,
    key,
    serve: (provider, dialect, upstreamModel) => {
      const model = modelFor(provider, dialect, upstreamModel);
      catalogue.serve(model);
      return model.record.id;
    },
    usageOf: (requestId) => shipped.of(requestId),
    close: async () => {
      await app.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
