import { hash } from 'node:crypto';
import {
  ApiError,
  PrincipalReader,
  type Credential,
  type KeyPrincipal,
  type Principal,
} from '@gateway/contracts';

/** Principals that a test adds and changes while a service runs, by the digest of a secret or by a session's token. */
export class PrincipalReaderDouble extends PrincipalReader {
  /** Principals that the keys service has. */
  readonly known = new Map<string, Principal>();
  /** Principals in a cache: they are answered before `known` until the principal is reloaded. */
  readonly cached = new Map<string, Principal>();
  lookups = 0;
  reloads = 0;
  isUnavailable = false;

  /** @param credential a secret with its prefix, or a session's token */
  add(credential: string, principal: Principal): void {
    this.known.set(
      /^(?:rsk|mak)_/.test(credential) ? hash('sha256', credential, 'hex') : credential,
      principal,
    );
  }

  remembered(credential: Credential): Principal | null {
    const name = nameOf(credential);
    const found = this.isUnavailable ? undefined : (this.cached.get(name) ?? this.known.get(name));
    if (found === undefined) return null;
    this.lookups += 1;
    return found;
  }

  async resolve(credential: Credential): Promise<Principal> {
    this.lookups += 1;
    if (this.isUnavailable) throw new ApiError('service_unavailable');
    const name = nameOf(credential);
    const found = this.cached.get(name) ?? this.known.get(name);
    if (found === undefined) throw new ApiError('unauthorized');
    return found;
  }

  reload(credential: Credential): Promise<Principal> {
    this.reloads += 1;
    this.cached.delete(nameOf(credential));
    return this.resolve(credential);
  }

  async keyById(keyId: string, accountIds: readonly string[]): Promise<KeyPrincipal> {
    if (this.isUnavailable) throw new ApiError('service_unavailable');
    for (const principal of this.known.values())
      if (principal.kind === 'key' && principal.keyId === keyId && accountIds.includes(principal.accountId))
        return principal;
    throw new ApiError('not_found');
  }
}

function nameOf(credential: Credential): string {
  return credential.kind === 'session' ? credential.token : credential.digest;
}
