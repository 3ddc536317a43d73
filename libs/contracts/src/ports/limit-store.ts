import type { ScopeKind, SpendScope } from './principal.js';

/** One scope as admission sees it. null = unlimited. Money in integer nano-USD. */
export interface LimitScope {
  /** `provider` alone, without others, for the budgets of one. */
  kind: ScopeKind | 'provider';
  id: string;
  rpm: number | null;
  rpd: number | null;
  /** Explicit limit alone; a default is display only and comes as null. */
  tpm: number | null;
  capNano: bigint | null;
}

/** Work whose reservations a balance shows apart from those of ordinary requests. */
export const HELD_KINDS = ['realtime', 'batch', 'video'] as const;
export type HeldKind = (typeof HELD_KINDS)[number];

const HELD = 'held:';

/** The name of the counter that a unit of such work carries; it limits nothing. */
export function heldCounter(kind: HeldKind): string {
  return `${HELD}${kind}`;
}

/** Returns the scope of a counter: the key, or the account where it only adds up what is held. */
export function counterScope(keyId: string, name: string): { kind: 'key'; id: string } {
  return { kind: 'key', id: `${name.startsWith(HELD) ? '*' : keyId}/${name}` };
}

/** The budget whose amount bounds a counter, and the end of the period that it counts. */
export interface CountedBudget {
  /** `bud_<uuidv7>`. */
  id: string;
  name: string;
  scope: { kind: SpendScope; id: string };
  /** null of a rolling one. */
  endMs: number | null;
  /** Set for a rolling one alone. */
  rollingDays?: number;
}

/** Returns the scope on which an extra counter is kept: a budget's own, else that of `counterScope`. */
export function extraScope(
  keyId: string,
  { name, budget }: Pick<ExtraCounter, 'name' | 'budget'>,
): { kind: SpendScope; id: string } {
  return budget === undefined
    ? counterScope(keyId, name)
    : { kind: budget.scope.kind, id: `${budget.scope.id}/${name}` };
}

/** Extra counters: of the key, for free models together or one model of model_limits; and of a scope, for a budget. */
export interface ExtraCounter {
  /** `free`, `m:<model or brand/*>`, `heldCounter` of a kind, or that of a budget's period (`periodCounter`). */
  name: string;
  rpm: number | null;
  rpd: number | null;
  tpm: number | null;
  /**
   * Cap of model_limits in integer nano-USD; absent or null = none. Where it is set, `missing` is answered by a
   * mirror that also carries the scope {kind: 'key', id: '<key id>/<name>'}.
   */
  capNano?: bigint | null;
  /** Set for the period of a budget alone. */
  budget?: CountedBudget;
}

export interface AdmitRequest {
  accountId: string;
  /** The account version the cached principal was loaded at. */
  accountVersion: number;
  /** `<request_id>/<n>`. */
  unitId: string;
  /** Every scope of the unit, capped or not; key first. */
  scopes: LimitScope[];
  extra: ExtraCounter[];
  /** null = unlimited credit: the balance never refuses. */
  creditLimitNano: bigint | null;
  /** 0 asks for no money: caps and the balance neither refuse nor need to be known. */
  reservationNano: bigint;
  /**
   * The most that the unit may cost; absent = the reservation. Caps and the balance count it, so that they are overrun by one
   * request at most; it is also what is held where not all worst cases fit.
   */
  worstNano?: bigint;
  /** Prompt plus largest output, for scopes with a TPM. */
  tokenEstimate: number;
  leaseMs: number;
}

/** Counts of one scope after admission, in the windows of the store's own clock. */
interface ScopeCounters {
  kind: SpendScope;
  id: string;
  rpm: number;
  rpd: number;
  tpm: number;
}

export type LimitMetric = 'rpm' | 'rpd' | 'tpm' | 'spend_cap' | 'balance';

export interface LimitRejection {
  /** `account` for the balance. */
  scope: SpendScope | 'account';
  scopeId: string;
  metric: LimitMetric;
  /** Name of the extra counter that refused; null where none did. */
  counter: string | null;
  /** Counts as numbers in decimal, money as nano-USD in decimal. */
  current: string;
  limit: string;
  /** Seconds until the window rolls; null for money. */
  resetsInSeconds: number | null;
  /** True where posted and unposted spend alone would have let it in. */
  reservationsOnly: boolean;
  /** Money in flight, for rejections by money; null for counts. */
  held: HeldMoney | null;
  /** The budget that refused; absent where none did. */
  budget?: CountedBudget;
}

