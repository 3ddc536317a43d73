import {
  Inject,
  Injectable,
  Module,
  type ClassProvider,
  type DynamicModule,
  type OnApplicationShutdown,
  type OnModuleInit,
  type Type,
} from '@nestjs/common';
import {
  BackgroundResponses,
  IdempotencyStore,
  CatalogueNames,
  CatalogueReader,
  Directory,
  EventLog,
  Funds,
  Inference,
  LimitStore,
  PlatformCredentials,
  PrincipalReader,
  RequestContents,
  ProviderKeyVault,
  ResponseStore,
  RouteHealth,
  StoredContent,
  type BillingMode,
  type Clock,
  type Random,
} from '@gateway/contracts';
import type { Logger } from 'pino';
import { ReadinessChecks, InternalHttp, LOGGER, Metrics, CLOCK, RANDOM } from '@gateway/platform';
import { BillingAgreement, OWN_BILLING } from './billing-agreement.js';
import { HttpCatalogueNames } from './http-catalogue-names.js';
import { HttpCatalogueReader } from './http-catalogue-reader.js';
import { HttpDirectory } from './http-directory.js';
import { HttpFunds } from './http-funds.js';
import { HttpStoredContent } from './http-stored-content.js';
import { HttpPlatformCredentials } from './http-platform-credentials.js';
import { HttpProviderKeyVault } from './http-provider-key-vault.js';
import { HttpPrincipalReader } from './http-principal-reader.js';
import { HttpBackgroundResponses } from './http-background-responses.js';
import { HttpIdempotencyStore } from './http-idempotency-store.js';
import { HttpInference } from './http-inference.js';
import { HttpRequestContents } from './http-request-contents.js';
import { HttpResponseStore } from './http-response-store.js';
import { HttpRouteHealth } from './http-route-health.js';
import { catalogueLoadCounter, principalCacheCounter } from './reader-metrics.js';

/** Returns a global module of ports that another service serves. */
function overHttp(module: Type, providers: ClassProvider[]): DynamicModule {
  return { module, global: true, providers, exports: providers };
}

/** Principals of the keys service, for an app that does not hold it. */
@Module({
  providers: [
    {
      provide: PrincipalReader,
      inject: [InternalHttp, LimitStore, CLOCK, RANDOM, Metrics],
      useFactory: (http: InternalHttp, limits: LimitStore, clock: Clock, random: Random, metrics: Metrics) =>
        new HttpPrincipalReader({ http, limits, clock, random, onOutcome: principalCacheCounter(metrics) }),
    },
  ],
  exports: [PrincipalReader],
})
class PrincipalsOverHttp {}
export const RemotePrincipalsModule = { module: PrincipalsOverHttp, global: true };

/** Provider keys and platform credentials of the keys service, for an app that does not hold it. */
export const RemoteProviderKeysModule = overHttp(class ProviderKeysOverHttp {}, [
  { provide: ProviderKeyVault, useClass: HttpProviderKeyVault },
  { provide: PlatformCredentials, useClass: HttpPlatformCredentials },
]);

/** Templates and memories of the keys service, for an app that does not hold it. */
export const RemoteStoredContentModule = overHttp(class StoredContentOverHttp {}, [
  { provide: StoredContent, useClass: HttpStoredContent },
]);

@Injectable()
class CatalogueFollower implements OnModuleInit, OnApplicationShutdown {
  constructor(
    @Inject(CatalogueReader) private readonly reader: HttpCatalogueReader,
    private readonly readiness: ReadinessChecks,
  ) {}

  onModuleInit(): Promise<void> {
    this.readiness.add('catalogue', () => this.reader.readiness());
    return this.reader.start();
  }

  onApplicationShutdown(): Promise<void> {
    return this.reader.stop();
  }
}

/** The catalogue service's snapshot, for an app that does not hold it. */
@Module({
  providers: [
    {
      provide: CatalogueReader,
      inject: [InternalHttp, EventLog, CLOCK, RANDOM, LOGGER, Metrics],
      useFactory: (
        http: InternalHttp,
        eventLog: EventLog,
        clock: Clock,
        random: Random,
        logger: Logger,
        metrics: Metrics,
      ) =>
        new HttpCatalogueReader({
          http,
          eventLog,
          clock,
          random,
          onFailure: (failure) => logger.warn({ err: failure }, 'the catalogue could not be loaded'),
          onLoad: catalogueLoadCounter(metrics),
        }),
    },
    CatalogueFollower,
  ],
  exports: [CatalogueReader],
})
class CatalogueOverHttp {}
export const RemoteCatalogueModule = { module: CatalogueOverHttp, global: true };

/** Provides the receiver of provider reports of the catalogue service, for an app that calls providers. */
export const RemoteRouteHealthModule = overHttp(class RouteHealthOverHttp {}, [
  { provide: RouteHealth, useClass: HttpRouteHealth },
]);

/** Provides the names of the catalogue service, for an app that needs no snapshot. */
export const RemoteCatalogueNamesModule = overHttp(class CatalogueNamesOverHttp {}, [
  { provide: CatalogueNames, useClass: HttpCatalogueNames },
]);

/** The usage service's ledger, for an app that does not hold it. */
export const RemoteFundsModule = overHttp(class FundsOverHttp {}, [{ provide: Funds, useClass: HttpFunds }]);

/** Returns the comparison of an edge's mode of billing with that of its neighbours. */
export const billingAgreement = (own: BillingMode): DynamicModule => ({
  module: class BillingAgreementModule {},
  providers: [{ provide: OWN_BILLING, useValue: own }, BillingAgreement],
});

/** Provides the contents store of the usage service, for an app that does not hold it. */
export const RemoteContentsModule = overHttp(class ContentsOverHttp {}, [
  { provide: RequestContents, useClass: HttpRequestContents },
]);

/** The workers service's responses, for an app that does not hold it. */
export const RemoteResponsesModule = overHttp(class ResponsesOverHttp {}, [
  { provide: ResponseStore, useClass: HttpResponseStore },
  { provide: BackgroundResponses, useClass: HttpBackgroundResponses },
  { provide: IdempotencyStore, useClass: HttpIdempotencyStore },
]);

/** The edge's inference, for an app that runs long work. */
export const RemoteInferenceModule = overHttp(class InferenceOverHttp {}, [
  { provide: Inference, useClass: HttpInference },
]);

/** Names and accounts of the keys service, for an app that keeps ids alone. */
export const RemoteDirectoryModule = overHttp(class DirectoryOverHttp {}, [
  { provide: Directory, useClass: HttpDirectory },
]);
