import { HELD_KINDS, type AdmitRequest, type ProjectionRequest, type PutUnit } from '@gateway/contracts';
import {
  ACCOUNT_RECORD,
  DOUBT_MS,
  LAPSED_PER_CALL,
  SETTLED_DUE_MS,
  heldRecord,
  recordName,
  worstCase,
  type AccountHeld,
  type AdmissionEntry,
  type ReachedLimit,
} from '../admission.js';
import { MAX_NANO, toScriptLimit, toScriptNano } from '../script-nano.js';
import { dayOf, minuteOf } from '../windows.js';
import {
  reachedBalance,
  fits,
  newLimitRecord,
  rollWindows,
  remainingOf,
  reachedInScope,
  type LimitRecord,
} from './limit-record.js';

const MINUTES_PER_DAY = 1_440;

interface BookedUnit {
  state: 'reserved' | 'unposted';
  nano: number;
  /** 0 once it is settled. */
  worst: number;
  minute: number;
  tokens: number;
  records: string[];
  /** Lease end, or the time from which the ledger is asked whether it posted the unit. */
  dueAt: number;
}

/** An admission in the numbers that the counters hold; no limit is Infinity. */
export interface CountersRequest {
  unitId: string;
  accountVersion: number;
  reservation: number;
  /** The most that it may cost. */
  worst: number;
  credit: number;
  tokens: number;
  leaseMs: number;
}

export function countersRequest(request: AdmitRequest): CountersRequest {
  const { unitId, accountVersion, tokenEstimate: tokens, leaseMs } = request;
  const reservation = toScriptNano(request.reservationNano);
  return {
    unitId,
    accountVersion,
    reservation,
    worst: worstCase(request),
    credit: toScriptLimit(request.creditLimitNano),
    tokens,
    leaseMs,
  };
}

export type CountersAnswer =
  { kind: 'ok' | 'stale' | 'missing' | 'gone' | 'doubted' } | { kind: 'refused'; reached: ReachedLimit };

export interface CountersTrial {
  answer: CountersAnswer;
  /** Records in the order of the entries, then the balance's. */
  records: readonly LimitRecord[];
}

/** One account in memory: what the Redis scripts do, over Maps. */
export class LimitCounters {
  /** Time of the last call, in milliseconds since the epoch. */
  usedAt = 0;
  private version = -1;
  private stamped = false;
  private readonly records = new Map<string, LimitRecord>();
  private readonly units = new Map<string, BookedUnit>();
  /** No lease ends before this time, so most calls look at no unit. */
  private nextLapse = Infinity;
  /** End of the time in which unposted spend may be counted twice. */
  private doubtUntil = -Infinity;

  admit(request: CountersRequest, entries: readonly AdmissionEntry[], now: number): CountersAnswer {
    return this.unready(request, entries) ?? this.take(request, entries, now);
  }

  /** Returns the result that `admit` would give a new unit, with the records behind it; nothing is counted. */
  trial(request: CountersRequest, entries: readonly AdmissionEntry[], now: number): CountersTrial {
    this.freeLapsed(now);
    const unready = this.unready(request, entries);
    if (unready !== null) return { answer: unready, records: [] };
    const { records, balance, reached } = this.judge(request, entries, now);
    const answer: CountersAnswer = reached === null ? { kind: 'ok' } : this.refused(reached, now);
    return { answer, records: [...records, balance] };
  }

  /** Checks every limit and counts the unit where none is reached, whoever the caller is and whatever is posted. */
  take(request: CountersRequest, entries: readonly AdmissionEntry[], now: number): CountersAnswer {
    this.freeLapsed(now);
    const { reservation, credit, tokens } = request;
    const known = this.units.get(request.unitId);
    if (known) return { kind: known.state === 'reserved' ? 'ok' : 'gone' };
    const { records, balance, reached } = this.judge(request, entries, now);
    if (reached !== null) return this.refused(reached, now);
    const isRoomy =
      fits(balance, request.worst, { credit }) &&
      entries.every((entry, index) => fits(records[index], request.worst, entry));
    const all = [...records, balance];
    const nano = bounded(isRoomy ? reservation : request.worst, all, 'reserved');
    const worst = bounded(request.worst, all, 'worst');

    for (const record of all) {
      record.rpm += 1;
      record.rpd += 1;
      record.tpm += tokens;
      record.reserved += nano;
      record.worst += worst;
    }
    this.setUnit(request.unitId, {
      state: 'reserved',
      nano,
      worst,
      minute: minuteOf(now),
      tokens,
      records: [...entries.map((entry) => entry.name), ACCOUNT_RECORD],
      dueAt: now + request.leaseMs,
    });
    return { kind: 'ok' };
  }

