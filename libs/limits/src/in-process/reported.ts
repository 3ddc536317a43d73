import type { AdmitResult, LimitRejection } from '@gateway/contracts';

type Admitted = Extract<AdmitResult, { kind: 'ok' }>;
type Counts = Pick<Admitted['counters'][number], 'rpm' | 'rpd' | 'tpm'>;

const MINUTES_PER_DAY = 1_440;
const MINUTE_MS = 60_000;

/** The last report of the store on one record. */
export interface Reported extends Counts {
  /** End of the record's minute and day, by the clock of this process. */
  minuteEnd: number;
  dayEnd: number;
  /** Nano-USD left of the cap or the balance; null = never reported. */
  left: number | null;
  /** Instant of the report. */
  at: number;
}

export function newReported(): Reported {
  return { rpm: 0, rpd: 0, tpm: 0, minuteEnd: 0, dayEnd: 0, left: null, at: 0 };
}

/** The counts in the windows that still run. */
export function reportedCounts(reported: Reported | undefined, now: number): Counts {
  if (reported === undefined) return { rpm: 0, rpd: 0, tpm: 0 };
  const { rpm, tpm, rpd, minuteEnd, dayEnd } = reported;
  return { rpm: now < minuteEnd ? rpm : 0, tpm: now < minuteEnd ? tpm : 0, rpd: now < dayEnd ? rpd : 0 };
}

export function noteCounts(reported: Reported, counts: Counts, admitted: Admitted, at: number): void {
  const minutesAfter = MINUTES_PER_DAY - 1 - (admitted.minute % MINUTES_PER_DAY);
  reported.rpm = counts.rpm;
  reported.rpd = counts.rpd;
  reported.tpm = counts.tpm;
  reported.minuteEnd = at + admitted.minuteResetSeconds * 1_000;
  reported.dayEnd = reported.minuteEnd + minutesAfter * MINUTE_MS;
}

export function noteRejection(
  reported: Reported,
  { metric, current, limit, resetsInSeconds }: LimitRejection,
  at: number,
): void {
  const end = at + (resetsInSeconds ?? 0) * 1_000;
  switch (metric) {
    case 'spend_cap':
    case 'balance':
      reported.left =
        metric === 'balance' ? Number(current) - Number(limit) : Number(limit) - Number(current);
      return;
    case 'rpd':
      reported.rpd = Number(current);
      reported.dayEnd = end;
      return;
    case 'rpm':
    case 'tpm': {
      const { rpm, tpm } = reportedCounts(reported, at);
      Object.assign(reported, { rpm, tpm, [metric]: Number(current), minuteEnd: end });
    }
  }
}
