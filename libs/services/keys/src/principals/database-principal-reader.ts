import { Inject, Injectable } from '@nestjs/common';
import {
  ApiError,
  PrincipalReader,
  type Clock,
  type Credential,
  type KeyPrincipal,
  type Principal,
  type Random,
} from '@gateway/contracts';
import { CLOCK, Metrics, RANDOM, unavailable } from '@gateway/platform';
import { Counter } from 'prom-client';
import { VersionStamps } from '../accounts/version-stamps.js';
import { KeysConfig } from '../keys.config.js';
import { KeysDatabase } from '../postgres/keys-database.js';
import { pepperedDigest } from '../secrets/seal.js';
import type { ServiceSecrets } from '../secrets/service-secrets.js';
import { SERVICE_SECRETS } from '../secrets/tokens.js';
import { SessionTokens } from '../sessions/session-token.js';
import { findAdminKey } from './admin-key-principal.store.js';
import { LastUsed } from './last-used.js';
import { findKeyByHmac, findKeyOf, findKeysByHmac, findSession, toKeyPrincipal } from './principal.store.js';

const ENTRIES_MAX = 50_000;
/** A bound on mistakes only: whoever uses a record compares the account's version. */
const FRESH_MS = 60_000;
const UNKNOWN_MS = 5_000;

interface Entry {
  /** null = unknown. */
  principal: KeyPrincipal | null;
  readAt: number;
}

/**
 * Principals from the database. In one process with the edge this stands on the path of every request, so there keys
 * are kept in memory by their digest (KEYS_PRINCIPAL_CACHE); sessions are read each time.
 */
@Injectable()
export class DatabasePrincipalReader extends PrincipalReader {
  private readonly entries = new Map<string, Entry>();
  private readonly resolutions: Counter;
  private readonly flights = new Map<string, Promise<KeyPrincipal | null>>();

  constructor(
    private readonly database: KeysDatabase,
    private readonly tokens: SessionTokens,
    private readonly stamps: VersionStamps,
    private readonly config: KeysConfig,
    private readonly lastUsed: LastUsed,
    @Inject(SERVICE_SECRETS) private readonly secrets: ServiceSecrets,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
    { registry }: Metrics,
  ) {
    super();
    this.resolutions = new Counter({
      name: 'gateway_principal_resolutions_total',
      help: 'Principals read past the cache, by kind of credential and outcome (found or the code of the refusal).',
      labelNames: ['kind', 'outcome'],
      registers: [registry],
    });
  }

  async resolve(credential: Credential): Promise<Principal> {
    if (credential.kind !== 'key' || !this.config.KEYS_PRINCIPAL_CACHE) return this.reload(credential);
    const entry = this.entries.get(credential.digest);
    return entry !== undefined && this.isFresh(entry)
      ? this.usable(entry.principal)
      : this.reload(credential);
  }

  async reload(credential: Credential): Promise<Principal> {
    const { kind } = credential;
    try {
      const principal = await this.read(credential);
      this.resolutions.inc({ kind, outcome: 'found' });
      return principal;
    } catch (failure) {
      const refusal = failure instanceof ApiError ? failure : unavailable(this.random, failure);
      this.resolutions.inc({ kind, outcome: refusal.code });
      throw refusal;
    }
  }

  /**
   * Reads past the cache, in one statement; null = unknown, expired or rotated out. Throws ApiError
   * `service_unavailable`.
   */
  async readKeys(digests: readonly string[]): Promise<(KeyPrincipal | null)[]> {
    try {
      const hmacs = digests.map((digest) => this.hmacsOf(digest));
      const rows = await findKeysByHmac(this.database.pool, hmacs, new Date(this.clock.now()));
      return rows.map((row) => this.counted(row === null ? null : toKeyPrincipal(row)));
    } catch (failure) {
      throw unavailable(this.random, failure);
    }
  }

  private counted(principal: KeyPrincipal | null): KeyPrincipal | null {
    const found = this.isUsable(principal) ? principal : null;
    this.resolutions.inc({ kind: 'key', outcome: found === null ? 'unauthorized' : 'found' });
    if (found?.status === 'active') this.lastUsed.note(found.keyId);
    return found;
  }

  async keyById(keyId: string, accountIds: readonly string[]): Promise<KeyPrincipal> {
    const row = await findKeyOf(this.database.pool, accountIds, keyId).catch((failure: unknown) => {
      throw unavailable(this.random, failure);
    });
    if (row === null) throw new ApiError('not_found');
    return toKeyPrincipal(row);
  }

  private async read(credential: Credential): Promise<Principal> {
    switch (credential.kind) {
      case 'key':
        return this.usable(await this.readKey(credential.digest));
      case 'session':
        return this.readSession(credential.token);
      case 'admin_key':
        return this.readAdminKey(credential.digest);
    }
  }

  private isFresh({ principal, readAt }: Entry): boolean {
    const age = this.clock.monotonic() - readAt;
    if (principal === null) return age < UNKNOWN_MS;
    return age < FRESH_MS && !this.stamps.isOutdated(principal.accountId, principal.accountVersion);
  }

  /** Returns false past `expires_at`: the key is then as good as unknown. */
  private isUsable(principal: KeyPrincipal | null): principal is KeyPrincipal {
    return principal !== null && (principal.expiresAtMs === null || principal.expiresAtMs > this.clock.now());
  }

  private usable(principal: KeyPrincipal | null): KeyPrincipal {
    if (!this.isUsable(principal)) throw new ApiError('unauthorized');
    if (principal.status === 'active') this.lastUsed.note(principal.keyId);
    return principal;
  }

  /**
   * Reads a key. A read that began before a change is not shared with callers that came after it: a flight is shared
   * within its own tick only.
   */
  private async readKey(digest: string): Promise<KeyPrincipal | null> {
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

  private async fetchKey(digest: string): Promise<KeyPrincipal | null> {
    const readAt = this.clock.monotonic();
    const row = await findKeyByHmac(this.database.pool, this.hmacsOf(digest), new Date(this.clock.now()));
    const principal = row === null ? null : toKeyPrincipal(row);
    this.remember(digest, { principal, readAt });
    return principal;
  }

  private hmacsOf(digest: string): string[] {
    return this.secrets.peppers.map((pepper) => pepperedDigest(pepper.key, digest));
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

  private async readAdminKey(digest: string): Promise<Principal> {
    const hmacs = this.secrets.peppers.map((pepper) => pepperedDigest(pepper.key, digest));
    const found = await findAdminKey(this.database.pool, hmacs, new Date(this.clock.now()));
    if (found === null) throw new ApiError('unauthorized');
    this.lastUsed.note(found.keyId);
    return found;
  }

  private async readSession(token: string): Promise<Principal> {
    const claims = await this.tokens.verify(token);
    const found = await findSession(this.database.pool, claims, new Date(this.clock.now()));
    if (found === null) throw new ApiError('unauthorized');
    return found;
  }
}