  put(put: PutUnit, now: number): void {
    const unit = this.units.get(put.unit);
    const nano = toScriptNano(put.nano);
    const fresh = {
      nano,
      worst: 0,
      minute: -1,
      tokens: 0,
      records: [...put.scopes.map(recordName), ACCOUNT_RECORD],
    };
    switch (put.action) {
      case 'renew':
        if (unit === undefined) {
          const all = fresh.records.map((name) => this.record(name));
          const least = Math.min(bounded(nano, all, 'reserved'), bounded(nano, all, 'worst'));
          const booked: BookedUnit = {
            ...fresh,
            nano: least,
            worst: least,
            state: 'reserved',
            dueAt: now + put.leaseMs,
          };
          this.add(booked, 1);
          this.setUnit(put.unit, booked);
        } else if (unit.state === 'reserved') {
          this.setUnit(put.unit, { ...unit, dueAt: now + put.leaseMs });
        }
        return;
      case 'settle': {
        if (unit?.state === 'unposted') return;
        if (unit) {
          this.correct(unit, put.tokens);
          this.add(unit, -1);
        } else if (nano > 0) {
          // Lost here, or its posting came first: it is due for a look into the ledger.
          this.doubtUntil = now + DOUBT_MS;
        }
        const settled: BookedUnit = {
          ...(unit ?? fresh),
          nano,
          worst: 0,
          state: 'unposted',
          dueAt: now + (unit || nano === 0 ? SETTLED_DUE_MS : 0),
        };
        this.add(settled, 1);
        this.setUnit(put.unit, settled);
        return;
      }
      case 'cancel':
        if (unit?.state !== 'reserved') return;
        this.uncount(unit);
        this.forget(put.unit, unit);
        return;
    }
  }

  /** Sets posted totals; `valid` where the mirror answers `missing` of the living generation. Answers a later version. */
  mirror(request: ProjectionRequest, valid: boolean, now: number): number | null {
    let newest = request.version;
    const posted = [
      ...request.scopes.map((scope) => ({ name: recordName(scope), nano: scope.postedNano })),
      { name: ACCOUNT_RECORD, nano: request.balanceNano },
    ];
    for (const { name, nano } of posted) {
      const record = this.inWindow(name, now);
      const { history = 0 } = request;
      if (history !== record.history || request.version >= record.pver) {
        record.history = history;
        record.posted = toScriptNano(nano);
        record.pver = request.version;
      }
      newest = Math.max(newest, record.pver);
      if (valid) record.valid = true;
    }
    for (const { unit: id, crash } of request.units) {
      const unit = this.units.get(id);
      if (unit && (!crash || unit.state === 'reserved')) this.forget(id, unit);
    }
    return newest > request.version ? newest : null;
  }

  stamp(version: number, livingGen: boolean): void {
    this.version = Math.max(this.version, version);
    if (livingGen) this.stamped = true;
  }

  trustedVersion(): number | null {
    return this.stamped ? this.version : null;
  }

  read(name: string, now: number): LimitRecord {
    this.freeLapsed(now);
    return this.inWindow(name, now);
  }

  unitCounts(settledBy: number): { reservedUnits: number; unpostedUnits: number } {
    const counts = { reservedUnits: 0, unpostedUnits: 0 };
    for (const { state, dueAt } of this.units.values()) {
      if (state === 'reserved') counts.reservedUnits += 1;
      else if (dueAt <= settledBy + SETTLED_DUE_MS) counts.unpostedUnits += 1;
    }
    return counts;
  }

  due(limit: number, now: number): string[] {
    const due = [...this.units]
      .filter(([, unit]) => unit.dueAt <= now)
      .sort(([, a], [, b]) => a.dueAt - b.dueAt)
      .slice(0, limit);
    for (const [, unit] of due) if (unit.state === 'unposted') unit.dueAt = now + SETTLED_DUE_MS;
    return due.map(([id]) => id);
  }

  /** Counts that a start reads from the usage events of today. Never lowers what was counted since. */
  seed(name: string, counts: { rpm: number; rpd: number; tpm: number }, now: number): void {
    const record = this.inWindow(name, now);
    record.rpm = Math.max(record.rpm, counts.rpm);
    record.rpd = Math.max(record.rpd, counts.rpd);
    record.tpm = Math.max(record.tpm, counts.tpm);
  }

  /** Drops records at rest for a day or more, as Redis does after two; their posted is asked for again. */
  sweep(now: number): void {
    this.freeLapsed(now);
    for (const [name, record] of this.records) {
      const rests = record.reserved === 0 && record.unposted === 0;
      if (rests && record.day < dayOf(now) - 1) this.records.delete(name);
    }
  }

  /**
   * Returns the rest of the tightest cap or of the balance beside every worst case; null where no money is asked for or
   * limited.
   */
  remaining({ reservation, credit }: CountersRequest, entries: readonly AdmissionEntry[]): number | null {
    if (reservation === 0) return null;
    const rooms = entries.map((entry) => remainingOf(this.record(entry.name), entry));
    const least = Math.min(remainingOf(this.record(ACCOUNT_RECORD), { credit }), ...rooms);
    return least === Infinity ? null : least;
  }