/** Worst cases in flight, as nano-USD in decimal: of the refusing scope, of the whole account, and of its long work. */
export interface HeldMoney extends Record<HeldKind, string> {
  scope: string;
  account: string;
}

export type AdmitResult = Admission & {
  /**
   * Set where the store was unreachable and this process decided alone. `unsure`: the store may have counted the unit,
   * so a unit that does not run has to be cancelled.
   */
  withoutStore?: 'unasked' | 'unsure';
};

type Admission =
  | {
      kind: 'ok';
      counters: ScopeCounters[];
      minuteResetSeconds: number;
      minute: number;
      /**
       * Nano-USD left of the tightest cap or balance beside all worst cases in flight, this unit's included: what the next
       * unit finds. Null where it asks for no money or nothing limits it, absent where this process decided alone.
       */
      remainingNano?: number | null;
    }
  /** The principal is older than the account: reload, stamp, admit once more. */
  | { kind: 'stale'; gen: string }
  /** Posted totals are not known here: ask the ledger to mirror, admit once more. */
  | { kind: 'missing'; gen: string }
  /** The unit was settled already. */
  | { kind: 'gone' }
  /** Money would refuse it, but the spend that it rests on may be counted twice: the caller may come again. */
  | { kind: 'doubted' }
  /** Neither the store nor this process alone can say: the caller may come again. */
  | { kind: 'unavailable' }
  | {
      kind: 'refused';
      rejection: LimitRejection;
      /** The key's own requests of this minute, whichever limit refused; absent where they are not known. */
      keyMinute?: KeyMinute;
    };

export interface KeyMinute {
  rpm: number;
  resetsInSeconds: number;
}

/** State of one record that an admission looks at, in the windows of the store's own clock. */
export interface TrialRecord {
  /** `account` for the balance, which has no limit of its own here. */
  scope: SpendScope | 'account';
  scopeId: string;
  /** Name of an extra counter; null for the scope's own. */
  counter: string | null;
  rpm: number;
  rpd: number;
  tpm: number;
  /** Money posted and unposted; of the balance what is left of it without reservations. */
  spentNano: bigint;
  /** Amount in flight, at its worst case. */
  worstNano: bigint;
}

/** The result that an admission would have, with the records that decided it, in the order of checking. */
export interface Trial {
  /** `ok` and `refused` as `admit` says them; counters as they are, without this request. */
  result: Admission;
  /** Empty but for `ok` and `refused`. */
  records: TrialRecord[];
}

export interface PutUnit {
  accountId: string;
  unit: string;
  /** renew a reservation; settle at the actual cost; cancel a unit that never ran, which gives its counts back. */
  action: 'renew' | 'settle' | 'cancel';
  /** The most that it may cost for renew, actual cost for settle. */
  nano: bigint;
  /** Every record the unit counts on; an extra counter is {kind: 'key', id: '<key id>/<name>'}. */
  scopes: { kind: SpendScope; id: string }[];
  /** Actual tokens, for the TPM correction in the window of `minute`. */
  tokens: number;
  tokenEstimate: number;
  /** The minute that admission counted in. */
  minute: number;
  leaseMs: number;
}

/** Totals of one account in the ledger, read from one snapshot of it. */
export interface ProjectionRequest {
  accountId: string;
  /** Generation to pass when it answers `missing(gen)`. */
  gen: string | null;
  /** Versions of different histories do not compare: a ledger that was restored begins another. 0 to 2^20; default 0. */
  history?: number;
  /** Ledger version of the account. */
  version: number;
  balanceNano: bigint;
  scopes: { kind: SpendScope; id: string; postedNano: bigint }[];
  /** Units whose cost is in the totals above (or dead-lettered); `crash` frees a reservation only. */
  units: { unit: string; crash: boolean }[];
}

/** The posted spend of one scope as mirrored to the store; `account` for the balance. */
interface PostedReading {
  kind: SpendScope | 'account';
  id: string;
  nano: bigint;
  /** Ledger version of the account at which it was mirrored. */
  version: number;
}

/** State of an account for the reads: rate limits, reserved money. */
export interface AccountState {
  /** The store's time, in milliseconds since 1970. */
  asOf: number;
  /** Reported readings of the scopes asked and the balance, for the proof of the projection. */
  posted?: PostedReading[];
  scopes: (ScopeCounters & { reservedNano: bigint; unpostedNano: bigint })[];
  reservedNano: bigint;
  unpostedNano: bigint;
  /** Units in flight, of whatever cost. */
  reservedUnits: number;
  /** Finished units that the ledger has not posted yet, free ones too: reads wait for them. */
  unpostedUnits: number;
  minuteResetSeconds: number;
  dayResetSeconds: number;
}

