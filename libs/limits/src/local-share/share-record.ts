import type { AdmitResult, Refusal } from '@gateway/contracts';
import { recordName } from '../admission.js';
import type { AdmissionEntry, Violation } from '../admission.js';
import { dayOf, dayResetSeconds, minuteOf, minuteResetSeconds } from '../windows.js';
import type { ShareRecord } from './share-accounts.js';

type Told = Extract<AdmitResult, { outcome: 'ok' }>;
type Counts = { rpm: number; rpd: number; tpm: number };

const MINUTE_MS = 60_000;
const MINUTES_PER_DAY = 1_440;
/** Most that one edge may spend of what was last known to be left: 5 USD, or a hundredth of it. */
const EXPOSURE_MAX_NANO = 5_000_000_000;
const EXPOSURE_PARTS = 100;

/** On the path of every admission: only references are kept, they are read when the store is away. */
export function noteAdmitted(records: ShareRecord[], extras: number, told: Told, now: number): void {
  for (let index = 0; index < records.length; index += 1) {
    const record = records[index];
    const isExtra = index > 0 && index <= extras;
    const isBalance = index === records.length - 1;
    record.told = told;
    record.toldAt = now;
    record.place = isExtra || isBalance ? -1 : index === 0 ? 0 : index - extras;
    const left = told.left?.[index] ?? '-';
    if (left !== '-') record.left = Number(left);
  }
}

export function noteRefused(
  entries: AdmissionEntry[],
  records: ShareRecord[],
  { scope, scopeId, counter, metric, current, limit, resetsInSeconds }: Refusal,
  now: number,
): void {
  if (scope === 'account') {
    records[entries.length].left = Number(current) - Number(limit);
    return;
  }
  const name = recordName({ kind: scope, id: scopeId });
  const at = entries.findIndex((entry) => entry.name === (counter === null ? name : `${name}/${counter}`));
  if (at < 0) return;
  if (metric === 'spend_cap') records[at].left = Number(limit) - Number(current);
  else if (metric !== 'balance') records[at].fullUntil[metric] = now + (resetsInSeconds ?? 0) * 1_000;
}

export function rollWindows(record: ShareRecord, now: number): void {
  if (record.minute !== minuteOf(now)) Object.assign(record, { minute: minuteOf(now), rpm: 0, tpm: 0 });
  if (record.day !== dayOf(now)) Object.assign(record, { day: dayOf(now), rpd: 0 });
}

/**
 * The first rate limit that is used up: this edge's share of it, or the whole of it by what the store told of the running
 * window. `undecided` where the limit is smaller than the number of edges, so that a share of it is none.
 */
export function countViolation(
  entry: AdmissionEntry,
  record: ShareRecord,
  edges: number,
  now: number,
): Violation | 'undecided' | null {
  const told = toldCounts(record, now);
  for (const metric of ['rpm', 'rpd', 'tpm'] as const) {
    const limit = entry[metric];
    if (limit === Infinity) continue;
    const share = Math.floor(limit / edges);
    const isFull = now < record.fullUntil[metric] || told[metric] + record[metric] >= limit;
    if (!isFull && record[metric] < share) continue;
    if (!isFull && share === 0) return 'undecided';
    const resetsInSeconds = metric === 'rpd' ? dayResetSeconds(now) : minuteResetSeconds(now);
    const current = isFull ? limit : record[metric] * edges;
    return { entry, metric, current, limit, resetsInSeconds, reservationsOnly: false };
  }
  return null;
}

/** Counts of the whole fleet in the running windows, as far as this edge can know. */
export function countsOf(record: ShareRecord, edges: number, now: number): Counts {
  const told = toldCounts(record, now);
  const of = (metric: keyof Counts): number =>
    Math.max(record[metric] * edges, told[metric] + record[metric]);
  return { rpm: of('rpm'), rpd: of('rpd'), tpm: of('tpm') };
}

/**
 * Whether this edge may let in so much more by itself: below its exposure, passed by one request at most, and within its
 * part of what was left, so that all edges together never spend more than that.
 */
export function maySpend({ left, own }: ShareRecord, reservation: number, edges: number): boolean {
  if (reservation === 0) return true;
  if (left === null || left <= 0) return false;
  return own < Math.min(EXPOSURE_MAX_NANO, left / EXPOSURE_PARTS) && own + reservation <= left / edges;
}

/** What the store told, as long as the windows that it told of run; they end by its own clock. */
function toldCounts({ told, place, toldAt }: ShareRecord, now: number): Counts {
  const counts = { rpm: 0, rpd: 0, tpm: 0 };
  if (told === null || place < 0) return counts;
  const { rpm, rpd, tpm } = told.counters[place];
  const minuteEnd = toldAt + told.minuteResetSeconds * 1_000;
  const minutesAfter = MINUTES_PER_DAY - 1 - (told.minute % MINUTES_PER_DAY);
  if (now < minuteEnd) Object.assign(counts, { rpm, tpm });
  if (now < minuteEnd + minutesAfter * MINUTE_MS) counts.rpd = rpd;
  return counts;
}
