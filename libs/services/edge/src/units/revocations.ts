import { Inject, Injectable } from '@nestjs/common';
import {
  ApiError,
  LimitStore,
  TurnoverMap,
  type Clock,
  type KeyPrincipal,
  type Timer,
} from '@gateway/contracts';
import { CLOCK } from '@gateway/platform';

/** Time between two looks. Work that is over within one is never looked at. */
const LOOK_MS = 2_000;
/** Accounts whose versions are asked for at once. */
const ASKED_AT_ONCE = 32;

/** Work that was admitted for a key and still runs. */
export interface AdmittedWork {
  accountId: string;
  /** Account version at which the key was last seen to be allowed. */
  version: number;
  /** Reads the key again. Throws ApiError where it may no longer call. */
  reload: () => Promise<KeyPrincipal>;
  /** Ends the work, once, with the reason why the key may no longer call. */
  end: (rejection: ApiError) => void;
}

/**
 * Ends work whose key was suspended or deleted after it was admitted. Compares the accounts' versions every two seconds
 * and reads a key again only where its account has changed. A lookup that fails ends nothing. What fails at one work stops
 * no other. Bounded by the requests in flight.
 */
@Injectable()
export class Revocations {
  private readonly works = new TurnoverMap<string, AdmittedWork & { isOld: boolean }>();
  private timer: Timer | null = null;

  constructor(
    @Inject(LimitStore) private readonly limits: Pick<LimitStore, 'version'>,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  add(name: string, work: AdmittedWork): void {
    this.works.set(name, { ...work, isOld: false });
    this.timer ??= this.clock.setTimer(LOOK_MS, () => void this.look());
  }

  remove(name: string): void {
    this.works.delete(name);
  }

  private async look(): Promise<void> {
    const byAccount = new Map<string, AdmittedWork[]>();
    for (const work of this.works.values()) {
      const known = byAccount.get(work.accountId);
      if (work.isOld && known !== undefined) known.push(work);
      else if (work.isOld) byAccount.set(work.accountId, [work]);
      work.isOld = true;
    }
    const accounts = [...byAccount];
    for (let at = 0; at < accounts.length; at += ASKED_AT_ONCE)
      await Promise.all(accounts.slice(at, at + ASKED_AT_ONCE).map((account) => this.lookAt(...account)));
    this.timer = this.works.size > 0 ? this.clock.setTimer(LOOK_MS, () => void this.look()) : null;
  }

  private async lookAt(accountId: string, works: readonly AdmittedWork[]): Promise<void> {
    const newest = await this.limits.version(accountId).catch(() => null);
    if (newest === null) return;
    await Promise.allSettled(works.filter(({ version }) => version < newest).map(renew));
  }
}

/** Notes the newer version, or ends the work. Whatever says nothing about the key is asked again at the next look. */
async function renew(work: AdmittedWork): Promise<void> {
  try {
    work.version = (await work.reload()).accountVersion;
  } catch (rejection) {
    if (rejection instanceof ApiError && rejection.status < 500 && rejection.status !== 429)
      work.end(rejection);
  }
}
