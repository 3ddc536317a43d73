import { Inject, Injectable } from '@nestjs/common';
import {
  ProviderKeyVault,
  type ProviderCredential,
  type ProviderKeyGrant,
  type Random,
} from '@gateway/contracts';
import { Deadlines, RANDOM, unavailable } from '@gateway/platform';

/** Time that a plaintext stays in memory, used or not. */
const KEPT_MS = 60_000;
/** A deadline fires up to a tick late. */
const DEADLINE_LATE_MS = 100;
const OPENED_MAX = 1_000;

/** Nest token of the opened credentials of the platform. */
export const POOLED_KEYS = Symbol('PooledKeys');

/** Plaintexts of provider keys that requests of the last minute used, by id and version. */
@Injectable()
export class OpenedKeys {
  private readonly opened = new Map<string, ProviderCredential>();
  private readonly flights = new Map<string, Promise<ProviderCredential>>();

  constructor(
    @Inject(ProviderKeyVault) private readonly vault: Pick<ProviderKeyVault, 'open'>,
    private readonly deadlines: Deadlines,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  get size(): number {
    return this.opened.size;
  }

  /** Throws ApiError service_unavailable where the key cannot be opened, or was changed since the request was planned. */
  credentialOf(accountId: string, grant: ProviderKeyGrant): ProviderCredential | Promise<ProviderCredential> {
    const name = `${accountId}/${grant.id}/${grant.version}`;
    const known = this.opened.get(name);
    if (known !== undefined) return known;
    const flight = this.flights.get(name);
    if (flight !== undefined) return flight;
    const running = this.open(name, accountId, grant).finally(() => this.flights.delete(name));
    this.flights.set(name, running);
    return running;
  }

  private async open(name: string, accountId: string, grant: ProviderKeyGrant): Promise<ProviderCredential> {
    const credential = await this.vault.open(accountId, grant.id, grant.version);
    if (credential === null)
      throw unavailable(this.random, new Error('a provider key was changed during the request'));
    this.opened.set(name, credential);
    if (this.opened.size > OPENED_MAX) {
      const [oldest] = this.opened.keys();
      this.opened.delete(oldest);
    }
    this.deadlines.set(KEPT_MS - DEADLINE_LATE_MS, () => {
      if (this.opened.get(name) === credential) this.opened.delete(name);
    });
    return credential;
  }
}
