import {
  CatalogueReader,
  NO_ALIASES,
  type Alias,
  type AliasBook,
  type CatalogueModel,
  type CatalogueSnapshot,
} from '@gateway/contracts';

/** A catalogue that a test changes while a service runs: every change is a new snapshot, and the old ones stay known. */
export class CatalogueReaderDouble extends CatalogueReader {
  private readonly snapshots: CatalogueSnapshot[] = [snapshotOf(0, [])];
  private book: AliasBook = NO_ALIASES;
  private readonly listeners = new Set<(snapshot: CatalogueSnapshot) => void>();

  /** Adds models, or replaces those of the same id. */
  serve(...models: CatalogueModel[]): CatalogueSnapshot {
    const ids = new Set(models.map(({ record }) => record.id));
    const kept = this.snapshot().models.filter(({ record }) => !ids.has(record.id));
    const snapshot = snapshotOf(this.snapshots.length, [...kept, ...models]);
    this.snapshots.push(snapshot);
    for (const listener of this.listeners) listener(snapshot);
    return snapshot;
  }

  /** Replaces all aliases. */
  name(...aliases: Alias[]): void {
    this.book = { version: String(Number(this.book.version) + 1), aliases };
  }

  aliases(): AliasBook {
    return this.book;
  }

  snapshot(): CatalogueSnapshot {
    return this.snapshots[this.snapshots.length - 1];
  }

  async snapshotById(id: string): Promise<CatalogueSnapshot | null> {
    return this.snapshots.find((snapshot) => snapshot.id === id) ?? null;
  }

  onChange(listener: (snapshot: CatalogueSnapshot) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }
}

function snapshotOf(version: number, models: CatalogueModel[]): CatalogueSnapshot {
  return { id: `snap_${version}`, created_at: '2026-11-21T00:00:00Z', models, providers: [] };
}