  /** Worst cases in flight. */
  held(): AccountHeld {
    const worst = (name: string): number => this.records.get(name)?.worst ?? 0;
    const [realtime, batch, video] = HELD_KINDS.map((kind) => worst(heldRecord(kind)));
    return { account: worst(ACCOUNT_RECORD), realtime, batch, video };
  }

  holds(unitId: string): boolean {
    return this.units.has(unitId);
  }

  /** Takes a unit out, as a mirror does; what it held and on which records, null where it is not there. */
  release(unitId: string): { nano: number; records: readonly string[] } | null {
    const booked = this.units.get(unitId);
    if (booked === undefined) return null;
    this.forget(unitId, booked);
    return booked;
  }

  /** Records and units held. */
  get size(): number {
    return this.records.size + this.units.size;
  }

  private unready(request: CountersRequest, entries: readonly AdmissionEntry[]): CountersAnswer | null {
    if (!this.stamped || this.version !== request.accountVersion) return { kind: 'stale' };
    if (request.reservation === 0) return null;
    const unknown = entries.some(({ name, cap }) => cap < Infinity && !this.record(name).valid);
    const isMissing = unknown || (request.credit < Infinity && !this.record(ACCOUNT_RECORD).valid);
    return isMissing ? { kind: 'missing' } : null;
  }

  /** The first limit that is reached, in the order of the Redis script. */
  private judge(
    { reservation, credit }: CountersRequest,
    entries: readonly AdmissionEntry[],
    now: number,
  ): { records: LimitRecord[]; balance: LimitRecord; reached: ReachedLimit | null } {
    const records = entries.map((entry) => this.inWindow(entry.name, now));
    const balance = this.inWindow(ACCOUNT_RECORD, now);
    for (let index = 0; index < entries.length; index += 1) {
      const reached = reachedInScope(entries[index], records[index], reservation, now);
      if (reached) return { records, balance, reached };
    }
    return { records, balance, reached: reachedBalance(balance, credit, reservation) };
  }

  private record(name: string): LimitRecord {
    let record = this.records.get(name);
    if (record === undefined) {
      record = newLimitRecord();
      this.records.set(name, record);
    }
    return record;
  }

  private inWindow(name: string, now: number): LimitRecord {
    const record = this.record(name);
    rollWindows(record, now);
    return record;
  }

  private add({ records, state, nano, worst }: BookedUnit, sign: 1 | -1): void {
    for (const name of records) {
      const record = this.record(name);
      record[state] += sign * nano;
      record.worst += sign * worst;
    }
  }

  /** A rejection for good must not rest on what may be counted twice. */
  private refused(reached: ReachedLimit, now: number): CountersAnswer {
    const isMoney = reached.metric === 'spend_cap' || reached.metric === 'balance';
    if (isMoney && !reached.reservationsOnly && now < this.doubtUntil) return { kind: 'doubted' };
    return { kind: 'refused', reached };
  }

  private setUnit(id: string, unit: BookedUnit): void {
    this.units.set(id, unit);
    if (unit.state === 'reserved') this.nextLapse = Math.min(this.nextLapse, unit.dueAt);
  }

  private forget(id: string, unit: BookedUnit): void {
    this.add(unit, -1);
    this.units.delete(id);
  }

  private correct(unit: BookedUnit, tokens: number): void {
    for (const name of unit.records) {
      const record = this.record(name);
      if (record.minute === unit.minute) record.tpm = Math.max(0, record.tpm + tokens - unit.tokens);
    }
  }

  /** A unit that never ran: its windows get back what admission counted. */
  private uncount(unit: BookedUnit): void {
    this.correct(unit, 0);
    for (const name of unit.records) {
      const record = this.record(name);
      if (record.minute === unit.minute) record.rpm = Math.max(0, record.rpm - 1);
      if (record.day === Math.floor(unit.minute / MINUTES_PER_DAY)) record.rpd = Math.max(0, record.rpd - 1);
    }
  }

  private freeLapsed(now: number): void {
    if (now < this.nextLapse) return;
    this.nextLapse = Infinity;
    let freed = 0;
    for (const [id, unit] of this.units) {
      if (unit.state !== 'reserved') continue;
      if (unit.dueAt <= now && freed < LAPSED_PER_CALL) {
        this.forget(id, unit);
        freed += 1;
      } else {
        this.nextLapse = Math.min(this.nextLapse, unit.dueAt);
      }
    }
  }
}

/** Returns the part of the amount that keeps every sum exact. */
function bounded(nano: number, records: readonly LimitRecord[], sum: 'reserved' | 'worst'): number {
  return records.reduce((least, record) => Math.max(0, Math.min(least, MAX_NANO - record[sum])), nano);
}
