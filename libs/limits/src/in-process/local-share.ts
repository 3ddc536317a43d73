import type { AdmitRequest, AdmitResult, Clock, PutUnit } from '@gateway/contracts';
import {
  ACCOUNT_RECORD,
  keyMinute,
  recordName,
  toLimitRejection,
  type AdmissionEntry,
  type ReachedLimit,
} from '../admission.js';
import { minuteOf, minuteResetSeconds } from '../windows.js';
import { LimitCounters, countersRequest } from './limit-counters.js';
import { newReported, noteCounts, noteRejection, reportedCounts, type Reported } from './reported.js';

/** The gen of a `stale` that this process answers by itself. */
export const LOCAL_GEN = 'local';
/** A principal older than this is asked for again before use. */
const CONFIRMED_MS = 1_000;
/** Most that one edge may spend of what was last known to be left: 5 USD, or a hundredth of it. */
const EXPOSURE_MAX_NANO = 5_000_000_000;
const EXPOSURE_PARTS = 100;
const ACCOUNTS_MAX = 50_000;
/** Value in place of a share that cannot be known. */
const UNDECIDED = -Infinity;
/** Notes of one account that are not read yet. */
const NOTES_MAX = 64;

type Admitted = Extract<AdmitResult, { kind: 'ok' }>;
type Left = readonly (number | null)[];
type Metric = 'rpm' | 'rpd' | 'tpm';

type Entries = readonly AdmissionEntry[];

/** The newest admission of one principal by the store: kept as it is, and mostly read when the store is away. */
interface Noted {
  account: ShareAccount;
  entries: Entries;
  result: Admitted | null;
  left: Left;
  at: number;
}

interface ShareAccount {
  version: number;
  /** Monotonic time at which the version was last confirmed. */
  confirmedAt: number;
  limits: LimitCounters;
  /** Reports by record. */
  reported: Map<string, Reported>;
  /** Notes whose result is not in `reported` yet. */
  notes: Noted[];
  size: number;
}

/**
 * Admissions of one edge while the limit store is unreachable. Each account has counters of its own
 * here, with a share of each rate limit in place of the limit. In place of caps and the balance it has so little of the
 * last known rest that all edges together stay within it. Everything is bounded; it decides nothing that it does not
 * know.
 */
export class LocalShare {
  private readonly accounts = new Map<string, ShareAccount>();
  private readonly notes = new WeakMap<Entries, Noted>();
  private size = 0;

  /** `edges`: edge processes of the fleet. `sizeMax`: records and units of all accounts. */
  constructor(
    private readonly clock: Clock,
    private readonly edges: number,
    private readonly sizeMax = 400_000,
  ) {}

  /**
   * Remembers an answer of the store; on the path of every admission. `entries`: of the request, one array for all requests
   * of a principal.
   */
  note(request: AdmitRequest, entries: Entries, result: AdmitResult, left: Left): void {
    if (result.kind !== 'ok' && result.kind !== 'refused') return;
    const noted = this.noteOf(request.accountId, entries);
    const { account } = noted;
    this.confirm(account, request.accountVersion);
    const now = this.clock.now();
    if (result.kind === 'ok') {
      if (noted.result === null) account.notes.push(noted);
      noted.result = result;
      noted.left = left;
      noted.at = now;
      if (account.notes.length > NOTES_MAX) this.readNotes(account);
      return;
    }
    this.readNotes(account);
    const { scope, scopeId, counter } = result.rejection;
    const name = counter === null ? `${scope}:${scopeId}` : `${scope}:${scopeId}/${counter}`;
    noteRejection(reportedOf(account, scope === 'account' ? ACCOUNT_RECORD : name), result.rejection, now);
    this.weigh(account);
  }

  /** The account's principals are of this version now. */
  stamp(accountId: string, version: number): void {
    this.confirm(this.accountOf(accountId), version);
  }

