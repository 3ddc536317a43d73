import type { CatalogueSnapshot } from '../catalogue/catalogue-snapshot.js';

/** The priced catalogue in memory. Drivers: in process; HTTP with ETag, refreshed by event. */
export abstract class CatalogueReader {
  /** The newest snapshot, from memory: no I/O. Throws ApiError service_unavailable before the first load. */
  abstract snapshot(): CatalogueSnapshot;
  /** An older snapshot by id, for pricing again; null where it is unknown. */
  abstract snapshotById(id: string): Promise<CatalogueSnapshot | null>;
  /** Calls back after each newer snapshot; answers how to stop. */
  abstract onChange(listener: (snapshot: CatalogueSnapshot) => void): () => void;
}
