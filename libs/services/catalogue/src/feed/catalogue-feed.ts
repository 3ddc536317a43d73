import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  Inject,
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import {
  ApiError,
  type CatalogueFeedState,
  type CatalogueSync,
  type Clock,
  type ErrorCode,
  type Random,
  type Timer,
} from '@gateway/contracts';
import { CLOCK, LOGGER, Metrics, RANDOM, unavailable, type SeriesOf, type Tally } from '@gateway/platform';
import type { Logger } from 'pino';
import { CatalogueConfig } from '../catalogue.config.js';
import { OwnEntries } from '../own/own-entries.js';
import { FeedRefused, openEnvelope, readFeedKeys, type FeedKeys } from '../signed/envelope.js';
import { FeedUnreadable, readFeed } from './feed-address.js';
import { readFeedDocument } from './feed-document.js';
import { FeedStore, type Actor } from './feed-store.js';

const FIRST_MS = 1_000;
const JITTER = 0.1;
/** The schedule, in the audit log. */
const SYSTEM: Actor = { principal: null, clientIp: '', id: '' };

const CODES: Readonly<Record<FeedRefused['reason'], ErrorCode>> = {
  envelope: 'unprocessable_entity',
  key: 'unprocessable_entity',
  signature: 'unprocessable_entity',
  payload: 'unprocessable_entity',
  time: 'unprocessable_entity',
  version: 'conflict',
  model: 'validation_error',
  guard: 'conflict',
};

