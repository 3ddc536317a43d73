import type { AliasBook, CatalogueReader, CatalogueSnapshot, Random } from '@gateway/contracts';
import { unavailable, type InternalHttp } from '@gateway/platform';

interface Deps {
  http: InternalHttp;
  random: Random;
}

export const SNAPSHOT_TIMEOUT_MS = 5_000;
export const SNAPSHOT_MAX_BYTES = 64 * 1024 * 1024;

/** Price snapshots by their ids, of the catalogue service. */
export class HttpSnapshots implements Pick<CatalogueReader, 'snapshotById'> {
  constructor(private readonly deps: Deps) {}

  async snapshotById(id: string): Promise<CatalogueSnapshot | null> {
    const { status, body } = await this.deps.http.request({
      service: 'catalogue',
      method: 'GET',
      path: `/internal/catalogue/snapshots/${encodeURIComponent(id)}`,
      timeoutMs: SNAPSHOT_TIMEOUT_MS,
      idempotent: true,
      maxBytes: SNAPSHOT_MAX_BYTES,
    });
    return status === 404 ? null : parseSnapshot(status, body, this.deps.random);
  }
}

/** Throws `service_unavailable` where the answer holds none. */
export function parseSnapshot(status: number, body: unknown, random: Random): CatalogueSnapshot {
  if (status === 200 && isSnapshot(body)) return body;
  throw unavailable(random, new Error(`The catalogue service answered ${status} and no snapshot.`));
}

/** Throws `service_unavailable` where the answer holds none. */
export function parseAliases(status: number, body: unknown, random: Random): AliasBook {
  if (status === 200 && isBook(body)) return body;
  throw unavailable(random, new Error(`The catalogue service answered ${status} and no aliases.`));
}

function isBook(value: unknown): value is AliasBook {
  if (typeof value !== 'object' || value === null) return false;
  const { version, aliases } = value as Readonly<Record<string, unknown>>;
  return typeof version === 'string' && /^\d{1,18}$/.test(version) && Array.isArray(aliases);
}

function isSnapshot(value: unknown): value is CatalogueSnapshot {
  if (typeof value !== 'object' || value === null) return false;
  const { id, models, providers } = value as Readonly<Record<string, unknown>>;
  return typeof id === 'string' && Array.isArray(models) && Array.isArray(providers);
}
