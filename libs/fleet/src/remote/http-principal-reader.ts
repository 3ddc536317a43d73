import { createHash } from 'node:crypto';
import {
  ApiError,
  PrincipalReader,
  type Clock,
  type Credential,
  type LimitStore,
  type Principal,
  type Random,
} from '@gateway/contracts';
import { unavailable } from '@gateway/platform';
import type { InternalHttp } from '@gateway/platform';
import { BoundedCache } from './bounded-cache.js';
import type { PrincipalLoad, PrincipalLookup } from './reader-metrics.js';
import { parsePrincipal } from './parse-principal.js';

interface Entry {
  principal: Principal;
  etag: string | undefined;
  /** Monotonic times at which the keys service last sent this record or confirmed it, and somebody confirmed it. */
  loadedAt: number;
  confirmedAt: number;
  /** How much of its time it lives: keys that came at once are not all due at once. */
  part: number;
  /** Monotonic time from which its next use asks again. */
  dueAt: number;
  /** The last try had no answer. */
  hasFailed: boolean;
}

/** A lookup under way, and the one that begins when it ends: whoever asks now must not get an older record. */
interface Flight {
  running: Promise<Principal>;
  next: Promise<Principal> | null;
}

export interface HttpPrincipalReaderDeps {
  http: InternalHttp;
  limits: LimitStore;
  clock: Clock;
  random: Random;
  /** Told of every principal from memory and of every answer of the keys service. */
  onOutcome?: (outcome: PrincipalLookup | PrincipalLoad) => void;
}

/** 1.7 KB each, 4.5 KB with its admission prepared: an edge that serves so many keys in turn must not look each up again. */
const ENTRIES_MAX = 120_000;
const UNKNOWN_MAX = 50_000;
const NEGATIVE_MS = 5_000;
const REVALIDATE_AFTER_MS = 60_000;
/** By so much of a record's time sooner it is due, drawn for each. */
const REVALIDATE_SPREAD = 0.5;
/** An admin key's record does not carry its expiry, so it is asked for again at every use past this. */
const ADMIN_KEY_FRESH_MS = 1_000;
const SERVE_UNCONFIRMED_MS = 15 * 60_000;
/** Revalidations under way: nobody waits for them, and thousands at once would keep the keys service from answering any. */
const REVALIDATIONS_MAX = 16;
/** After one that failed, so long nothing is revalidated. */
const HELD_BACK_MS = 1_000;
const TIMEOUT_MS = 250;

/** Principals of the keys service, cached by the SHA-256 of the credential (reliability 3.2, 3.3). */
export class HttpPrincipalReader extends PrincipalReader {
  private readonly entries = new BoundedCache<Entry>(ENTRIES_MAX);
  /** When each unknown credential was refused. */
  private readonly unknown = new BoundedCache<number>(UNKNOWN_MAX);
  private readonly flights = new Map<string, Flight>();
  private revalidations = 0;
  private heldBackUntil = 0;

  constructor(private readonly deps: HttpPrincipalReaderDeps) {
    super();
  }

  async resolve(credential: Credential): Promise<Principal> {
    const cacheKey = cacheKeyOf(credential);
    const now = this.deps.clock.monotonic();
    const entry = this.entries.get(cacheKey);
    if (entry === undefined) return this.resolveUnknown(credential, cacheKey, now);
    if (this.isPastExpiry(credential)) throw new ApiError('unauthorized');
    if (
      credential.kind === 'admin_key' ? now - entry.loadedAt < ADMIN_KEY_FRESH_MS : this.isFresh(entry, now)
    ) {
      this.deps.onOutcome?.('hit');
      return entry.principal;
    }
    const age = now - entry.confirmedAt;
    if (now - entry.loadedAt >= SERVE_UNCONFIRMED_MS || credential.kind === 'admin_key')
      return this.load(credential, cacheKey);
    const isAsked = this.revalidate(credential, cacheKey, now);
    const isUnconfirmed = age >= REVALIDATE_AFTER_MS && (entry.hasFailed || !isAsked);
    if (isUnconfirmed) await this.requireUnchanged(entry);
    this.deps.onOutcome?.(isUnconfirmed ? 'unconfirmed' : 'hit');
    return entry.principal;
  }

  /** Past the cache. A lookup that was under way before does not count: it may have read before the change. */
  reload(credential: Credential): Promise<Principal> {
    const cacheKey = cacheKeyOf(credential);
    const flight = this.flights.get(cacheKey);
    if (flight === undefined) return this.load(credential, cacheKey);
    flight.next ??= flight.running.then(
      () => this.load(credential, cacheKey),
      () => this.load(credential, cacheKey),
    );
    return flight.next;
  }

  /**
   * An admission that found the account to be of the record's version has confirmed the record: nothing of it changes
   * without a new version. The keys service is asked all the same from time to time, as a bound on mistakes.
   */
  private isFresh(entry: Entry, now: number): boolean {
    if (now < entry.dueAt) return true;
    const { accountId, accountVersion } = entry.principal;
    const confirmedAt = this.deps.limits.confirmedAt(accountId, accountVersion);
    if (confirmedAt <= entry.confirmedAt) return false;
    entry.confirmedAt = confirmedAt;
    entry.dueAt = dueAt(entry);
    return now < entry.dueAt;
  }

