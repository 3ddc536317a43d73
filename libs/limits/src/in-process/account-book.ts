import type { AdmitRequest, MirrorRequest, PutUnit } from '@gateway/contracts';
import { ACCOUNT_RECORD, LAPSED_PER_CALL, recordName, SETTLED_DUE_MS } from '../admission.js';
import type { AdmissionEntry, Violation } from '../admission.js';
import { toScriptLimit, toScriptNano } from '../script-nano.js';
import { dayOf, dayResetSeconds, minuteOf, minuteResetSeconds } from '../windows.js';

const MINUTES_PER_DAY = 1_440;

/** Counts and money of one scope, of one extra counter or of the balance. */
export interface LimitRecord {
  minute: number;
  rpm: number;
  tpm: number;
  day: number;
  rpd: number;
  posted: number;
  /** Ledger version of posted; -1 = absent. */
  pver: number;
  unposted: number;
  reserved: number;
  /** True where a mirror answered `missing`; posted is not known before. */
  valid: boolean;
}

interface BookedUnit {
  state: 'reserved' | 'unposted';
  nano: number;
  minute: number;
  tokens: number;
  records: string[];
  /** Lease end, or the time from which the ledger is asked whether it posted the unit. */
  dueAt: number;
}

export type BookAnswer =
  { outcome: 'ok' | 'stale' | 'missing' | 'gone' } | { outcome: 'refused'; violation: Violation };

/** One account in memory: what the Redis scripts do, over Maps. */
export class AccountBook {
  /** Time of the last call, in milliseconds since the epoch. */
  usedAt = 0;
  private version = -1;
  private stamped = false;
  private readonly records = new Map<string, LimitRecord>();
  private readonly units = new Map<string, BookedUnit>();
  /** No lease ends before this time, so most calls look at no unit. */
  private nextLapse = Infinity;

  admit(request: AdmitRequest, entries: AdmissionEntry[], now: number): BookAnswer {
    this.freeLapsed(now);
    if (!this.stamped || this.version !== request.accountVersion) return { outcome: 'stale' };
    const reservation = toScriptNano(request.reservationNano);
    const credit = toScriptLimit(request.creditLimitNano);
    const records = entries.map((entry) => this.inWindow(entry.name, now));
    const balance = this.inWindow(ACCOUNT_RECORD, now);
    if (reservation > 0) {
      const unknown = entries.some((entry, index) => entry.cap < Infinity && !records[index].valid);
      if (unknown || (credit < Infinity && !balance.valid)) return { outcome: 'missing' };
    }
    const known = this.units.get(request.unit);
    if (known) return { outcome: known.state === 'reserved' ? 'ok' : 'gone' };
    for (let index = 0; index < entries.length; index += 1) {
      const violation = scopeViolation(entries[index], records[index], reservation, now);
      if (violation) return { outcome: 'refused', violation };
    }
    const violation = balanceViolation(balance, credit, reservation);
    if (violation) return { outcome: 'refused', violation };

    for (const record of [...records, balance]) {
      record.rpm += 1;
      record.rpd += 1;
      record.tpm += request.tokenEstimate;
      record.reserved += reservation;
    }
    this.book(request.unit, {
      state: 'reserved',
      nano: reservation,
      minute: minuteOf(now),
      tokens: request.tokenEstimate,
      records: [...entries.map((entry) => entry.name), ACCOUNT_RECORD],
      dueAt: now + request.leaseMs,
    });
    return { outcome: 'ok' };
  }

  put(put: PutUnit, now: number): void {
    const unit = this.units.get(put.unit);
    const nano = toScriptNano(put.nano);
    const fresh = { nano, minute: -1, tokens: 0, records: [...put.scopes.map(recordName), ACCOUNT_RECORD] };
    switch (put.action) {
      case 'renew':
        if (unit === undefined) {
          this.add(fresh.records, 'reserved', nano);
          this.book(put.unit, { ...fresh, state: 'reserved', dueAt: now + put.leaseMs });
        } else if (unit.state === 'reserved') {
          this.book(put.unit, { ...unit, dueAt: now + put.leaseMs });
        }
        return;
      case 'settle': {
        if (unit?.state === 'unposted') return;
        if (unit) {
          this.correct(unit, put.tokens);
          this.add(unit.records, 'reserved', -unit.nano);
        }
        const settled: BookedUnit = {
          ...(unit ?? fresh),
          nano,
          state: 'unposted',
          dueAt: now + SETTLED_DUE_MS,
        };
        this.add(settled.records, 'unposted', nano);
        this.book(put.unit, settled);
        return;
      }
      case 'cancel':
        if (unit?.state !== 'reserved') return;
        this.uncount(unit);
        this.forget(put.unit, unit);
        return;
    }
  }

