import { Inject, Injectable } from '@nestjs/common';
import { ENDPOINTS } from '@gateway/endpoints';
import { LOGGER } from '@gateway/platform';
import { ownProviders, PROVIDERS, type GatewayFile } from '@gateway/providers';
import { gatewayFile } from '@gateway/upstream';
import type { Logger } from 'pino';
import { CatalogueConfig } from '../catalogue.config.js';
import { readSeed } from '../seed/read-seed.js';
import type { Seed, SeedModel } from '../seed/seed-record.js';
import type { Release } from '../snapshots/catalogue-model.js';
import { discoverModels } from './discover.js';
import { discoverable } from './own.config.js';
import { withOwn } from './with-own.js';

/** Entries of this installation beside the data of the release: the operator's file, and servers that are asked. */
@Injectable()
export class OwnEntries {
  private readonly file: GatewayFile;
  /** Last answer of each server: one that is unreachable for a moment keeps its models. */
  private readonly found = new Map<string, SeedModel[]>();

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

  /** Throws GatewayConfigError where the file and the data do not fit. */
  seed(): Seed {
    const seed = readSeed({ simulated: this.config.SIMULATED_PROVIDER });
    return withOwn(seed, this.file, [...this.found.values()].flat());
  }

  /** Asks every server for its models. True where they are others than before. */
  async discover(): Promise<boolean> {
    const before = JSON.stringify([...this.found]);
    await Promise.all(
      discoverable(this.config, this.file.config).map(async (server) => {
        try {
          const models = await discoverModels(server);
          this.found.set(server.slug, unique(models));
        } catch (failure) {
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

function unique(models: readonly SeedModel[]): SeedModel[] {
  return [...new Map(models.map((model) => [model.id, model])).values()];
}
