import type { AliasBook } from '../catalogue/alias-book.js';
import type { CatalogueSnapshot } from '../catalogue/catalogue-snapshot.js';

export const NO_ALIASES: AliasBook = { version: '0', aliases: [] };

/** The priced catalogue in memory. Drivers: in process; HTTP with ETag, refreshed by event. */
export abstract class CatalogueReader {
  /** The newest snapshot, from memory: no I/O. Throws ApiError service_unavailable before the first load. */
  abstract snapshot(): CatalogueSnapshot;
  /** The newest aliases, from memory: no I/O. None before the first load. */
  abstract aliases(): AliasBook;
  /** An older snapshot by id, for pricing again; null where it is unknown. */
  abstract snapshotById(id: string): Promise<CatalogueSnapshot | null>;
  /** Calls back after each newer snapshot; answers how to stop. */
  abstract onChange(listener: (snapshot: CatalogueSnapshot) => void): () => void;
}
