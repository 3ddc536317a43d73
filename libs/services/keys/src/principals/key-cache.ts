import { Inject, Injectable } from '@nestjs/common';
import type { Clock, KeyPrincipal } from '@gateway/contracts';
import { CLOCK } from '@gateway/platform';
import { VersionStamps } from '../accounts/version-stamps.js';
import { KeysConfig } from '../keys.config.js';
import { KeysDatabase } from '../postgres/keys-database.js';
import { pepperedDigest } from '../secrets/seal.js';
import type { ServiceSecrets } from '../secrets/service-secrets.js';
import { SERVICE_SECRETS } from '../secrets/tokens.js';
import { findKeyByHmac, toKeyPrincipal, type KeyRow } from './principal.store.js';

const ENTRIES_MAX = 50_000;
/** A bound on mistakes only: whoever uses a record compares the account's version. */
const FRESH_MS = 60_000;
const UNKNOWN_MS = 5_000;

interface Entry {
  /** null = unknown. */
  principal: KeyPrincipal | null;
  readAt: number;
}

/** Keys by their digest, read from the database and kept in memory where KEYS_PRINCIPAL_CACHE says so. */
@Injectable()
export class KeyCache {
  private readonly entries = new Map<string, Entry>();
  private readonly flights = new Map<string, Promise<KeyPrincipal | null>>();

  constructor(
    private readonly database: KeysDatabase,
    private readonly stamps: VersionStamps,
    private readonly config: KeysConfig,
    @Inject(SERVICE_SECRETS) private readonly secrets: Pick<ServiceSecrets, 'peppers'>,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Returns the record in memory, null for a digest that is unknown; undefined if it has to be read. */
  known(digest: string): KeyPrincipal | null | undefined {
    const entry = this.entries.get(digest);
    return entry !== undefined && this.isFresh(entry) ? entry.principal : undefined;
  }

  /**
   * Reads a key. A read that began before a change is not shared with callers that came after it: a flight is shared
   * within its own tick only.
   */
  async read(digest: string): Promise<KeyPrincipal | null> {
    const flight = this.flights.get(digest);
    if (flight !== undefined) {
      await flight.catch(() => null);
      const next = this.flights.get(digest);
      if (next !== undefined && next !== flight) return next;
    }
    const running = this.fetchKey(digest).finally(() => {
      if (this.flights.get(digest) === running) this.flights.delete(digest);
    });
    this.flights.set(digest, running);
    return running;
  }

  /** Reads the row of a key, as this deployment bills it. */
  principalOf(row: KeyRow): KeyPrincipal {
    return toKeyPrincipal(row, this.config);
  }

  private async fetchKey(digest: string): Promise<KeyPrincipal | null> {
    const readAt = this.clock.monotonic();
    const row = await findKeyByHmac(
      this.database.pool,
      hmacsOf(digest, this.secrets),
      new Date(this.clock.now()),
    );
    const principal = row === null ? null : this.principalOf(row);
    this.remember(digest, { principal, readAt });
    return principal;
  }

  private remember(digest: string, entry: Entry): void {
    if (!this.config.KEYS_PRINCIPAL_CACHE) return;
    const known = this.entries.get(digest)?.principal;
    // Of two reads that overlapped the newer record stays, in whatever order they ended.
    if (known != null && entry.principal !== null && known.accountVersion > entry.principal.accountVersion)
      return;
    this.entries.delete(digest);
    this.entries.set(digest, entry);
    if (this.entries.size <= ENTRIES_MAX) return;
    const [oldest] = this.entries.keys();
    this.entries.delete(oldest);
  }

  private isFresh({ principal, readAt }: Entry): boolean {
    const age = this.clock.monotonic() - readAt;
    if (principal === null) return age < UNKNOWN_MS;
    return age < FRESH_MS && !this.stamps.isOutdated(principal.accountId, principal.accountVersion);
  }
}

/** Returns the digest under each pepper of the deployment. */
export function hmacsOf(digest: string, { peppers }: Pick<ServiceSecrets, 'peppers'>): string[] {
  return peppers.map((pepper) => pepperedDigest(pepper.key, digest));
}
