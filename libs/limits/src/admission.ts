import {
  counterScope,
  extraScope,
  heldCounter,
  type AdmitRequest,
  type CountedBudget,
  type HeldKind,
  type HeldMoney,
  type KeyMinute,
  type PutUnit,
  type LimitMetric,
  type LimitScope,
  type LimitRejection,
  type SpendScope,
} from '@gateway/contracts';
import { toScriptLimit, toScriptNano } from './script-nano.js';
import { minuteResetSeconds } from './windows.js';

/** A settled unit is looked up in the ledger when its posting has not reached the store after this time. */
export const SETTLED_DUE_MS = 5_000;

/**
 * Time for which an account's money refuses nothing for good, after a settled unit that the store did not hold. The
 * unit is looked up in the ledger at once, and within this time a pass over due units has seen it.
 */
export const DOUBT_MS = 7_000;

/** Number of lapsed reservations that one call frees: the next call takes the rest. */
export const LAPSED_PER_CALL = 1_000;

/** Number of lapsed units of an account whose names are kept; more are counted. A name takes some 100 bytes. */
export const LAPSED_NAMES = 10_000;

/** Nano-USD that the unit may cost at most, as the stores hold it. */
export function worstCase({ reservationNano, worstNano }: AdmitRequest): number {
  return toScriptNano(worstNano ?? reservationNano);
}

/** Limits and counts that admission checks for one record of the store. Unlimited is Infinity. */
export interface AdmissionEntry {
  /** Name of the record: `key:<id>`, `team:<id>`, and `key:<id>/<counter>` for an extra counter; of a budget likewise. */
  name: string;
  kind: SpendScope;
  id: string;
  counter: string | null;
  rpm: number;
  rpd: number;
  tpm: number;
  cap: number;
  /** Set for the period of a budget alone. */
  budget?: CountedBudget;
}

/** The balance's record. */
export const ACCOUNT_RECORD = 'account';

export function recordName(scope: { kind: SpendScope; id: string }): string {
  return `${scope.kind}:${scope.id}`;
}

/** The order in which admission checks: the key, its extra counters, then team_member, member, team, org. */
export function admissionEntries(request: Pick<AdmitRequest, 'scopes' | 'extra'>): AdmissionEntry[] {
  const entries: AdmissionEntry[] = request.scopes.map((scope) => ({
    name: recordName(scope),
    kind: scope.kind,
    id: scope.id,
    counter: null,
    rpm: scope.rpm ?? Infinity,
    rpd: scope.rpd ?? Infinity,
    tpm: scope.tpm ?? Infinity,
    cap: toScriptLimit(scope.capNano),
  }));
  if (request.extra.length === 0) return entries;
  const key = request.scopes[0];
  const extra: AdmissionEntry[] = request.extra.map((counter) => ({
    name: recordName(extraScope(key.id, counter)),
    kind: counter.budget?.scope.kind ?? key.kind,
    id: counter.budget?.scope.id ?? key.id,
    counter: counter.name,
    rpm: counter.rpm ?? Infinity,
    rpd: counter.rpd ?? Infinity,
    tpm: counter.tpm ?? Infinity,
    cap: toScriptLimit(counter.capNano ?? null),
    ...(counter.budget === undefined ? {} : { budget: counter.budget }),
  }));
  entries.splice(1, 0, ...extra);
  return entries;
}

/** Every record that the unit counts on besides the balance, as PutUnit names them. */
export function unitScopes({ scopes, extra }: Pick<AdmitRequest, 'scopes' | 'extra'>): ScopeName[] {
  let names = namesOf.get(scopes);
  if (names === undefined) {
    names = scopes.map(({ kind, id }) => ({ kind, id }));
    namesOf.set(scopes, names);
  }
  if (extra.length === 0) return names;
  const [key] = scopes;
  return [...names, ...extra.map((counter) => extraScope(key.id, counter))];
}

/** The key's requests of the running minute, which the rate headers of a rejection show whichever limit refused. */
export function keyMinute(
  { scopes }: Pick<AdmitRequest, 'scopes'>,
  rpmOf: (key: LimitScope) => number,
  now: number,
): { keyMinute?: KeyMinute } {
  const key = scopes.at(0);
  if (key?.kind !== 'key') return {};
  return { keyMinute: { rpm: rpmOf(key), resetsInSeconds: minuteResetSeconds(now) } };
}

type ScopeName = PutUnit['scopes'][number];

/** A principal's scopes are one array for all its requests; what is made of them is not changed by anybody. */
const namesOf = new WeakMap<readonly LimitScope[], ScopeName[]>();

/** The first violation that a driver found. Numbers as the store holds them. */
export interface ReachedLimit {
  /** null = the balance. */
  entry: AdmissionEntry | null;
  metric: LimitMetric;
  current: number;
  limit: number;
  resetsInSeconds: number | null;
  reservationsOnly: boolean;
  /** Worst cases in flight on the record; 0 for counts. */
  held: number;
}

/** Worst cases in flight of the account, all together and of its long work. */
export type AccountHeld = Record<HeldKind | 'account', number>;

/** The record that adds up what long work of one kind holds. */
export function heldRecord(kind: HeldKind): string {
  return recordName(counterScope('', heldCounter(kind)));
}

/** Prefix of the names of those records. */
export const HELD_RECORDS = heldRecord('batch').slice(0, -'batch'.length);

/** `ofAccount` is null where nobody knows it, as where this process decides alone. */
export function toLimitRejection(
  reached: ReachedLimit,
  accountId: string,
  ofAccount: AccountHeld | null,
): LimitRejection {
  const { entry, metric, current, limit, resetsInSeconds, reservationsOnly } = reached;
  const isMoney = metric === 'spend_cap' || metric === 'balance';
  return {
    scope: entry?.kind ?? 'account',
    scopeId: entry?.id ?? accountId,
    metric,
    counter: entry?.counter ?? null,
    current: String(current),
    limit: String(limit),
    resetsInSeconds,
    reservationsOnly,
    held: isMoney && ofAccount !== null ? heldMoney(reached.held, ofAccount) : null,
    ...(entry?.budget === undefined ? {} : { budget: entry.budget }),
  };
}

function heldMoney(scope: number, { account, realtime, batch, video }: AccountHeld): HeldMoney {
  return {
    scope: String(scope),
    account: String(account),
    realtime: String(realtime),
    batch: String(batch),
    video: String(video),
  };
}