/** Reads the signed catalogue on a schedule and by hand. A document that is refused leaves everything as it is. */
@Injectable()
export class CatalogueFeed implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly keys: FeedKeys;
  private readonly refusals: SeriesOf<Tally>;
  private timer: Timer | null = null;
  private reading: Promise<unknown> = Promise.resolve();
  private nextReadMs: number | null = null;
  private isStopped = false;
  /** The newest reading that this process knows of, for the metrics. */
  private seen = { version: 0, readMs: 0 };

  constructor(
    private readonly config: CatalogueConfig,
    private readonly store: FeedStore,
    private readonly own: OwnEntries,
    metrics: Metrics,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.keys = readFeedKeys(config.CATALOGUE_FEED_KEYS ?? '');
    const help = 'Documents of the feed that were refused, and readings that began to fail.';
    this.refusals = metrics.counter('gateway_catalogue_feed_refused_total', help, ['reason']);
    if (config.CATALOGUE_FEED_URL === undefined) return;
    metrics.gauge(
      'gateway_catalogue_feed_version',
      'Version of the newest document.',
      () => this.seen.version,
    );
    metrics.gauge('gateway_catalogue_feed_age_seconds', 'Time since the feed was readable.', () =>
      this.seen.readMs === 0 ? 0 : (this.clock.now() - this.seen.readMs) / 1_000,
    );
  }

  onApplicationBootstrap(): void {
    if (this.config.CATALOGUE_FEED_URL === undefined || this.config.CATALOGUE_FEED_SECONDS === 0) return;
    this.seen.readMs = this.clock.now();
    this.readLater(FIRST_MS);
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.isStopped = true;
    this.timer?.cancel();
    await this.reading;
  }

  /**
   * Reads the address now. Throws ApiError: `service_unavailable` where it could not be read in time, `conflict` without a
   * feed, and for a document that is refused the code of its reason.
   */
  async sync(
    { dry_run, force }: { dry_run?: boolean | null; force?: boolean | null },
    actor: Actor,
  ): Promise<CatalogueSync> {
    const url = this.config.CATALOGUE_FEED_URL;
    if (url === undefined)
      throw new ApiError('conflict', { message: 'There is no feed: CATALOGUE_FEED_URL is not set.' });
    const dryRun = dry_run === true;
    let digest: string | null = null;
    try {
      const bytes = await readFeed({ url, ca: this.certificates(), proxy: this.proxyTo(url) });
      digest = createHash('sha256').update(bytes).digest('hex');
      const { payload, keyid } = openEnvelope(bytes, this.keys);
      const document = readFeedDocument(payload, this.clock.now());
      const { CATALOGUE_FEED_POLICY: policy, CATALOGUE_FEED_APPLY_BELOW_PCT: belowPct } = this.config;
      const taking = { policy, belowPct, keyid, force: force === true, dryRun };
      const answer = await this.store.take(document, taking, actor);
      this.seen = { version: document.version, readMs: this.clock.now() };
      if (!dryRun) await this.store.note({ last_error: null, refused_digest: null });
      return answer;
    } catch (failure) {
      if (!(failure instanceof FeedRefused) && !(failure instanceof FeedUnreadable)) throw failure;
      if (!dryRun) await this.noteFailure(failure, digest);
      throw this.errorOf(failure);
    }
  }

  /** Says what is read, what of it is served and how the last reading ended. */
  async state(): Promise<CatalogueFeedState> {
    const { row, changes } = await this.store.pending();
    const { config } = this;
    const release = this.own.releaseVersion();
    const isNewer = row?.version != null && Number(row.version) >= release;
    const iso = (date: Date | null | undefined): string | null => date?.toISOString() ?? null;
    return {
      url: config.CATALOGUE_FEED_URL?.replace(/^(https?:\/\/)[^/@]*@/, '$1') ?? null,
      policy: config.CATALOGUE_FEED_POLICY,
      apply_below_pct: config.CATALOGUE_FEED_APPLY_BELOW_PCT,
      every_seconds: config.CATALOGUE_FEED_SECONDS,
      version: isNewer ? Number(row.version) : release,
      keyid: isNewer ? row.keyid : null,
      created_at: isNewer ? iso(row.document_at) : null,
      read_at: iso(row?.read_at),
      applied_at: iso(row?.applied_at),
      next_read_at: this.nextReadMs === null ? null : new Date(this.nextReadMs).toISOString(),
      last_error: lastErrorOf(row?.last_error),
      pending: changes.length,
    };
  }

  private readLater(delayMs: number): void {
    if (this.isStopped) return;
    this.nextReadMs = this.clock.now() + delayMs;
    this.timer = this.clock.setTimer(delayMs, () => {
      this.reading = this.readByTurn().finally(() => {
        const everyMs = this.config.CATALOGUE_FEED_SECONDS * 1_000;
        this.readLater(everyMs * (1 - JITTER + 2 * JITTER * this.random.fraction()));
      });
    });
  }

  /** Reads unless another process has read within half the interval; takes what that one has found. */
  private async readByTurn(): Promise<void> {
    try {
      // A process that has begun just now would say that the feed was read just now.
      await this.follow();
      const halfMs = this.config.CATALOGUE_FEED_SECONDS * 500;
      if (await this.store.claim(this.clock.now() - halfMs)) await this.sync({}, SYSTEM);
    } catch (failure) {
      // What was refused stands in a log line of its own.
      if (!(failure instanceof ApiError)) this.logger.warn({ err: failure }, 'the feed could not be taken');
    }
  }

  private async follow(): Promise<void> {
    const row = await this.store.row();
    const { version, read_at } = row ?? {};
    if (version != null && read_at != null)
      this.seen = { version: Number(version), readMs: read_at.getTime() };
  }

  /** Tells a failure once: a document that is refused again, or an address that is still away, is no news. */
  private async noteFailure(failure: FeedRefused | FeedUnreadable, digest: string | null): Promise<void> {
    const row = await this.store.row();
    const { code, message } = this.errorOf(failure);
    const isTold =
      failure instanceof FeedRefused && digest !== null
        ? row?.refused_digest === digest
        : lastErrorOf(row?.last_error)?.message === message;
    const last_error = { code, message, at: new Date(this.clock.now()).toISOString() };
    await this.store.note({ last_error, refused_digest: digest ?? row?.refused_digest ?? null });
    if (isTold) return;
    const reason = failure instanceof FeedRefused ? failure.reason : 'unreadable';
    this.refusals(reason).inc();
    this.logger.warn({ reason, err: failure }, 'a document of the catalogue feed was refused');
  }

  private errorOf(failure: FeedRefused | FeedUnreadable): ApiError {
    const { message } = failure;
    if (failure instanceof FeedUnreadable)
      return unavailable(this.random, failure, { code: 'service_unavailable', message });
    const hint = failure.reason === 'guard' ? ' Send force: true to take it all the same.' : '';
    return new ApiError(CODES[failure.reason], { message: message + hint });
  }

  private certificates(): string | null {
    const path = this.config.CATALOGUE_FEED_CA_FILE;
    return path === undefined ? null : readFileSync(path, 'utf8');
  }

  private proxyTo(url: string): { url: string; except: string } | null {
    const { HTTPS_PROXY: proxy, NO_PROXY: except } = this.config;
    return proxy === undefined || !url.startsWith('https:') ? null : { url: proxy, except };
  }
}

function lastErrorOf(value: unknown): CatalogueFeedState['last_error'] {
  return (value as CatalogueFeedState['last_error'] | undefined) ?? null;
}
