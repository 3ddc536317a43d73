import { Inject, Injectable } from '@nestjs/common';
import {
  CatalogueReader,
  type AliasBook,
  type CatalogueSnapshot,
  type Clock,
  type Random,
  type Timer,
} from '@gateway/contracts';
import { CLOCK, LOGGER, RANDOM, unavailable } from '@gateway/platform';
import type { Logger } from 'pino';
import { StoredAliases } from '../aliases/stored-aliases.js';
import { CatalogueConfig } from '../catalogue.config.js';
import { CatalogueDatabase } from '../postgres/catalogue-database.js';
import { newestSnapshot, readSnapshot } from './snapshot.store.js';

const OLDER_MAX = 8;

/** The newest snapshot in memory, from the service's own database; it looks there for what other processes publish. */
@Injectable()
export class StoredCatalogueReader extends CatalogueReader {
  private current: CatalogueSnapshot | null = null;
  private readonly older = new Map<string, CatalogueSnapshot>();
  private readonly listeners = new Set<(snapshot: CatalogueSnapshot) => void>();
  private timer: Timer | null = null;
  private refreshing: Promise<void> = Promise.resolve();
  private isStopped = false;

  constructor(
    private readonly database: CatalogueDatabase,
    private readonly stored: StoredAliases,
    private readonly config: CatalogueConfig,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    super();
  }

  /** Loads the newest snapshot and begins to follow. Rejects where it cannot be loaded. */
  async start(): Promise<void> {
    await this.refresh();
    this.schedule();
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    this.timer?.cancel();
    await this.refreshing;
  }

  override snapshot(): CatalogueSnapshot {
    if (this.current === null) throw unavailable(this.random, new Error('No catalogue was loaded yet.'));
    return this.current;
  }

  override aliases(): AliasBook {
    return this.stored.book();
  }

  override async snapshotById(id: string): Promise<CatalogueSnapshot | null> {
    if (this.current?.id === id) return this.current;
    const known = this.older.get(id);
    if (known !== undefined) return known;
    const snapshot = await readSnapshot(this.database.prisma, id);
    if (snapshot !== null) this.remember(snapshot);
    return snapshot;
  }

  override onChange(listener: (snapshot: CatalogueSnapshot) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Takes a newer snapshot into memory, if there is one. */
  async refresh(): Promise<void> {
    const newest = await newestSnapshot(this.database.prisma);
    if (newest === null || newest.id === this.current?.id) return;
    const snapshot = await readSnapshot(this.database.prisma, newest.id);
    if (snapshot === null) return;
    if (this.current !== null) this.remember(this.current);
    this.current = snapshot;
    for (const listener of this.listeners) listener(snapshot);
  }

  private remember(snapshot: CatalogueSnapshot): void {
    this.older.set(snapshot.id, snapshot);
    if (this.older.size <= OLDER_MAX) return;
    const [oldest] = this.older.keys();
    this.older.delete(oldest);
  }

  private schedule(): void {
    if (this.isStopped) return;
    this.timer = this.clock.setTimer(this.config.CATALOGUE_POLL_MS, () => {
      this.refreshing = this.refresh()
        .catch((failure: unknown) =>
          this.logger.warn({ err: failure }, 'the catalogue could not be read again'),
        )
        .finally(() => this.schedule());
    });
  }
}