  /** The version confirmed within the last second; null where none was. */
  version(accountId: string): number | null {
    const account = this.accounts.get(accountId);
    if (account === undefined || this.clock.monotonic() - account.confirmedAt >= CONFIRMED_MS) return null;
    return account.version;
  }

  /** Monotonic time at which the account was last found to be of this version; -Infinity = never. */
  confirmedAt(accountId: string, version: number): number {
    const account = this.accounts.get(accountId);
    return account?.version === version ? account.confirmedAt : -Infinity;
  }

  /** Lets in, refuses or wants a newer principal; null where this process alone cannot say. */
  admit(request: AdmitRequest, entries: Entries): AdmitResult | null {
    if (this.version(request.accountId) !== request.accountVersion) return { kind: 'stale', gen: LOCAL_GEN };
    const { account } = this.noteOf(request.accountId, entries);
    this.readNotes(account);
    const now = this.clock.now();
    const asked = countersRequest(request);
    const shares = entries.map((entry) => this.shareOf(entry, account, asked.worst, now));
    if (asked.credit < Infinity)
      asked.credit = this.budget(account.reported.get(ACCOUNT_RECORD), asked.worst);
    const answer = account.limits.take(asked, shares, now);
    this.weigh(account);
    if (answer.kind === 'gone') return { kind: 'gone' };
    if (answer.kind === 'doubted') return null;
    if (answer.kind === 'refused')
      return this.refused(request, entries, shares, account, answer.reached, now);
    const counters = request.scopes.map(({ kind, id }) => ({
      kind,
      id,
      ...this.countsOf(account, `${kind}:${id}`, now),
    }));
    return { kind: 'ok', counters, minute: minuteOf(now), minuteResetSeconds: minuteResetSeconds(now) };
  }

  /** A put on its way: what a unit of this process really cost, or that it never ran. May come more than once. */
  put(put: PutUnit): void {
    const account = this.accounts.get(put.accountId);
    if (account?.limits.holds(put.unit) === true) account.limits.put(put, this.clock.now());
  }

  /** The store has the unit now: it is no longer this process's own spend. */
  acknowledge(put: PutUnit): void {
    const account = this.accounts.get(put.accountId);
    if (account?.limits.holds(put.unit) !== true) return;
    this.readNotes(account);
    const released = account.limits.release(put.unit);
    for (const name of released?.records ?? []) {
      const reported = account.reported.get(name);
      if (reported !== undefined && reported.left !== null) reported.left -= released?.nano ?? 0;
    }
    this.weigh(account);
  }

  /**
   * An entry with this edge's share of each limit: a part of it, or what was left of the running window where that is
   * less. Of a limit that is smaller than the number of edges a share is none.
   */
  private shareOf(entry: AdmissionEntry, account: ShareAccount, worst: number, now: number): AdmissionEntry {
    const reported = account.reported.get(entry.name);
    const own = account.limits.read(entry.name, now);
    const counts = reportedCounts(reported, now);
    const of = (metric: Metric): number => {
      const limit = entry[metric];
      if (limit === Infinity) return Infinity;
      const share = Math.floor(limit / this.edges);
      const isFull = counts[metric] + own[metric] >= limit;
      return share === 0 && !isFull ? UNDECIDED : Math.min(share, limit - counts[metric]);
    };
    const cap = entry.cap === Infinity ? Infinity : this.budget(reported, worst);
    return { ...entry, rpm: of('rpm'), rpd: of('rpd'), tpm: of('tpm'), cap };
  }

  /**
   * Returns the bound of this edge's own spend: its exposure, passed by one request at most. With the worst case of
   * this request it stays within the edge's part of what was left.
   */
  private budget(reported: Reported | undefined, worst: number): number {
    const left = reported?.left ?? 0;
    if (left <= 0) return -Infinity;
    return Math.min(EXPOSURE_MAX_NANO, left / EXPOSURE_PARTS, Math.floor(left / this.edges) - worst + 1);
  }

