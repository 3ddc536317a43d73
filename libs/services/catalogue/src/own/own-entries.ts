import { Inject, Injectable } from '@nestjs/common';
import { ENDPOINTS } from '@gateway/endpoints';
import { LOGGER } from '@gateway/platform';
import { ownProviders, PROVIDERS, type GatewayFile, type OwnAlias } from '@gateway/providers';
import { gatewayFile } from '@gateway/upstream';
import type { Logger } from 'pino';
import { CatalogueConfig } from '../catalogue.config.js';
import { readSeed } from '../seed/read-seed.js';
import type { FeedLayer } from '../seed/feed-layer.js';
import { versionOf, withFeed } from '../seed/release-data.js';
import type { Seed, SeedModel } from '../seed/seed-record.js';
import type { Release } from '../snapshots/catalogue-model.js';
import { discoverModels, NotDiscovered, type Discoverable } from './discover.js';
import { discoverable } from './own.config.js';
import { Layers } from './layers.js';
import { withOwn } from './with-own.js';

/** Models that a server of the operator's offers. */
export interface ServerOffer {
  name: string;
  /** Address at which it is asked, without a credential. */
  baseUrl: string;
  /** Ids of the models that it had when it was last reached. */
  models: string[];
  /** Words that say why it was not read at the last try; null where it was. */
  fault: string | null;
}

/** Entries of this installation beside the data of the release: the operator's file, and servers that are asked. */
@Injectable()
export class OwnEntries {
  private readonly file: GatewayFile;
  /** Last answer of each server: one that is unreachable for a moment keeps its models. */
  private readonly found = new Map<string, SeedModel[]>();
  private readonly faults = new Map<string, string>();
  /** The data of the release, which no running process changes. */
  private data: Seed | null = null;

  constructor(
    private readonly config: CatalogueConfig,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.file = gatewayFile({ GATEWAY_CONFIG: config.GATEWAY_CONFIG });
  }

  get asksServers(): boolean {
    return discoverable(this.config, this.file.config).length > 0;
  }

  /** Returns the adapters that this release and the file can call. */
  release(): Pick<Release, 'adapters' | 'paths'> {
    return {
      adapters: new Map(
        [...PROVIDERS, ...ownProviders(this.file.config)].map(({ slug, dialects }) => [slug, dialects]),
      ),
      paths: new Set(ENDPOINTS.flatMap(({ paths }) => paths)),
    };
  }

  /** Returns the names of the file that stand for models. */
  aliases(): readonly OwnAlias[] {
    return this.file.config.aliases;
  }

  /**
   * Returns the layers below the edits of operators: the newer of the release's data and the feed's, what servers offer, the
   * file. Throws GatewayConfigError where the file and the data do not fit.
   */
  layers(feed: FeedLayer | null): Layers {
    const release = this.releaseData();
    const isFeed = feed !== null && feed.version >= versionOf(release);
    const data = isFeed ? withFeed(release, feed) : release;
    const discovered = [...this.found.values()].flat();
    const seed = withOwn(data, this.file, discovered);
    return new Layers(seed, { data, dataLayer: isFeed ? 'feed' : 'release', discovered });
  }

  /** Returns the version of the release's data. */
  releaseVersion(): number {
    return versionOf(this.releaseData());
  }

  private releaseData(): Seed {
    this.data ??= readSeed({ simulated: this.config.SIMULATED_PROVIDER });
    return this.data;
  }

  /** Returns the models that each server offers, as they were read last. */
  offers(): ServerOffer[] {
    return discoverable(this.config, this.file.config).map(({ slug, name, baseUrl }) => ({
      name,
      baseUrl: baseUrl.replace(/^(https?:\/\/)[^/@]*@/, '$1'),
      models: (this.found.get(slug) ?? []).map(({ id }) => id),
      fault: this.faults.get(slug) ?? null,
    }));
  }

  /** Asks every server for its models. True where they are others than before. */
  async discover(): Promise<boolean> {
    const before = JSON.stringify([...this.found]);
    await Promise.all(
      discoverable(this.config, this.file.config).map(async (server) => {
        try {
          const models = await discoverModels(server);
          this.found.set(server.slug, models);
          this.faults.delete(server.slug);
        } catch (failure) {
          this.faults.set(server.slug, faultOf(failure, server));
          this.logger.warn(
            { err: failure, provider: server.slug },
            'the models of a server could not be read',
          );
        }
      }),
    );
    return JSON.stringify([...this.found]) !== before;
  }
}

/** Returns a failure in words that say what to mend. */
export function faultOf(failure: unknown, { keyEnv }: Discoverable): string {
  if (!(failure instanceof NotDiscovered)) return 'its answer could not be read';
  const { status } = failure;
  if (status === null) return 'not reached';
  if (status !== 401 && status !== 403) return `answered ${status}`;
  return keyEnv === null
    ? `refuses calls without a key (${status})`
    : `refuses the key of ${keyEnv} (${status})`;
}
