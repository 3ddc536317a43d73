import {
  CatalogueReader,
  NO_ALIASES,
  TOPIC,
  type AliasBook,
  type CatalogueSnapshot,
  type Clock,
  type Consumer,
  type EventLog,
  type Random,
  type Timer,
} from '@gateway/contracts';
import { unavailable } from '@gateway/platform';
import type { InternalHttp } from '@gateway/platform';
import { BoundedCache } from './bounded-cache.js';
import {
  HttpSnapshots,
  parseAliases,
  parseSnapshot,
  SNAPSHOT_MAX_BYTES,
  SNAPSHOT_TIMEOUT_MS,
} from './http-snapshots.js';
import type { CatalogueLoad } from './reader-metrics.js';

export interface HttpCatalogueReaderDeps {
  http: InternalHttp;
  eventLog: EventLog;
  clock: Clock;
  random: Random;
  /** Called with every load that failed; the newest snapshot goes on serving. */
  onFailure: (failure: unknown) => void;
  /** Called for every question for the newest snapshot. */
  onLoad?: (outcome: CatalogueLoad) => void;
}

/** A bound on how long an event that never came can keep an old snapshot. */
const POLL_MS = 30_000;
const POLL_UNTIL_LOADED_MS = 500;
const OLD_SNAPSHOTS = 8;

/** The catalogue service's snapshot in memory: loaded at start, again after each event and every half minute. */
export class HttpCatalogueReader extends CatalogueReader {
  private current: CatalogueSnapshot | null = null;
  private book: AliasBook | null = null;
  /** ETags of the last answers, by path. */
  private readonly etags = new Map<string, string>();
  private readonly older = new BoundedCache<CatalogueSnapshot>(OLD_SNAPSHOTS);
  private readonly listeners = new Set<(snapshot: CatalogueSnapshot) => void>();
  private consumer: Consumer | null = null;
  private timer: Timer | null = null;
  private loading: Promise<void> | null = null;
  private isStopped = false;

  private readonly snapshots: HttpSnapshots;

  constructor(private readonly deps: HttpCatalogueReaderDeps) {
    super();
    this.snapshots = new HttpSnapshots(deps);
  }

  /** Begins to follow the catalogue. Does not fail where the service is not up yet: it goes on asking. */
  async start(): Promise<void> {
    await this.refresh();
    this.schedule();
    const suffix = Buffer.from(this.deps.random.bytes(8)).toString('hex');
    this.consumer = await this.deps.eventLog.consume({
      topics: [TOPIC.catalogue],
      // A group of its own: every process has to see every event.
      group: `catalogue-reader-${suffix}`,
      maxBatch: 100,
      lingerMs: 0,
      handler: () => this.refreshAnew(),
    });
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    this.timer?.cancel();
    await this.consumer?.stop();
  }

  get isLoaded(): boolean {
    return this.current !== null && this.book !== null;
  }

  /** true, or what is missing: before the first snapshot every inference would be a 503. */
  readiness(): true | string {
    return this.isLoaded ? true : 'No catalogue snapshot was loaded yet.';
  }

  override snapshot(): CatalogueSnapshot {
    if (this.current === null) throw unavailable(this.deps.random, new Error('No catalogue was loaded yet.'));
    return this.current;
  }

  override aliases(): AliasBook {
    return this.book ?? NO_ALIASES;
  }

  override async snapshotById(id: string): Promise<CatalogueSnapshot | null> {
    if (this.current?.id === id) return this.current;
    const known = this.older.get(id);
    if (known !== undefined) return known;
    const snapshot = await this.snapshots.snapshotById(id);
    if (snapshot !== null) this.older.set(id, snapshot);
    return snapshot;
  }

  override onChange(listener: (snapshot: CatalogueSnapshot) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Refreshes and never rejects: the snapshot in memory goes on serving, and the timer asks again. */
  private refresh(): Promise<void> {
    this.loading ??= this.load()
      .then(
        (outcome) => this.deps.onLoad?.(outcome),
        (failure: unknown) => {
          this.deps.onLoad?.('failed');
          this.deps.onFailure(failure);
        },
      )
      .finally(() => {
        this.loading = null;
      });
    return this.loading;
  }

  /** The same after what is being loaded: that may have been read before the change that an event tells of. */
  private async refreshAnew(): Promise<void> {
    await this.loading;
    await this.refresh();
  }

  private async load(): Promise<CatalogueLoad> {
    const isSnapshotNew = await this.loadSnapshot();
    const areAliasesNew = await this.loadAliases();
    return areAliasesNew || isSnapshotNew ? 'changed' : 'unchanged';
  }

  private async loadSnapshot(): Promise<boolean> {
    const answer = await this.ask('/internal/catalogue/snapshot');
    if (answer === null) return false;
    const snapshot = parseSnapshot(answer.status, answer.body, this.deps.random);
    if (answer.etag !== undefined) this.etags.set('/internal/catalogue/snapshot', answer.etag);
    if (snapshot.id === this.current?.id) return false;
    if (this.current !== null) this.older.set(this.current.id, this.current);
    this.current = snapshot;
    for (const listener of this.listeners) listener(snapshot);
    return true;
  }

  private async loadAliases(): Promise<boolean> {
    const answer = await this.ask('/internal/catalogue/aliases');
    if (answer === null) return false;
    // A catalogue service of an earlier release has none.
    if (answer.status === 404) {
      this.book ??= NO_ALIASES;
      return false;
    }
    const book = parseAliases(answer.status, answer.body, this.deps.random);
    // A replica that is behind has an older one.
    if (this.book !== null && BigInt(book.version) < BigInt(this.book.version)) return false;
    if (answer.etag !== undefined) this.etags.set('/internal/catalogue/aliases', answer.etag);
    const isNew = book.version !== this.book?.version;
    this.book = book;
    return isNew;
  }

  /** Returns the answer; null where it is the one of before. */
  private async ask(path: string): Promise<{ status: number; body: unknown; etag?: string } | null> {
    const etag = this.etags.get(path);
    const { status, headers, body } = await this.deps.http.request({
      service: 'catalogue',
      method: 'GET',
      path,
      timeoutMs: SNAPSHOT_TIMEOUT_MS,
      idempotent: true,
      headers: etag === undefined ? {} : { 'if-none-match': etag },
      maxBytes: SNAPSHOT_MAX_BYTES,
    });
    return status === 304 ? null : { status, body, etag: headers.etag };
  }

  private schedule(): void {
    if (this.isStopped) return;
    this.timer = this.deps.clock.setTimer(this.isLoaded ? POLL_MS : POLL_UNTIL_LOADED_MS, () => {
      void this.refresh().then(() => this.schedule());
    });
  }
}
