import { extraScope, type AdmitRequest, type ProjectionRequest } from '@gateway/contracts';
import { recordName } from './admission.js';

/**
 * Returns the records on which a unit counts, in the order of checking: the key, its extra counters, the scopes above.
 */
function countedOn({ scopes, extra }: AdmitRequest): {
  name: string;
  rpm: number | null;
  rpd: number | null;
  tpm: number | null;
  capNano: bigint | null;
}[] {
  const [key, ...above] = scopes;
  return [
    { ...key, name: recordName(key) },
    ...extra.map(({ capNano = null, ...counter }) => ({
      ...counter,
      capNano,
      name: recordName(extraScope(key.id, counter)),
    })),
    ...above.map((scope) => ({ ...scope, name: recordName(scope) })),
  ];
}

/**
 * The naive model: it keeps what happened and adds it up anew for every question. No window, total or index is
 * carried along, so it shares no arithmetic with the drivers.
 */
export class NaiveModel {
  private stamped = false;
  raised = -1;
  private admitted: { at: number; records: string[]; tokens: number; unit: string; corrected: number }[] = [];
  private readonly units = new Map<
    string,
    { state: 'r' | 'u'; nano: bigint; worst: bigint; records: string[]; until: number; counted: boolean }
  >();
  private posted = new Map<string, { nano: bigint; history: number; version: number; valid: boolean }>();
  private doubtUntil = -Infinity;

  flush(): void {
    this.stamped = false;
    this.raised = -1;
    this.admitted = [];
    this.units.clear();
    this.posted.clear();
    this.doubtUntil = -Infinity;
  }

  held(unit: string): bigint | null {
    return this.units.get(unit)?.nano ?? null;
  }

  stamp(version: number, living: boolean): void {
    this.raised = Math.max(this.raised, version);
    this.stamped ||= living;
  }

  money(record: string, state: 'r' | 'u'): bigint {
    let sum = 0n;
    for (const unit of this.units.values()) {
      if (unit.state === state && unit.records.includes(record)) sum += unit.nano;
    }
    return sum;
  }

  private spent(record: string): bigint {
    return (this.posted.get(record)?.nano ?? 0n) + this.money(record, 'u');
  }

  private worst(record: string): bigint {
    let sum = 0n;
    for (const { records, worst } of this.units.values()) if (records.includes(record)) sum += worst;
    return sum;
  }

  count(record: string, now: number, spanMs: number): number {
    const window = Math.floor(now / spanMs);
    return this.admitted.filter(
      (one) => one.records.includes(record) && Math.floor(one.at / spanMs) === window,
    ).length;
  }

  tokens(record: string, now: number): number {
    const inWindow = this.admitted.filter(
      (one) => one.records.includes(record) && Math.floor(one.at / 60_000) === Math.floor(now / 60_000),
    );
    return inWindow.reduce((sum, one) => sum + one.corrected, 0);
  }

  lapse(now: number): void {
    for (const [id, unit] of this.units) if (unit.state === 'r' && unit.until <= now) this.units.delete(id);
  }