/** Number of a batch's hold in place of a unit's: no line of a batch has it, and the ledger never hears of it. */
export const HOLD_UNIT = 2_000_000_000;

/** A unit that the store holds or has held, and of which the ledger may never hear. */
export interface UnheardUnit {
  unit: string;
  /** Amount in reserve, or the cost it was settled at. */
  nano: bigint;
  state: 'lapsed' | 'settled';
}

/** Units without an end in the ledger, a part of them. */
export interface UnheardPage {
  units: UnheardUnit[];
  /** Number of further lapsed units whose names found no room. */
  unnamed: number;
  /** Cursor of the next page; null after the last. */
  next: string | null;
}

/** Accounts of which the store holds units or names of lapsed ones, a part of them. */
export interface AccountsPage {
  accounts: string[];
  /** Cursor of the next page; null after the last. */
  next: string | null;
}

/** One request on a platform credential that has limits. */
export interface CredentialCount {
  id: string;
  /** null = none. */
  rpm: number | null;
  tpm: number | null;
  /** Tokens that it counts with until they are known. */
  tokens: number;
}

/** The minute that the request is counted in; or, of a credential at a limit, the time until its minute rolls. */
export type CredentialCounted = { minute: number } | { fullForMs: number };

/** Unit under which lapsed ones without a name are counted: a mirror that names it forgets the count. */
export const UNNAMED_UNITS = 'unnamed';

/**
 * Admission over all scopes at once, atomic.
 * Drivers: Redis scripts; in process. Throws ApiError `service_unavailable` where the store is away.
 */
export abstract class LimitStore {
  abstract admit(request: AdmitRequest): Promise<AdmitResult>;
  /** The same checks by the same code, on a dry run: nothing is counted or kept. Never decided while the store is unavailable. */
  abstract trial(request: AdmitRequest): Promise<Trial>;
  abstract put(units: PutUnit[]): Promise<void>;
  /**
   * Returns the latest version sent before of the same history, if it is later than this one: the store then keeps its
   * totals. Null otherwise.
   */
  abstract mirror(request: ProjectionRequest): Promise<number | null>;
  /** Raises the account's principal version; `gen` (from `stale`) stamps it for that generation only. */
  abstract stamp(accountId: string, version: number, gen: string | null): Promise<void>;
  /** The principal version the store knows; null where it is unknown. For endpoints that do not admit. */
  abstract version(accountId: string): Promise<number | null>;
  /** Returns the totals; with `settledBy`, a time of the store, units settled later are left out of `unpostedUnits`. */
  abstract read(
    accountId: string,
    scopes: { kind: SpendScope; id: string }[],
    settledBy?: number,
  ): Promise<AccountState>;
  /**
   * Units whose reservation or settlement is due for a look into the ledger, oldest first. A settled one that was named
   * is due again 5 s later. Units that the ledger does not know yet never stand before the others.
   */
  abstract due(accountId: string, limit: number): Promise<string[]>;
  /** Counts a request on the limits of a platform credential, over all edges; at a limit it counts nothing. */
  abstract countOnCredential(count: CredentialCount): Promise<CredentialCounted>;
  /** Adds to the tokens of a credential, or takes from them, where the minute has not rolled. */
  abstract correctCredential(correction: { id: string; minute: number; tokens: number }): Promise<void>;
  abstract close(): Promise<void>;
  /**
   * Returns units of the account that lapsed and were never heard of again, or are settled and not posted. Pages begin at
   * the cursor `0`. A unit may come twice. None in a store that ends with the one process whose journal has them.
   */
  async unheard(_accountId: string, _cursor: string): Promise<UnheardPage> {
    return { units: [], unnamed: 0, next: null };
  }
  /**
   * Returns accounts that have units or names of lapsed ones, page by page from the cursor `0`, whether the ledger knows them
   * or not. A page may be empty, and an account may come twice.
   */
  async accountsWithUnits(_cursor: string): Promise<AccountsPage> {
    return { accounts: [], next: null };
  }
  /**
   * Monotonic time at which an admission of this process last found the account to be of this version: a principal of
   * that version, whichever of the account's, was right then. -Infinity where none did.
   */
  confirmedAt(_accountId: string, _version: number): number {
    return -Infinity;
  }
  /** Returns made-up accounts, one on each node of the store: a changed gen shows that the node lost its data. */
  watched(): string[] {
    return ['acct_watch'];
  }
}
