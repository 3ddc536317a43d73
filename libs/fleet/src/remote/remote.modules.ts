import { Inject, Injectable, Module, type OnModuleInit, type OnApplicationShutdown } from '@nestjs/common';
import {
  CatalogueReader,
  EventLog,
  Funds,
  LimitStore,
  PrincipalReader,
  type Clock,
  type Random,
} from '@gateway/contracts';
import type { Logger } from 'pino';
import { ReadinessChecks, InternalHttp, LOGGER, Metrics, CLOCK, RANDOM } from '@gateway/platform';
import { HttpCatalogueReader } from './http-catalogue-reader.js';
import { HttpFunds } from './http-funds.js';
import { HttpPrincipalReader } from './http-principal-reader.js';
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
