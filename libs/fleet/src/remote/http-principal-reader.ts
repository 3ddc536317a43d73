import { createHash } from 'node:crypto';
import {
  ApiError,
  PrincipalReader,
  RESOLVED_KEYS_MAX,
  type Caller,
  type Clock,
  type Credential,
  type KeyPrincipal,
  type LimitStore,
  type Principal,
  type Random,
  type ResolvedKeys,
} from '@gateway/contracts';
import { unavailable, type InternalHttp, type InternalResponse } from '@gateway/platform';
import { BoundedCache } from './bounded-cache.js';
import { LookupLoader, SHED } from './lookup-loader.js';
import { parsePrincipal } from './parse-principal.js';
import type { PrincipalLoad, PrincipalLookup } from './reader-metrics.js';
import { SharedBudgets } from './shared-budgets.js';

interface Entry {
  principal: Principal;
  etag: string | undefined;
  /** Monotonic times at which the keys service last sent this record or confirmed it, and somebody confirmed it. */
  loadedAt: number;
  confirmedAt: number;
  /** Share of its time that the record lives: keys that came at once are not all due at once. */
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
  /** Called with every principal from memory and of every answer of the keys service. */
  onOutcome?: (outcome: PrincipalLookup | PrincipalLoad) => void;
  /** Called with the digest of each key that the keys service knew for a caller. */
  onKey?: (digest: string) => void;
}

/** 1.7 KB each, 4.5 KB with its admission prepared: an edge that serves so many keys in turn must not look each up again. */
const ENTRIES_MAX = 120_000;
const UNKNOWN_MAX = 50_000;
const NEGATIVE_MS = 5_000;
const REVALIDATE_AFTER_MS = 60_000;
/** Part of a record's time by which it may be due sooner, drawn for each. */
const REVALIDATE_SPREAD = 0.5;
/** An admin key's record does not carry its expiry, so it is asked for again at every use past this. */
const ADMIN_KEY_FRESH_MS = 1_000;
const SERVE_UNCONFIRMED_MS = 15 * 60_000;
/** Revalidations under way: nobody waits for them, and thousands at once would keep the keys service from answering any. */
const REVALIDATIONS_MAX = 16;
/** Time after a failure in which nothing is revalidated. */
const HELD_BACK_MS = 1_000;
const TIMEOUT_MS = 250;
/** Time of a first look-up: there is no record to serve meanwhile, and waiting for a busy service is better. */
const NEW_TIMEOUT_MS = 500;

/** Batches at once of those that are fetched before they are asked for. */
const WARM_BATCHES = 4;
/** Time of such a batch, for which no caller waits. */
const WARM_TIMEOUT_MS = 2_000;

type KeyAnswer = ResolvedKeys['keys'][number];
/** Time of a read of a key, which no inference waits for. */
const READ_TIMEOUT_MS = 2_000;

/** Principals of the keys service, cached by the SHA-256 of the credential. */
export class HttpPrincipalReader extends PrincipalReader {
  private readonly entries = new BoundedCache<Entry>(ENTRIES_MAX);
  /** Instant at which each unknown credential was refused. */
  private readonly unknown = new BoundedCache<number>(UNKNOWN_MAX);
  private readonly budgets = new SharedBudgets();
  private readonly flights = new Map<string, Flight>();
  private readonly newKeys: LookupLoader<string, KeyAnswer>;
  private readonly newOthers: LookupLoader<Credential, InternalResponse>;
  private revalidations = 0;
  private heldBackUntil = 0;

  constructor(private readonly deps: HttpPrincipalReaderDeps) {
    super();
    const { clock } = deps;
    this.newKeys = new LookupLoader({
      ...{ clock, batchMax: RESOLVED_KEYS_MAX },
      send: (digests) => this.askForKeys(digests),
    });
    this.newOthers = new LookupLoader({
      ...{ clock, batchMax: 1 },
      send: async ([credential]) => [await this.ask(credential, NEW_TIMEOUT_MS)],
    });
  }

