import { LimitStore } from '@gateway/contracts';
import type {
  AccountState,
  AdmitRequest,
  AdmitResult,
  Clock,
  MirrorRequest,
  PutUnit,
  ScopeKind,
} from '@gateway/contracts';
import { LOCAL_GEN, LocalShare } from './local-share.js';

export interface LocalShareOptions {
  /** The store that all edges share. */
  store: LimitStore;
  /** Whether the store need not be asked about this account now: its breaker is open, or it is not connected. */
  isAway: (accountId: string) => boolean;
  clock: Clock;
  /** Edge processes of the fleet. */
  edges: number;
}

/** Units between a local `stale` and their next call; the oldest is forgotten, which costs it one more trip. */
const BEGUN_MAX = 10_000;
/** Trips more for a unit that this process cannot decide, while the store only is late. */
const TRIES_MORE = 3;

type Away = NonNullable<AdmitResult['away']>;

/**
 * The shared store, and this edge's own share where it is away (money-and-limits 3). The protocol is the store's: a
 * principal that was not confirmed within a second is `stale`, a reload and a stamp make it current.
 */
export class LocalShareLimitStore extends LimitStore {
  private readonly share: LocalShare;
  private readonly begun = new Map<string, Away>();

  constructor(private readonly options: LocalShareOptions) {
    super();
    this.share = new LocalShare(options.clock, options.edges);
  }

  /** Never throws because the store is away: `away` is the answer where the share cannot decide either. */
  admit(request: AdmitRequest): Promise<AdmitResult> {
    const { store, isAway } = this.options;
    const begun = this.begun.get(request.unit);
    if (begun !== undefined) return this.alone(request, begun);
    if (isAway(request.accountId)) return this.alone(request, 'unasked');
    return store.admit(request).then(
      (result) => this.noted(request, result),
      () => this.alone(request, 'unsure'),
    );
  }

  async put(units: PutUnit[]): Promise<void> {
    for (const unit of units) this.share.put(unit);
    await this.options.store.put(units);
    for (const unit of units) this.share.acknowledge(unit);
  }

  mirror(request: MirrorRequest): Promise<void> {
    return this.options.store.mirror(request);
  }

  /** Known here whatever becomes of the trip: where the store was not told, the next admission says `stale` again. */
  async stamp(accountId: string, version: number, gen: string | null): Promise<void> {
    this.share.stamp(accountId, version);
    if (gen === LOCAL_GEN) return;
    await this.options.store.stamp(accountId, version, gen).catch(() => undefined);
  }

  /** Throws `service_unavailable` where neither the store nor the last second knows it. */
  async version(accountId: string): Promise<number | null> {
    const known = (): number | null => this.share.version(accountId);
    if (this.options.isAway(accountId) && known() !== null) return known();
    return this.options.store.version(accountId).catch((error: unknown) => {
      if (known() === null) throw error;
      return known();
    });
  }

  read(accountId: string, scopes: { kind: ScopeKind; id: string }[]): Promise<AccountState> {
    return this.options.store.read(accountId, scopes);
  }

  due(accountId: string, limit: number): Promise<string[]> {
    return this.options.store.due(accountId, limit);
  }

  override watched(): string[] {
    return this.options.store.watched();
  }

  close(): Promise<void> {
    return this.options.store.close();
  }

  private noted(request: AdmitRequest, result: AdmitResult): AdmitResult {
    this.share.note(request, result);
    return result;
  }

  /** A trip that is repeated counts once, so a unit that the share cannot decide may ask a store that is only late. */
  private async alone(request: AdmitRequest, began: Away): Promise<AdmitResult> {
    const { store, isAway } = this.options;
    let away = began;
    this.begun.delete(request.unit);
    for (let left = TRIES_MORE; ; left -= 1) {
      const result = this.share.admit(request);
      if (result?.outcome === 'stale') this.remember(request.unit, away);
      if (result !== null) return { ...result, away };
      if (left === 0 || isAway(request.accountId)) return { outcome: 'away', away };
      const late = await store.admit(request).catch(() => null);
      if (late !== null) return this.noted(request, late);
      away = 'unsure';
    }
  }

  private remember(unit: string, away: Away): void {
    this.begun.set(unit, away);
    if (this.begun.size <= BEGUN_MAX) return;
    for (const oldest of this.begun.keys()) {
      this.begun.delete(oldest);
      return;
    }
  }
}