  admit(asked: AdmitRequest, now: number): string {
    this.lapse(now);
    if (!this.stamped || this.raised !== asked.accountVersion) return 'stale';
    const counted = countedOn(asked);
    const records = [...counted.map(({ name }) => name), 'account'];
    const capped = counted.filter(({ capNano }) => capNano !== null).map(({ name }) => name);
    const needed = asked.creditLimitNano === null ? capped : [...capped, 'account'];
    if (asked.reservationNano > 0n && needed.some((name) => !this.posted.get(name)?.valid)) return 'missing';
    const known = this.units.get(asked.unitId);
    if (known) return known.state === 'r' ? 'ok' : 'gone';
    for (const scope of counted) {
      const { name } = scope;
      if (scope.rpm !== null && this.count(name, now, 60_000) + 1 > scope.rpm) return `rpm of ${name}`;
      if (scope.rpd !== null && this.count(name, now, 86_400_000) + 1 > scope.rpd) return `rpd of ${name}`;
      if (scope.tpm !== null && this.tokens(name, now) >= scope.tpm) return `tpm of ${name}`;
      if (asked.reservationNano === 0n || scope.capNano === null) continue;
      if (this.spent(name) >= scope.capNano && now < this.doubtUntil) return 'doubted';
      if (this.spent(name) + this.worst(name) >= scope.capNano) return `spend_cap of ${name}`;
    }
    const left =
      (this.posted.get('account')?.nano ?? 0n) - this.money('account', 'u') + (asked.creditLimitNano ?? 0n);
    if (asked.reservationNano > 0n && asked.creditLimitNano !== null) {
      if (left <= 0n && now < this.doubtUntil) return 'doubted';
      if (left - this.worst('account') <= 0n) return 'balance';
    }
    const worst = asked.worstNano ?? asked.reservationNano;
    const fits =
      (asked.creditLimitNano === null || left - this.worst('account') - worst >= 0n) &&
      counted.every(
        ({ name, capNano }) => capNano === null || this.spent(name) + this.worst(name) + worst <= capNano,
      );
    const tokens = asked.tokenEstimate;
    this.admitted.push({ at: now, records, tokens, unit: asked.unitId, corrected: tokens });
    const unit = {
      state: 'r' as const,
      nano: fits || asked.reservationNano === 0n ? asked.reservationNano : worst,
      worst,
      records,
      until: now + asked.leaseMs,
      counted: true,
    };
    this.units.set(asked.unitId, unit);
    return 'ok';
  }

  put(
    action: 'renew' | 'settle' | 'cancel',
    asked: AdmitRequest,
    nano: bigint,
    tokens: number,
    now: number,
  ): void {
    const records = [...countedOn(asked).map(({ name }) => name), 'account'];
    const known = this.units.get(asked.unitId);
    if (known?.state === 'u') return;
    if (known?.counted && action === 'cancel') {
      // It never ran: as if it had not been admitted.
      const last = this.admitted.findLast((one) => one.unit === asked.unitId);
      this.admitted = this.admitted.filter((one) => one !== last);
    }
    if (known?.counted && action === 'settle') {
      const last = this.admitted.findLast((one) => one.unit === asked.unitId);
      // The correction lands in the minute that admission counted in, and only while that is the running one.
      if (last && Math.floor(last.at / 60_000) === Math.floor(now / 60_000)) last.corrected = tokens;
    }
    if (known === undefined && action === 'settle' && nano > 0n) this.doubtUntil = now + 7_000;
    if (action === 'cancel') this.units.delete(asked.unitId);
    else if (action === 'settle')
      this.units.set(asked.unitId, { state: 'u', nano, worst: 0n, records, until: 0, counted: false });
    else if (known) known.until = now + asked.leaseMs;
    else
      this.units.set(asked.unitId, {
        state: 'r',
        nano,
        worst: nano,
        records,
        until: now + asked.leaseMs,
        counted: false,
      });
  }

  mirror(sent: ProjectionRequest, living: boolean): void {
    if (sent.gen !== null && !living) return;
    const totals = [...sent.scopes.map((scope) => ({ name: recordName(scope), nano: scope.postedNano }))];
    for (const { name, nano } of [...totals, { name: 'account', nano: sent.balanceNano }]) {
      const held = this.posted.get(name);
      const { history = 0, version } = sent;
      const newer = held === undefined || history !== held.history || version >= held.version;
      const valid = sent.gen !== null || (held?.valid ?? false);
      this.posted.set(name, newer ? { nano, history, version, valid } : { ...held, valid });
    }
    for (const { unit, crash } of sent.units) {
      if (!crash || this.units.get(unit)?.state === 'r') this.units.delete(unit);
    }
  }
}