  remembered(credential: Credential): Principal | null {
    const entry = credential.kind === 'key' ? this.entries.get(cacheKeyOf(credential)) : undefined;
    if (entry === undefined || !this.isFresh(entry, this.deps.clock.monotonic())) return null;
    this.deps.onOutcome?.('hit');
    return entry.principal;
  }

  async resolve(credential: Credential, caller?: Caller): Promise<Principal> {
    const cacheKey = cacheKeyOf(credential);
    const now = this.deps.clock.monotonic();
    const entry = this.entries.get(cacheKey);
    if (entry === undefined) return this.resolveNew(credential, cacheKey, now, caller?.clientIp ?? '');
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

  /** Reads past the cache. A lookup that was under way before does not count: it may have read before the change. */
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
   * Fetches keys before they are asked for, until a monotonic time. Returns the number of those that are kept. A failure
   * ends it with an error: the others are looked up at their first use.
   */
  async warm(digests: readonly string[], untilMs: number): Promise<number> {
    let kept = 0;
    let at = 0;
    const lane = async (): Promise<void> => {
      while (at < digests.length && this.deps.clock.monotonic() < untilMs) {
        const batch = digests.slice(at, (at += RESOLVED_KEYS_MAX));
        const answers = await this.askForKeys(batch, true);
        for (const [n, answer] of answers.entries()) kept += this.keep(batch[n], answer);
      }
    };
    const lanes = Array.from({ length: WARM_BATCHES }, () =>
      lane().catch((failure: unknown) => {
        at = digests.length;
        throw failure;
      }),
    );
    for (const lane of await Promise.allSettled(lanes)) if (lane.status === 'rejected') throw lane.reason;
    return kept;
  }

  async keyById(keyId: string, accountIds: readonly string[]): Promise<KeyPrincipal> {
    try {
      const answer = await this.deps.http.request({
        service: 'keys',
        method: 'POST',
        path: '/internal/principals/by-id',
        body: { key_id: keyId, account_ids: accountIds },
        timeoutMs: READ_TIMEOUT_MS,
        idempotent: true,
      });
      if (answer.status === 404 && isNotFound(answer.body)) throw new ApiError('not_found');
      if (answer.status !== 200) throw new Error(`keys answered ${answer.status}`);
      const principal = parsePrincipal(answer.body, 'key');
      if (principal.kind === 'key') return principal;
      throw new Error('keys answered another kind of principal');
    } catch (failure) {
      throw failure instanceof ApiError ? failure : unavailable(this.deps.random, failure);
    }
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

  private async resolveNew(
    credential: Credential,
    cacheKey: string,
    now: number,
    address: string,
  ): Promise<Principal> {
    const refusedAt = this.unknown.get(cacheKey);
    if (refusedAt !== undefined && now - refusedAt < NEGATIVE_MS) {
      this.deps.onOutcome?.('negative');
      throw new ApiError('unauthorized');
    }
    return this.single(cacheKey, () => this.first(credential, cacheKey, address));
  }

  /** The first look-up of a credential, in the loader of those that may be unknown. */
  private async first(credential: Credential, cacheKey: string, address: string): Promise<Principal> {
    try {
      if (credential.kind !== 'key')
        return this.accept(credential, cacheKey, await this.newOthers.ask(credential, address));
      const answer = await this.newKeys.ask(credential.digest, address);
      return this.accept(credential, cacheKey, {
        status: answer === null ? 401 : 200,
        headers: { etag: answer?.etag },
        body: answer?.principal,
      });
    } catch (failure) {
      if (failure !== SHED) throw this.failed(failure);
      // A flood says nothing about the keys service: known keys go on being confirmed.
      this.deps.onOutcome?.('shed');
      throw unavailable(this.deps.random, failure);
    }
  }

  /** Keeps a key that nobody has asked for yet; 1 where it was kept. */
  private keep(digest: string, answer: KeyAnswer): number {
    const cacheKey = cacheKeyOf({ kind: 'key', digest });
    if (answer === null || this.entries.get(cacheKey) !== undefined) return 0;
    const principal = this.budgets.within(parsePrincipal(answer.principal, 'key'));
    this.entries.set(cacheKey, {
      ...{ principal, etag: answer.etag },
      ...this.confirmed(this.deps.clock.monotonic()),
    });
    this.deps.onOutcome?.('fetched');
    return 1;
  }

  private async askForKeys(digests: string[], isAhead = false): Promise<readonly KeyAnswer[]> {
    const { status, body } = await this.deps.http.request({
      ...{ service: 'keys', method: 'POST', path: '/internal/principals/keys' },
      body: isAhead ? { digests, is_ahead: true } : { digests },
      ...{ timeoutMs: isAhead ? WARM_TIMEOUT_MS : NEW_TIMEOUT_MS, idempotent: true },
    });
    const keys = status === 200 ? (body as Partial<ResolvedKeys> | undefined)?.keys : undefined;
    if (!Array.isArray(keys) || keys.length !== digests.length) throw new Error(`keys answered ${status}`);
    return keys;
  }

  /**
   * Revalidates in the background; a failure is remembered in the entry. False where that has to wait for another use.
   */
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
    return this.single(cacheKey, () => this.fetch(credential, cacheKey, tries));
  }

  private single(cacheKey: string, look: () => Promise<Principal>): Promise<Principal> {
    const flight = this.flights.get(cacheKey);
    if (flight !== undefined) return flight.running;
    const running = look().finally(() => this.flights.delete(cacheKey));
    this.flights.set(cacheKey, { running, next: null });
    return running;
  }

  private async fetch(credential: Credential, cacheKey: string, tries: 'once' | 'twice'): Promise<Principal> {
    const known = this.entries.get(cacheKey);
    try {
      const isRepeated = tries === 'twice';
      return this.accept(
        credential,
        cacheKey,
        await this.ask(credential, TIMEOUT_MS, isRepeated, known?.etag),
      );
    } catch (failure) {
      if (known !== undefined) known.hasFailed = true;
      throw this.failed(failure);
    }
  }

  private ask(
    credential: Credential,
    timeoutMs: number,
    isRepeated = true,
    etag?: string,
  ): Promise<InternalResponse> {
    return this.deps.http.request({
      ...{ service: 'keys', method: 'POST', path: '/internal/principals/resolve', body: credential },
      ...{ timeoutMs, idempotent: isRepeated },
      headers: etag === undefined ? {} : { 'if-none-match': etag },
    });
  }

  /** Remembers what the keys service answered. */
  private accept(credential: Credential, cacheKey: string, answer: InternalResponse): Principal {
    const known = this.entries.get(cacheKey);
    const now = this.deps.clock.monotonic();
    if (answer.status === 401) {
      this.entries.delete(cacheKey);
      this.unknown.set(cacheKey, now);
      this.deps.onOutcome?.('unknown');
      throw new ApiError('unauthorized');
    }
    if (credential.kind === 'key' && answer.status < 400) this.deps.onKey?.(credential.digest);
    if (answer.status === 304 && known !== undefined) {
      this.entries.set(cacheKey, { ...known, ...this.confirmed(now) });
      this.deps.onOutcome?.('unchanged');
      return known.principal;
    }
    // Any other error is about our own call: the caller never gets 403 or 404 for it.
    if (answer.status !== 200)
      throw unavailable(this.deps.random, new Error(`keys answered ${answer.status}`));
    const principal = this.budgets.within(parsePrincipal(answer.body, credential.kind));
    this.unknown.delete(cacheKey);
    this.entries.set(cacheKey, { principal, etag: answer.headers.etag, ...this.confirmed(now) });
    this.deps.onOutcome?.('loaded');
    return principal;
  }

  private failed(failure: unknown): ApiError {
    if (failure instanceof ApiError && failure.code === 'unauthorized') return failure;
    this.deps.onOutcome?.('failed');
    this.heldBackUntil = this.deps.clock.monotonic() + HELD_BACK_MS;
    return failure instanceof ApiError ? failure : unavailable(this.deps.random, failure);
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

/** A 404 of something before the keys service says nothing about the key. */
function isNotFound(body: unknown): boolean {
  const { error } = { ...(body as { error?: { code?: unknown } } | null) };
  return error?.code === 'not_found';
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
