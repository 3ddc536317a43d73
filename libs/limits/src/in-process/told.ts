import type { AdmitResult, Refusal } from '@gateway/contracts';

type Admitted = Extract<AdmitResult, { outcome: 'ok' }>;
type Counts = Pick<Admitted['counters'][number], 'rpm' | 'rpd' | 'tpm'>;

const MINUTES_PER_DAY = 1_440;
const MINUTE_MS = 60_000;

/** What the store reported last of one record. */
export interface Told extends Counts {
  /** Until then its minute and its day run; by the clock of this process. */
  minuteEnd: number;
  dayEnd: number;
  /** Nano-USD left of the cap or the balance; null = never reported. */
  left: number | null;
  /** When the report came. */
  at: number;
}

export function newTold(): Told {
  return { rpm: 0, rpd: 0, tpm: 0, minuteEnd: 0, dayEnd: 0, left: null, at: 0 };
}

/** The counts in the windows that still run. */
export function toldCounts(told: Told | undefined, now: number): Counts {
  if (told === undefined) return { rpm: 0, rpd: 0, tpm: 0 };
  const { rpm, tpm, rpd, minuteEnd, dayEnd } = told;
  return { rpm: now < minuteEnd ? rpm : 0, tpm: now < minuteEnd ? tpm : 0, rpd: now < dayEnd ? rpd : 0 };
}

export function noteCounts(told: Told, counts: Counts, admitted: Admitted, at: number): void {
  const minutesAfter = MINUTES_PER_DAY - 1 - (admitted.minute % MINUTES_PER_DAY);
  told.rpm = counts.rpm;
  told.rpd = counts.rpd;
  told.tpm = counts.tpm;
  told.minuteEnd = at + admitted.minuteResetSeconds * 1_000;
  told.dayEnd = told.minuteEnd + minutesAfter * MINUTE_MS;
}

export function noteRefusal(
  told: Told,
  { metric, current, limit, resetsInSeconds }: Refusal,
  at: number,
): void {
  const end = at + (resetsInSeconds ?? 0) * 1_000;
  switch (metric) {
    case 'spend_cap':
    case 'balance':
      told.left = metric === 'balance' ? Number(current) - Number(limit) : Number(limit) - Number(current);
      return;
    case 'rpd':
      told.rpd = Number(current);
      told.dayEnd = end;
      return;
    case 'rpm':
    case 'tpm': {
      const { rpm, tpm } = toldCounts(told, at);
      Object.assign(told, { rpm, tpm, [metric]: Number(current), minuteEnd: end });
    }
  }
}