  /** Sets posted totals; `valid` where the mirror answers `missing` of the living generation. */
  mirror(request: MirrorRequest, valid: boolean, now: number): void {
    const posted = [
      ...request.scopes.map((scope) => ({ name: recordName(scope), nano: scope.postedNano })),
      { name: ACCOUNT_RECORD, nano: request.balanceNano },
    ];
    for (const { name, nano } of posted) {
      const record = this.inWindow(name, now);
      if (request.version >= record.pver) {
        record.posted = toScriptNano(nano);
        record.pver = request.version;
      }
      if (valid) record.valid = true;
    }
    for (const { unit: id, crash } of request.units) {
      const unit = this.units.get(id);
      if (unit && (!crash || unit.state === 'reserved')) this.forget(id, unit);
    }
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

  unitCounts(): { reservedUnits: number; unpostedUnits: number } {
    let reservedUnits = 0;
    for (const unit of this.units.values()) if (unit.state === 'reserved') reservedUnits += 1;
    return { reservedUnits, unpostedUnits: this.units.size - reservedUnits };
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

  /** Records and units held. */
  get size(): number {
    return this.records.size + this.units.size;
  }

  private record(name: string): LimitRecord {
    let record = this.records.get(name);
    if (record === undefined) {
      record = {
        minute: 0,
        rpm: 0,
        tpm: 0,
        day: 0,
        rpd: 0,
        posted: 0,
        pver: -1,
        unposted: 0,
        reserved: 0,
        valid: false,
      };
      this.records.set(name, record);
    }
    return record;
  }

  private inWindow(name: string, now: number): LimitRecord {
    const record = this.record(name);
    if (record.minute !== minuteOf(now)) Object.assign(record, { minute: minuteOf(now), rpm: 0, tpm: 0 });
    if (record.day !== dayOf(now)) Object.assign(record, { day: dayOf(now), rpd: 0 });
    return record;
  }

  private add(records: string[], state: 'reserved' | 'unposted', nano: number): void {
    for (const name of records) this.record(name)[state] += nano;
  }

  private book(id: string, unit: BookedUnit): void {
    this.units.set(id, unit);
    if (unit.state === 'reserved') this.nextLapse = Math.min(this.nextLapse, unit.dueAt);
  }

  private forget(id: string, unit: BookedUnit): void {
    this.add(unit.records, unit.state, -unit.nano);
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

function scopeViolation(
  entry: AdmissionEntry,
  record: LimitRecord,
  reservation: number,
  now: number,
): Violation | null {
  const count = (metric: 'rpm' | 'rpd' | 'tpm', resetsInSeconds: number): Violation | null =>
    record[metric] >= entry[metric]
      ? {
          entry,
          metric,
          current: record[metric],
          limit: entry[metric],
          resetsInSeconds,
          reservationsOnly: false,
        }
      : null;
  const counted =
    count('rpm', minuteResetSeconds(now)) ??
    count('rpd', dayResetSeconds(now)) ??
    count('tpm', minuteResetSeconds(now));
  if (counted || reservation === 0) return counted;
  const spent = record.posted + record.unposted;
  if (spent + record.reserved < entry.cap) return null;
  return {
    entry,
    metric: 'spend_cap',
    current: spent + record.reserved,
    limit: entry.cap,
    resetsInSeconds: null,
    reservationsOnly: spent < entry.cap,
  };
}

function balanceViolation(record: LimitRecord, credit: number, reservation: number): Violation | null {
  const left = record.posted - record.unposted;
  if (reservation === 0 || left - record.reserved + credit > 0) return null;
  return {
    entry: null,
    metric: 'balance',
    current: left - record.reserved,
    limit: -credit,
    resetsInSeconds: null,
    reservationsOnly: left + credit > 0,
  };
}
