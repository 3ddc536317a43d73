import { Inject, Injectable, Module, type OnModuleInit, type OnApplicationShutdown } from '@nestjs/common';
import {
  BackgroundResponses,
  IdempotencyStore,
  CatalogueNames,
  CatalogueReader,
  Directory,
  ErasedEndUsers,
  EventLog,
  Funds,
  Inference,
  LimitStore,
  OrgOwners,
  PrincipalReader,
  RequestContents,
  ProviderKeyVault,
  ResponseStore,
  RouteHealth,
  StoredContent,
  type Clock,
  type Random,
} from '@gateway/contracts';
import type { Logger } from 'pino';
import { ReadinessChecks, InternalHttp, LOGGER, Metrics, CLOCK, RANDOM } from '@gateway/platform';
import { HttpCatalogueNames } from './http-catalogue-names.js';
import { HttpCatalogueReader } from './http-catalogue-reader.js';
import { HttpDirectory } from './http-directory.js';
import { HttpErasedEndUsers } from './http-erased-end-users.js';
import { HttpFunds } from './http-funds.js';
import { HttpOrgOwners } from './http-org-owners.js';
import { HttpStoredContent } from './http-stored-content.js';
import { HttpProviderKeyVault } from './http-provider-key-vault.js';
import { HttpPrincipalReader } from './http-principal-reader.js';
import { HttpBackgroundResponses } from './http-background-responses.js';
import { HttpIdempotencyStore } from './http-idempotency-store.js';
import { HttpInference } from './http-inference.js';
import { HttpRequestContents } from './http-request-contents.js';
import { HttpResponseStore } from './http-response-store.js';
import { HttpRouteHealth } from './http-route-health.js';
import { catalogueLoadCounter, principalCacheCounter } from './reader-metrics.js';

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

/** Provider keys of the keys service, for an app that does not hold it. */
@Module({
  providers: [
    {
      provide: ProviderKeyVault,
      inject: [InternalHttp, RANDOM],
      useFactory: (http: InternalHttp, random: Random) => new HttpProviderKeyVault(http, random),
    },
  ],
  exports: [ProviderKeyVault],
})
class ProviderKeysOverHttp {}
export const RemoteProviderKeysModule = { module: ProviderKeysOverHttp, global: true };

/** Templates and memories of the keys service, for an app that does not hold it. */
@Module({
  providers: [
    {
      provide: StoredContent,
      inject: [InternalHttp, RANDOM],
      useFactory: (http: InternalHttp, random: Random) => new HttpStoredContent(http, random),
    },
  ],
  exports: [StoredContent],
})
class StoredContentOverHttp {}
export const RemoteStoredContentModule = { module: StoredContentOverHttp, global: true };

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
@Module({
  providers: [
    {
      provide: RouteHealth,
      inject: [InternalHttp, RANDOM],
      useFactory: (http: InternalHttp, random: Random) => new HttpRouteHealth(http, random),
    },
  ],
  exports: [RouteHealth],
})
class RouteHealthOverHttp {}
export const RemoteRouteHealthModule = { module: RouteHealthOverHttp, global: true };

/** Provides the names of the catalogue service, for an app that needs no snapshot. */
@Module({
  providers: [
    {
      provide: CatalogueNames,
      inject: [InternalHttp, RANDOM],
      useFactory: (http: InternalHttp, random: Random) => new HttpCatalogueNames(http, random),
    },
  ],
  exports: [CatalogueNames],
})
class CatalogueNamesOverHttp {}
export const RemoteCatalogueNamesModule = { module: CatalogueNamesOverHttp, global: true };

/** The usage service's ledger, for an app that does not hold it. */
@Module({
  providers: [
    {
      provide: Funds,
      inject: [InternalHttp, RANDOM],
      useFactory: (http: InternalHttp, random: Random) => new HttpFunds(http, random),
    },
  ],
  exports: [Funds],
})
class FundsOverHttp {}
export const RemoteFundsModule = { module: FundsOverHttp, global: true };

/** The usage service's erasures, for an app that does not hold it. */
@Module({
  providers: [
    {
      provide: ErasedEndUsers,
      inject: [InternalHttp, RANDOM],
      useFactory: (http: InternalHttp, random: Random) => new HttpErasedEndUsers(http, random),
    },
  ],
  exports: [ErasedEndUsers],
})
class ErasuresOverHttp {}
export const RemoteErasuresModule = { module: ErasuresOverHttp, global: true };

/** Provides the contents store of the usage service, for an app that does not hold it. */
@Module({
  providers: [
    {
      provide: RequestContents,
      inject: [InternalHttp, RANDOM],
      useFactory: (http: InternalHttp, random: Random) => new HttpRequestContents(http, random),
    },
  ],
  exports: [RequestContents],
})
class ContentsOverHttp {}
export const RemoteContentsModule = { module: ContentsOverHttp, global: true };

/** The workers service's responses, for an app that does not hold it. */
@Module({
  providers: [
    {
      provide: ResponseStore,
      inject: [InternalHttp, RANDOM],
      useFactory: (http: InternalHttp, random: Random) => new HttpResponseStore(http, random),
    },
    {
      provide: BackgroundResponses,
      inject: [InternalHttp, RANDOM],
      useFactory: (http: InternalHttp, random: Random) => new HttpBackgroundResponses(http, random),
    },
    {
      provide: IdempotencyStore,
      inject: [InternalHttp, RANDOM],
      useFactory: (http: InternalHttp, random: Random) => new HttpIdempotencyStore(http, random),
    },
  ],
  exports: [ResponseStore, BackgroundResponses, IdempotencyStore],
})
class ResponsesOverHttp {}
export const RemoteResponsesModule = { module: ResponsesOverHttp, global: true };

/** The edge's inference, for an app that runs long work. */
@Module({
  providers: [
    {
      provide: Inference,
      inject: [InternalHttp, RANDOM],
      useFactory: (http: InternalHttp, random: Random) => new HttpInference(http, random),
    },
  ],
  exports: [Inference],
})
class InferenceOverHttp {}
export const RemoteInferenceModule = { module: InferenceOverHttp, global: true };

/** Owners of organizations from the keys service, for an app that writes to them. */
@Module({
  providers: [
    {
      provide: OrgOwners,
      inject: [InternalHttp, RANDOM],
      useFactory: (http: InternalHttp, random: Random) => new HttpOrgOwners(http, random),
    },
  ],
  exports: [OrgOwners],
})
class OrgOwnersOverHttp {}
export const RemoteOrgOwnersModule = { module: OrgOwnersOverHttp, global: true };

/** Names and accounts of the keys service, for an app that keeps ids alone. */
@Module({
  providers: [
    {
      provide: Directory,
      inject: [InternalHttp, RANDOM],
      useFactory: (http: InternalHttp, random: Random) => new HttpDirectory(http, random),
    },
  ],
  exports: [Directory],
})
class DirectoryOverHttp {}
export const RemoteDirectoryModule = { module: DirectoryOverHttp, global: true };
