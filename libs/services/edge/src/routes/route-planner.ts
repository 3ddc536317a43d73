import { Injectable } from '@nestjs/common';
import { CatalogueReader, type KeyPrincipal } from '@gateway/contracts';
import type { Asked, Endpoint } from '@gateway/endpoints';
import {
  candidatesFor,
  newestIndex,
  planRoutes,
  planShadow,
  RouteStats,
  type CatalogueIndex,
  type Plan,
  type PlanOptions,
  type RankedModel,
  type ShadowedAlias,
  type Wanted,
} from '@gateway/routing';
import { CircuitBreakers } from '@gateway/upstream';
import { ProviderDirectory } from '../config/provider-directory.js';
import { ANY_CREDENTIAL, PlatformPools } from '../config/platform-pools.js';

/** The caller of a request, and the endpoint and time that it is planned for. */
export interface PlanFor {
  endpoint: Pick<Endpoint, 'translate'>;
  principal: KeyPrincipal;
  nowMs: number;
  /** Draws the target of an alias; see PlanOptions. */
  point?: () => number;
}

/** Models and routes for requests, from the newest snapshot of the catalogue. */
@Injectable()
export class RoutePlanner {
  /** Returns the newest snapshot, indexed. Throws ApiError before the first one. */
  readonly index: () => CatalogueIndex;

  constructor(
    catalogue: CatalogueReader,
    private readonly directory: ProviderDirectory,
    private readonly breakers: CircuitBreakers,
    private readonly stats: RouteStats,
    private readonly pools: PlatformPools,
  ) {
    this.index = newestIndex(catalogue);
  }

  /** Throws ApiError where no route can serve. */
  plan(
    asked: Asked,
    { endpoint, principal, nowMs, point }: PlanFor,
    breakers?: PlanOptions['breakers'],
  ): Plan {
    const { directory, stats } = this;
    return planRoutes({
      asked,
      endpoint,
      principal,
      index: this.index(),
      providers: directory.providers,
      byok: directory.byok,
      breakers: breakers ?? this.breakers,
      // What has answered already is no question of who may serve now.
      pools: breakers === undefined ? this.pools.active : ANY_CREDENTIAL,
      stats,
      nowMs,
      point,
    });
  }

  /** Returns the plan of a shadow; null where the second model may not or cannot serve this caller. */
  shadow(alias: ShadowedAlias, asked: Asked, { endpoint, principal, nowMs }: PlanFor): Plan | null {
    const { providers, byok } = this.directory;
    const { breakers, stats } = this;
    const { active: pools } = this.pools;
    const index = this.index();
    return planShadow(alias, {
      asked,
      endpoint,
      principal,
      index,
      providers,
      byok,
      breakers,
      pools,
      stats,
      nowMs,
    });
  }

  /** Returns the models that could serve, the best first. */
  candidates(asked: Asked, wanted: Wanted, { principal, nowMs }: Omit<PlanFor, 'endpoint'>): RankedModel[] {
    const { providers, byok } = this.directory;
    const options = { asked, principal, index: this.index(), providers, byok, stats: this.stats, nowMs };
    return candidatesFor(options, wanted);
  }
}
