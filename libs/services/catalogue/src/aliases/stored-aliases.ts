import {
  Inject,
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
  type OnModuleInit,
} from '@nestjs/common';
import {
  NO_ALIASES,
  type AliasBook,
  type AliasShadow,
  type AliasTarget,
  type Clock,
} from '@gateway/contracts';
import { CLOCK, LOGGER, repeat, type Repeated } from '@gateway/platform';
import type { Logger } from 'pino';
import { CatalogueConfig } from '../catalogue.config.js';
import { CatalogueDatabase } from '../postgres/catalogue-database.js';

/** Owner of the aliases that every key may use. */
export const PLATFORM = 'platform';
/** Owner of those that gateway.yaml names; one of the platform that has the name of such a one is there in its place. */
export const FILE = 'file';

/** Source of the events of this service. */
export const SOURCE = '/catalogue';
/** The topic is compacted: the newest event of the aliases stays beside that of the snapshots. */
export const ALIASES_KEY = 'aliases';

/** Returns the organization of an owner; null for the platform's aliases and the file's. */
export function orgOf(owner: string): string | null {
  return owner === PLATFORM || owner === FILE ? null : owner;
}

interface Row {
  id: string;
  owner: string;
  name: string;
  targets: AliasTarget[];
  shadow: Omit<AliasShadow, 'alias_id'> | null;
}

/** Every enabled alias in memory, from the service's database; it looks there for what other processes change. */
@Injectable()
export class StoredAliases implements OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown {
  private current: AliasBook = NO_ALIASES;
  private loop: Repeated | null = null;

  constructor(
    private readonly database: CatalogueDatabase,
    private readonly config: CatalogueConfig,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  book(): AliasBook {
    return this.current;
  }

  /** Takes a newer book into memory, if there is one. */
  async refresh(): Promise<void> {
    const { pool } = this.database;
    // One statement: the rows are those of the version.
    const { rows } = await pool.query<{ version: string; aliases: Row[] | null }>(
      `SELECT version::text, CASE WHEN version::text = $1 THEN NULL ELSE
         (SELECT coalesce(json_agg(json_build_object('id', id, 'owner', owner, 'name', name, 'targets', targets, 'shadow', shadow) ORDER BY id), '[]')
          FROM alias WHERE is_enabled AND NOT (owner = $3 AND name IN (SELECT name FROM alias WHERE owner = $2)))
         END AS aliases
       FROM alias_version`,
      [this.current.version, PLATFORM, FILE],
    );
    const [{ version, aliases }] = rows;
    // Of two reads that overlapped the newer one stays.
    if (aliases === null || BigInt(version) < BigInt(this.current.version)) return;
    this.current = {
      version,
      aliases: aliases.map(({ id, owner, name, targets, shadow }) => ({
        ...{ org_id: orgOf(owner), name, targets },
        ...(shadow === null ? {} : { shadow: { alias_id: id, ...shadow } }),
      })),
    };
  }

  onModuleInit(): Promise<void> {
    return this.refresh();
  }

  onApplicationBootstrap(): void {
    this.loop = repeat(
      this.clock,
      this.config.CATALOGUE_POLL_MS,
      () => this.refresh(),
      (failure) => this.logger.warn({ err: failure }, 'the aliases could not be read again'),
    );
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.loop?.stop();
  }
}
