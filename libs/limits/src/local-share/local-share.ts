import type { AdmitRequest, AdmitResult, Clock, LimitScope, PutUnit } from '@gateway/contracts';
import { ACCOUNT_RECORD, admissionEntries, toRefusal } from '../admission.js';
import type { AdmissionEntry } from '../admission.js';
import { toScriptLimit, toScriptNano } from '../script-nano.js';
import { dayOf, minuteOf, minuteResetSeconds } from '../windows.js';
import { newShareRecord, ShareAccounts } from './share-accounts.js';
import type { ShareAccount, ShareRecord } from './share-accounts.js';
import {
  countViolation,
  countsOf,
  maySpend,
  noteAdmitted,
  noteRefused,
  rollWindows,
} from './share-record.js';

/** The gen of a `stale` that this process says by itself. */
export const LOCAL_GEN = 'local';
/** A principal older than this is asked for again before use (reliability 3.3). */
const CONFIRMED_MS = 1_000;
const UNITS_MAX = 100_000;

/** A unit that this process let in by itself and that the store has not been told of yet. */
interface LocalUnit {
  records: ShareRecord[];
  nano: number;
  minute: number;
  day: number;
  tokens: number;
  isSettled: boolean;
}

interface Compiled {
  account: ShareAccount;
  entries: AdmissionEntry[];
  /** One per entry, then the balance's. */
  records: ShareRecord[];
}

/**
 * What one edge lets in while the limit store is away (money-and-limits 3): a share of each rate limit, and of the
 * money that was last known to be left so little that all edges together stay within it. Everything is bounded; what
 * it does not know it does not decide.
 */
export class LocalShare {
  private readonly accounts: ShareAccounts;
  private readonly compiled = new WeakMap<readonly LimitScope[], Compiled>();
  private readonly units = new Map<string, LocalUnit>();

  /** `edges`: edge processes of the fleet. */
  constructor(
    private readonly clock: Clock,
    private readonly edges: number,
  ) {
    this.accounts = new ShareAccounts();
  }

  /** Remembers what an answer of the store told. */
  note(request: AdmitRequest, result: AdmitResult): void {
    if (result.outcome !== 'ok' && result.outcome !== 'refused') return;
    const { account, entries, records } = this.compile(request);
    this.confirm(account, request.accountVersion);
    if (result.outcome === 'ok') noteAdmitted(records, request.extra.length, result, this.clock.now());
    else noteRefused(entries, records, result.refusal, this.clock.now());
  }

  /** The account's principals are of this version now. */
  stamp(accountId: string, version: number): void {
    this.confirm(this.accounts.of(accountId), version);
  }

  /** The version confirmed within the last second; null where none was. */
  version(accountId: string): number | null {
    const account = this.accounts.find(accountId);
    if (account === undefined || this.clock.monotonic() - account.confirmedAt >= CONFIRMED_MS) return null;
    return account.version;
  }

  /** Lets in, refuses or wants a newer principal; null where this process alone cannot say. */
  admit(request: AdmitRequest): AdmitResult | null {
    if (this.version(request.accountId) !== request.accountVersion)
      return { outcome: 'stale', gen: LOCAL_GEN };
    const { entries, records } = this.compile(request);
    const now = this.clock.now();
    for (const record of records) rollWindows(record, now);
    const reservation = toScriptNano(request.reservationNano);
    for (let index = 0; index < entries.length; index += 1) {
      const entry = entries[index];
      const counted = countViolation(entry, records[index], this.edges, now);
      if (counted === 'undecided') return null;
      if (counted !== null) return { outcome: 'refused', refusal: toRefusal(counted, request.accountId) };
      if (entry.cap < Infinity && !maySpend(records[index], reservation, this.edges)) return null;
    }
    const balance = records[entries.length];
    const credit = toScriptLimit(request.creditLimitNano);
    if (credit < Infinity && !maySpend(balance, reservation, this.edges)) return null;
    return this.letIn(request, records, reservation, now);
  }

  /** A put on its way: what a unit really cost, or that it never ran. May be told more than once. */
  put(put: PutUnit): void {
    const unit = this.units.get(put.unit);
    if (unit === undefined || put.action === 'renew' || unit.isSettled) return;
    unit.isSettled = true;
    const isCancelled = put.action === 'cancel';
    const nano = isCancelled ? 0 : toScriptNano(put.nano);
    const tokens = (isCancelled ? 0 : put.tokens) - unit.tokens;
    for (const record of unit.records) {
      record.own += nano - unit.nano;
      if (isCancelled && record.day === unit.day) record.rpd = Math.max(0, record.rpd - 1);
      if (record.minute !== unit.minute) continue;
      record.tpm = Math.max(0, record.tpm + tokens);
      if (isCancelled) record.rpm = Math.max(0, record.rpm - 1);
    }
    unit.nano = nano;
  }

  /** The store has the unit now: it is no longer this process's own spend. */
  acknowledge(put: PutUnit): void {
    const unit = this.units.get(put.unit);
    if (unit === undefined) return;
    this.forget(put.unit, unit);
    for (const record of unit.records) if (record.left !== null) record.left -= unit.nano;
  }

  /** Units that the store was not told of, accounts and records held. */
  get size(): number {
    return this.units.size + this.accounts.size;
  }

  private letIn(
    request: AdmitRequest,
    records: ShareRecord[],
    reservation: number,
    now: number,
  ): AdmitResult {
    // A request that is sent again counts once.
    if (!this.units.has(request.unit)) {
      for (const record of records) {
        record.rpm += 1;
        record.rpd += 1;
        record.tpm += request.tokenEstimate;
        record.own += reservation;
      }
      const minute = minuteOf(now);
      const { unit, tokenEstimate: tokens } = request;
      this.units.set(unit, { records, nano: reservation, minute, day: dayOf(now), tokens, isSettled: false });
      if (this.units.size > UNITS_MAX) this.forgetOldest();
    }
    const counters = request.scopes.map(({ kind, id }, at) => ({
      kind,
      id,
      ...countsOf(records[at === 0 ? 0 : at + request.extra.length], this.edges, now),
    }));
    return { outcome: 'ok', counters, minute: minuteOf(now), minuteResetSeconds: minuteResetSeconds(now) };
  }

  private confirm(account: ShareAccount, version: number): void {
    account.version = version;
    account.confirmedAt = this.clock.monotonic();
  }

  private forget(id: string, { records, nano }: LocalUnit): void {
    for (const record of records) record.own -= nano;
    this.units.delete(id);
  }

  private forgetOldest(): void {
    for (const [id, unit] of this.units) return this.forget(id, unit);
  }

  /** A principal's scopes are one array for every request of it; its records are looked up once. */
  private compile(request: AdmitRequest): Compiled {
    const { scopes, extra, accountId } = request;
    const known = extra.length === 0 ? this.compiled.get(scopes) : undefined;
    // An account that the bound pushed out has new records since.
    if (known !== undefined && this.accounts.find(accountId) === known.account) return known;
    const account = this.accounts.of(accountId);
    const entries = admissionEntries(request);
    const records = [...entries.map(({ name }) => name), ACCOUNT_RECORD].map((name) => {
      const record = account.records.get(name) ?? newShareRecord();
      if (!account.records.has(name)) this.accounts.add(account, name, record);
      return record;
    });
    const compiled = { account, entries, records };
    if (extra.length === 0) this.compiled.set(scopes, compiled);
    return compiled;
  }
}
