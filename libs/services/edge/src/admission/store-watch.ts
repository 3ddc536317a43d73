import type { AdmitRequest, Clock, LimitStore, Random, Timer } from '@gateway/contracts';
import { unavailable } from '@gateway/platform';

export interface StoreWatchDeps {
  limits: Pick<LimitStore, 'admit' | 'watched'>;
  clock: Clock;
  random: Random;
  /** Reports to the store everything that this process knows and the ledger does not. Throws where it did not get there. */
  resubmit: () => Promise<void>;
  onLoss: () => void;
}

const LOOK_MS = 100;
/** Other processes notice a loss within a look and then put again: until then nobody asks for posted totals. */
const OTHERS_MS = 4 * LOOK_MS;
/** Longest wait of an admission for units to be put again. */
const PATIENCE_MS = 1_500;

/**
 * Notices that the limit store lost what it knew: emptied, restarted, failed over to a replica. Each node of it makes a
 * new gen for an account that nobody uses. Then what this process holds is put again. Else a loss during an outage of the
 * event log or the ledger would hide that spend for the whole outage.
 */
export class StoreWatch {
  private readonly gens = new Map<string, string>();
  private running: Promise<void> | null = null;
  private next: Promise<void> | null = null;
  private timer: Timer | null = null;
  private looks = 0;
  private isStopped = false;
  private lostAt = -Infinity;
  private lastLoss = '';

  constructor(private readonly deps: StoreWatchDeps) {}

  /** Looks at once, which puts again what a former process left, and every 100 ms. */
  start(): void {
    if (this.isStopped) return;
    this.look().catch(() => undefined);
    this.timer = this.deps.clock.setTimer(LOOK_MS, () => this.start());
  }

  stop(): void {
    this.isStopped = true;
    this.timer?.cancel();
  }

  /**
   * Resolves when nothing is lost, or everything was put again, as of now. Throws `service_unavailable` where that takes
   * too long: the posted totals alone would hide what this process knows.
   */
  async settled(): Promise<void> {
    const { clock, random } = this.deps;
    const over = new AbortController();
    const late = clock.sleep(PATIENCE_MS, over.signal).then(
      () => Promise.reject(new Error('units are still being put again')),
      () => undefined,
    );
    try {
      await Promise.race([this.lookAnew(), late]);
      const others = this.lostAt + OTHERS_MS - clock.monotonic();
      if (others > 0) await clock.sleep(others);
    } catch (cause) {
      throw unavailable(random, cause);
    } finally {
      over.abort();
    }
  }

  /** A look that began before now may have seen the store before its loss. */
  private lookAnew(): Promise<void> {
    if (this.running === null) return this.look();
    const again = (): Promise<void> => {
      this.next = null;
      return this.look();
    };
    this.next ??= this.running.then(again, again);
    return this.next;
  }

  private look(): Promise<void> {
    this.running ??= this.compare().finally(() => (this.running = null));
    return this.running;
  }

  private async compare(): Promise<void> {
    const { limits, resubmit, onLoss } = this.deps;
    const found = new Map<string, string>();
    for (const accountId of limits.watched()) {
      this.looks += 1;
      const answer = await limits.admit(watching(accountId, this.looks));
      // An answer of our own says nothing about the store: it is unavailable, and was not asked.
      if (answer.kind === 'stale' && answer.withoutStore === undefined) found.set(accountId, answer.gen);
    }
    const lost = [...found].filter(([accountId, gen]) => this.gens.get(accountId) !== gen);
    if (lost.length === 0) return;
    if (this.gens.size > 0) this.noteLoss(lost, onLoss);
    await resubmit();
    for (const [accountId, gen] of lost) this.gens.set(accountId, gen);
  }

  /** One loss may be looked at many times before everything is put again. */
  private noteLoss(lost: [string, string][], onLoss: () => void): void {
    const name = lost.join(' ');
    if (name === this.lastLoss) return;
    this.lastLoss = name;
    this.lostAt = this.deps.clock.monotonic();
    onLoss();
  }
}

/** Returns a request of no version: it is always stale, and nothing is ever counted. */
function watching(accountId: string, look: number): AdmitRequest {
  return {
    accountId,
    accountVersion: -2,
    unitId: `watch_${look}/0`,
    scopes: [{ kind: 'key', id: 'watch', rpm: null, rpd: null, tpm: null, capNano: null }],
    extra: [],
    creditLimitNano: null,
    reservationNano: 0n,
    tokenEstimate: 0,
    leaseMs: 1,
  };
}
