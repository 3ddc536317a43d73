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
import { KeysDatabase } from '../postgres/keys-database.js';
import type { ServiceSecrets } from '../secrets/service-secrets.js';
import { SERVICE_SECRETS } from '../secrets/tokens.js';
import { SessionTokens } from '../sessions/session-token.js';
import { findAdminKey } from './admin-key-principal.store.js';
import { hmacsOf, KeyCache } from './key-cache.js';
import { LastUsed } from './last-used.js';
import { findKeyOf, findKeysByHmac, findSession } from './principal.store.js';

/**
 * Principals from the database. In one process with the edge this stands on the path of every request, so there keys
 * are kept in memory by their digest (KEYS_PRINCIPAL_CACHE); sessions are read each time.
 */
@Injectable()
export class DatabasePrincipalReader extends PrincipalReader {
  private readonly resolutions: Counter;

  constructor(
    private readonly database: KeysDatabase,
    private readonly keys: KeyCache,
    private readonly tokens: SessionTokens,
    private readonly lastUsed: LastUsed,
    @Inject(SERVICE_SECRETS) private readonly secrets: ServiceSecrets,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
    { registry }: Metrics,
  ) {
    super();
    this.resolutions = new Counter({
      name: 'gateway_principal_resolutions_total',
      help: 'Principals read past the cache, by kind of credential and outcome (found or the code of the rejection).',
      labelNames: ['kind', 'outcome'],
      registers: [registry],
    });
  }

  remembered(credential: Credential): KeyPrincipal | null {
    const known = credential.kind === 'key' ? this.keys.known(credential.digest) : undefined;
    return known !== undefined && this.isUsable(known) ? this.usable(known) : null;
  }

  async resolve(credential: Credential): Promise<Principal> {
    const known = credential.kind === 'key' ? this.keys.known(credential.digest) : undefined;
    return known === undefined ? this.reload(credential) : this.usable(known);
  }

  async reload(credential: Credential): Promise<Principal> {
    const { kind } = credential;
    try {
      const principal = await this.read(credential);
      this.resolutions.inc({ kind, outcome: 'found' });
      return principal;
    } catch (failure) {
      const rejection = failure instanceof ApiError ? failure : unavailable(this.random, failure);
      this.resolutions.inc({ kind, outcome: rejection.code });
      throw rejection;
    }
  }

  /**
   * Reads past the cache, in one statement; null = unknown, expired or rotated out. Keys that are read ahead of their
   * use are not noted as used. Throws ApiError `service_unavailable`.
   */
  async readKeys(digests: readonly string[], isAhead = false): Promise<(KeyPrincipal | null)[]> {
    try {
      const hmacs = digests.map((digest) => hmacsOf(digest, this.secrets));
      const rows = await findKeysByHmac(this.database.pool, hmacs, new Date(this.clock.now()));
      return rows.map((row) => this.counted(row === null ? null : this.keys.principalOf(row), isAhead));
    } catch (failure) {
      throw unavailable(this.random, failure);
    }
  }

  private counted(principal: KeyPrincipal | null, isAhead: boolean): KeyPrincipal | null {
    const found = this.isUsable(principal) ? principal : null;
    this.resolutions.inc({ kind: 'key', outcome: found === null ? 'unauthorized' : 'found' });
    if (found?.status === 'active' && !isAhead) this.lastUsed.note(found.keyId);
    return found;
  }

  async keyById(keyId: string, accountIds: readonly string[]): Promise<KeyPrincipal> {
    const row = await findKeyOf(this.database.pool, accountIds, keyId).catch((failure: unknown) => {
      throw unavailable(this.random, failure);
    });
    if (row === null) throw new ApiError('not_found');
    return this.keys.principalOf(row);
  }

  private async read(credential: Credential): Promise<Principal> {
    switch (credential.kind) {
      case 'key':
        return this.usable(await this.keys.read(credential.digest));
      case 'session':
        return this.readSession(credential.token);
      case 'admin_key':
        return this.readAdminKey(credential.digest);
    }
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

  private async readAdminKey(digest: string): Promise<Principal> {
    const hmacs = hmacsOf(digest, this.secrets);
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