  private async resolveUnknown(credential: Credential, cacheKey: string, now: number): Promise<Principal> {
    const refusedAt = this.unknown.get(cacheKey);
    if (refusedAt !== undefined && now - refusedAt < NEGATIVE_MS) {
      this.deps.onOutcome?.('negative');
      throw new ApiError('unauthorized');
    }
    return this.load(credential, cacheKey);
  }

  /** In the background; a failure is remembered in the entry. False where that has to wait for another use. */
  private revalidate(credential: Credential, cacheKey: string, now: number): boolean {
    if (this.flights.has(cacheKey)) return true;
    if (now < this.heldBackUntil || this.revalidations >= REVALIDATIONS_MAX) return false;
    this.revalidations += 1;
    this.load(credential, cacheKey, 'once')
      .catch(() => undefined)
      .finally(() => (this.revalidations -= 1));
    return true;
  }

  /** The keys service has not confirmed the record: it serves only while Redis says that the account has not changed. */
  private async requireUnchanged(entry: Entry): Promise<void> {
    let newest: number | null;
    try {
      newest = await this.deps.limits.version(entry.principal.accountId);
    } catch (cause) {
      throw unavailable(this.deps.random, cause);
    }
    if (newest === null || newest > entry.principal.accountVersion) throw unavailable(this.deps.random);
  }

  private load(
    credential: Credential,
    cacheKey: string,
    tries: 'once' | 'twice' = 'twice',
  ): Promise<Principal> {
    const flight = this.flights.get(cacheKey);
    if (flight !== undefined) return flight.running;
    const running = this.fetch(credential, cacheKey, tries).finally(() => this.flights.delete(cacheKey));
    this.flights.set(cacheKey, { running, next: null });
    return running;
  }

  private async fetch(credential: Credential, cacheKey: string, tries: 'once' | 'twice'): Promise<Principal> {
    const known = this.entries.get(cacheKey);
    try {
      const answer = await this.deps.http.request({
        service: 'keys',
        method: 'POST',
        path: '/internal/principals/resolve',
        body: credential,
        timeoutMs: TIMEOUT_MS,
        idempotent: tries === 'twice',
        headers: known?.etag === undefined ? {} : { 'if-none-match': known.etag },
      });
      const now = this.deps.clock.monotonic();
      if (answer.status === 401) {
        this.entries.delete(cacheKey);
        this.unknown.set(cacheKey, now);
        this.deps.onOutcome?.('unknown');
        throw new ApiError('unauthorized');
      }
      if (answer.status === 304 && known !== undefined) {
        this.entries.set(cacheKey, { ...known, ...this.confirmed(now) });
        this.deps.onOutcome?.('unchanged');
        return known.principal;
      }
      // Any other refusal is about our own call: the caller is never told 403 or 404 for it.
      if (answer.status !== 200)
        throw unavailable(this.deps.random, new Error(`keys answered ${answer.status}`));
      const principal = parsePrincipal(answer.body, credential.kind);
      this.unknown.delete(cacheKey);
      this.entries.set(cacheKey, { principal, etag: answer.headers.etag, ...this.confirmed(now) });
      this.deps.onOutcome?.('loaded');
      return principal;
    } catch (failure) {
      if (failure instanceof ApiError && failure.code === 'unauthorized') throw failure;
      this.deps.onOutcome?.('failed');
      if (known !== undefined) known.hasFailed = true;
      this.heldBackUntil = this.deps.clock.monotonic() + HELD_BACK_MS;
      throw failure instanceof ApiError ? failure : unavailable(this.deps.random, failure);
    }
  }

  private confirmed(now: number): Omit<Entry, 'principal' | 'etag'> {
    const part = 1 - REVALIDATE_SPREAD * this.deps.random.fraction();
    const times = { loadedAt: now, confirmedAt: now, part };
    return { ...times, dueAt: dueAt(times), hasFailed: false };
  }

  /** A session ends with its token, which the cached record does not know. */
  private isPastExpiry(credential: Credential): boolean {
    if (credential.kind !== 'session') return false;
    const expiresAt = expiryOf(credential.token);
    return expiresAt !== null && expiresAt <= this.deps.clock.now();
  }
}

function dueAt({ loadedAt, confirmedAt, part }: Pick<Entry, 'loadedAt' | 'confirmedAt' | 'part'>): number {
  return Math.min(confirmedAt + REVALIDATE_AFTER_MS * part, loadedAt + SERVE_UNCONFIRMED_MS * part);
}

function cacheKeyOf(credential: Credential): string {
  if (credential.kind !== 'session') return `${credential.kind} ${credential.digest}`;
  return `session ${createHash('sha256').update(credential.token).digest('hex')}`;
}

/** Milliseconds since the epoch. Only read of tokens that the keys service has verified. */
function expiryOf(token: string): number | null {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'));
    if (typeof claims !== 'object' || claims === null || !('exp' in claims)) return null;
    return typeof claims.exp === 'number' ? claims.exp * 1000 : null;
  } catch {
    return null;
  }
}
