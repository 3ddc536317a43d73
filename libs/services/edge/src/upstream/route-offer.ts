import { Inject, Injectable } from '@nestjs/common';
import { CatalogueReader, UNSERVED_MAX, type Clock, type ReportedCredentials } from '@gateway/contracts';
import { CLOCK } from '@gateway/platform';
import { PlatformPools } from '../config/platform-pools.js';
import { ProviderDirectory } from '../config/provider-directory.js';

/** Routes that this process can call with credentials of the platform, as plans find them. */
@Injectable()
export class RouteOffer {
  constructor(
    private readonly directory: ProviderDirectory,
    private readonly pools: PlatformPools,
    private readonly catalogue: CatalogueReader,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  now(): ReportedCredentials {
    const { providers } = this.directory;
    return { providers: [...providers.keys()], unserved: this.unserved() };
  }

  /** Returns the routes of these providers that none of their credentials will ever serve. */
  private unserved(): string[] {
    const nowMs = this.clock.now();
    const never = this.models()
      .flatMap(({ routes }) => routes)
      .filter(
        (route) =>
          this.directory.providers.has(route.provider) && this.pools.readyAtMs(route, nowMs) === Infinity,
      );
    const names = new Set(
      never.map(({ model, provider, upstreamModel }) => `${model} ${provider} ${upstreamModel}`),
    );
    return [...names].slice(0, UNSERVED_MAX);
  }

  private models(): ReturnType<CatalogueReader['snapshot']>['models'] {
    try {
      return this.catalogue.snapshot().models;
    } catch {
      // Before the first snapshot there are no routes.
      return [];
    }
  }
}