  /** A limit of money refuses nothing for good here, for the store may know better: null, and the caller may come again. */
  private refused(
    request: AdmitRequest,
    entries: Entries,
    shares: Entries,
    account: ShareAccount,
    reached: ReachedLimit,
    now: number,
  ): AdmitResult | null {
    const { metric, entry: share } = reached;
    if (share === null || metric === 'spend_cap' || metric === 'balance' || reached.limit === UNDECIDED)
      return null;
    const entry = entries[shares.indexOf(share)];
    const limit = entry[metric];
    const counts = reportedCounts(account.reported.get(entry.name), now);
    const isFull = counts[metric] + reached.current >= limit;
    const current = isFull ? limit : reached.current * this.edges;
    return {
      kind: 'refused',
      rejection: toLimitRejection({ ...reached, entry, current, limit }, request.accountId, null),
      ...keyMinute(request, (key) => this.countsOf(account, recordName(key), now).rpm, now),
    };
  }

  /** Counts of the whole fleet in the running windows, as far as this edge can know. */
  private countsOf(account: ShareAccount, name: string, now: number): Record<Metric, number> {
    const reported = reportedCounts(account.reported.get(name), now);
    const own = account.limits.read(name, now);
    const of = (metric: Metric): number => Math.max(own[metric] * this.edges, reported[metric] + own[metric]);
    return { rpm: of('rpm'), rpd: of('rpd'), tpm: of('tpm') };
  }

  private confirm(account: ShareAccount, version: number): void {
    account.version = version;
    account.confirmedAt = this.clock.monotonic();
  }

  private noteOf(accountId: string, entries: Entries): Noted {
    const known = this.notes.get(entries);
    // An account that the bound pushed out has a new note since.
    if (known !== undefined && this.accounts.get(accountId) === known.account) return known;
    const noted: Noted = { account: this.accountOf(accountId), entries, result: null, left: [], at: 0 };
    this.notes.set(entries, noted);
    return noted;
  }

  /** Principals share records: the newest report of each is what stays. */
  private readNotes(account: ShareAccount): void {
    if (account.notes.length === 0) return;
    for (const noted of account.notes) {
      const { result, entries, left, at } = noted;
      noted.result = null;
      let place = 0;
      for (let index = 0; index <= entries.length; index += 1) {
        const entry = index < entries.length ? entries[index] : null;
        const counted = entry?.counter === null ? result?.counters[place++] : undefined;
        const reported = reportedOf(account, entry?.name ?? ACCOUNT_RECORD);
        if (at < reported.at) continue;
        reported.at = at;
        reported.left = left[index] ?? reported.left;
        if (counted !== undefined && result !== null) noteCounts(reported, counted, result, at);
      }
    }
    account.notes = [];
    this.weigh(account);
  }

  private accountOf(accountId: string): ShareAccount {
    let account = this.accounts.get(accountId);
    if (account === undefined) {
      account = {
        version: -1,
        confirmedAt: -Infinity,
        limits: new LimitCounters(),
        reported: new Map(),
        notes: [],
        size: 0,
      };
      this.accounts.set(accountId, account);
      if (this.accounts.size > ACCOUNTS_MAX) this.dropOldest(account);
    }
    return account;
  }

  /**
   * Updates the weight of a changed account. Accounts that the bound pushes out are known again from the store's next
   * answer.
   */
  private weigh(account: ShareAccount): void {
    const size = account.limits.size + account.reported.size;
    this.size += size - account.size;
    account.size = size;
    while (this.size > this.sizeMax && this.dropOldest(account));
  }

  private dropOldest(except: ShareAccount): boolean {
    for (const [accountId, account] of this.accounts) {
      if (account === except) continue;
      this.accounts.delete(accountId);
      this.size -= account.size;
      return true;
    }
    return false;
  }
}

function reportedOf(account: ShareAccount, name: string): Reported {
  let reported = account.reported.get(name);
  if (reported === undefined) {
    reported = newReported();
    account.reported.set(name, reported);
  }
  return reported;
}
