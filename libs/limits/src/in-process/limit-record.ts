import { dayOf, minuteOf } from '../windows.js';

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
  /** History of the ledger that pver is of. */
  history: number;
  unposted: number;
  reserved: number;
  /** Worst cases of what is reserved. */
  worst: number;
  /** True where a mirror answered `missing`; posted is not known before. */
  valid: boolean;
}

export function newLimitRecord(): LimitRecord {
  return {
    minute: 0,
    rpm: 0,
    tpm: 0,
    day: 0,
    rpd: 0,
    posted: 0,
    pver: -1,
    history: 0,
    unposted: 0,
    reserved: 0,
    worst: 0,
    valid: false,
  };
}

/** Begins the windows that hold `now`. */
export function rollWindows(record: LimitRecord, now: number): void {
  if (record.minute !== minuteOf(now)) Object.assign(record, { minute: minuteOf(now), rpm: 0, tpm: 0 });
  if (record.day !== dayOf(now)) Object.assign(record, { day: dayOf(now), rpd: 0 });
}
