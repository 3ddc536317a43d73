import type { AdmitRequest, LimitMetric, SpendScope, Trial, TrialRecord } from '@gateway/contracts';
import { admissionEntries, type AdmissionEntry } from './admission.js';
import { toScriptLimit } from './script-nano.js';

/** One limit that an admission looks at. Money in nano-USD. */
export interface TrialCheck {
  scope: SpendScope | 'account';
  scopeId: string;
  counter: string | null;
  /** `budget`: the counter is then the id of the budget. */
  metric: LimitMetric | 'budget';
  current: bigint;
  limit: bigint;
  refuses: boolean;
}

/**
 * Every limit that is set, in the order in which admission checks them: the first that refuses is its answer. Money is
 * looked at only where the request asks for some.
 */
export function trialChecks(request: AdmitRequest, { records }: Trial): TrialCheck[] {
  if (records.length === 0) return [];
  const asksMoney = request.reservationNano > 0n;
  const checks = admissionEntries(request).flatMap((entry, index) =>
    scopeChecks(entry, records[index], asksMoney),
  );
  const credit = request.creditLimitNano;
  if (!asksMoney || toScriptLimit(credit) === Infinity) return checks;
  const { scope, scopeId, counter, spentNano, worstNano } = records[records.length - 1];
  const current = spentNano - worstNano;
  const limit = -(credit ?? 0n);
  return [
    ...checks,
    { scope, scopeId, counter, metric: 'balance', current, limit, refuses: current <= limit },
  ];
}

function scopeChecks(entry: AdmissionEntry, record: TrialRecord, asksMoney: boolean): TrialCheck[] {
  const { scope, scopeId, spentNano, worstNano } = record;
  const counter = entry.budget?.id ?? record.counter;
  const check = (metric: TrialCheck['metric'], current: bigint, limit: number): TrialCheck[] => {
    if (limit === Infinity) return [];
    return [
      { scope, scopeId, counter, metric, current, limit: BigInt(limit), refuses: current >= BigInt(limit) },
    ];
  };
  return [
    ...check('rpm', BigInt(record.rpm), entry.rpm),
    ...check('rpd', BigInt(record.rpd), entry.rpd),
    ...check('tpm', BigInt(record.tpm), entry.tpm),
    ...(asksMoney
      ? check(entry.budget === undefined ? 'spend_cap' : 'budget', spentNano + worstNano, entry.cap)
      : []),
  ];
}

/**
 * Returns the amount that an admission would hold: the reservation where every worst case fits beside those in
 * flight, else the worst case.
 */
export function trialHeld(request: AdmitRequest, { records }: Trial): bigint {
  const worst = request.worstNano ?? request.reservationNano;
  const fits = admissionEntries(request).every(({ cap }, index) => {
    const { spentNano, worstNano } = records[index];
    return cap === Infinity || spentNano + worstNano + worst <= BigInt(cap);
  });
  if (!fits || request.creditLimitNano === null) return fits ? request.reservationNano : worst;
  const { spentNano, worstNano } = records[records.length - 1];
  return spentNano - worstNano - worst + request.creditLimitNano >= 0n ? request.reservationNano : worst;
}
