import { ApiError, type KeyPrincipal, type LimitStore } from '@gateway/contracts';
import type { Call } from './call.js';

type Versions = Pick<LimitStore, 'version'>;

/**
 * Does `work` for the caller. A refusal of it must not rest on an old record: it never reaches admission, which would
 * find that out, so the version is compared here, and where it is not the newest the record is read again
 * (reliability 3.3). What is admitted costs nothing more.
 */
export async function forCurrentPrincipal<T>(
  call: Call,
  limits: Versions,
  work: (principal: KeyPrincipal) => T,
): Promise<T> {
  try {
    return work(call.principal);
  } catch (refusal) {
    if (!(refusal instanceof ApiError) || (await isCurrent(call.principal, limits))) throw refusal;
    return work(await call.reload());
  }
}

/** Where the store is away or does not know the version, the record counts as old: the reader decides. */
async function isCurrent({ accountId, accountVersion }: KeyPrincipal, limits: Versions): Promise<boolean> {
  try {
    const newest = await limits.version(accountId);
    return newest !== null && newest <= accountVersion;
  } catch {
    return false;
  }
}
