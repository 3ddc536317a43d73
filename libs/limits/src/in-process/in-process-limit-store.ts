import { LimitStore } from '@gateway/contracts';
import type {
  AccountState,
  AdmitRequest,
  AdmitResult,
  Clock,
  CredentialCount,
  CredentialCounted,
  ProjectionRequest,
  PutUnit,
  Random,
  SpendScope,
  Trial,
} from '@gateway/contracts';
import {
  ACCOUNT_RECORD,
  admissionEntries,
  keyMinute,
  recordName,
  toLimitRejection,
  type AdmissionEntry,
} from '../admission.js';
import { dayResetSeconds, minuteOf, minuteResetSeconds } from '../windows.js';
import { CredentialCounts } from './credential-counts.js';
import {
  LimitCounters,
  countersRequest,
  type CountersAnswer,
  type CountersRequest,
} from './limit-counters.js';

/** Interval at which idle accounts and records are dropped. */
const SWEEP_MS = 60 * 60_000;

/** Counts of one scope at a start, from the usage events of the current UTC day and minute. */
export interface SeedCounts {
  accountId: string;
  kind: SpendScope;
  id: string;
  rpm: number;
  rpd: number;
  tpm: number;
}

/** One request in the form of the counters, and those that it is judged by. */
interface Judged {
  asked: CountersRequest;
  entries: readonly AdmissionEntry[];
  limits: LimitCounters;
}

/** The embedded driver: the semantics of the Redis scripts over Maps, for the one process that admits. */
export class InProcessLimitStore extends LimitStore {
  private readonly clock: Clock;
  private readonly gen: string;
  private readonly countersByAccount = new Map<string, LimitCounters>();
  private readonly credentials = new CredentialCounts();
  private nextSweep: number;

  constructor(options: { clock: Clock; random: Random }) {
    super();
    this.clock = options.clock;
    this.gen = Buffer.from(options.random.bytes(16)).toString('hex');
    this.nextSweep = this.clock.now() + SWEEP_MS;
  }

  /** Loads today's counts before the first request. Posted totals come later, as the answer to `missing`. */
  seed(counts: Iterable<SeedCounts>): void {
    const now = this.clock.now();
    for (const count of counts) this.countersOf(count.accountId).seed(recordName(count), count, now);
  }

  async admit(request: AdmitRequest): Promise<AdmitResult> {
    const now = this.clock.now();
    if (now >= this.nextSweep) this.sweep(now);
    const limits = this.countersOf(request.accountId);
    const judged = { asked: countersRequest(request), entries: admissionEntries(request), limits };
    return this.result(request, judged, limits.admit(judged.asked, judged.entries, now), now);
  }

  async trial(request: AdmitRequest): Promise<Trial> {
    const now = this.clock.now();
    const limits = this.countersOf(request.accountId);
    const entries = admissionEntries(request);
    const asked = countersRequest(request);
    const { answer, records } = limits.trial(asked, entries, now);
    const names = [
      ...entries.map(({ kind, id, counter }) => ({ scope: kind, scopeId: id, counter })),
      { scope: 'account' as const, scopeId: request.accountId, counter: null },
    ];
    return {
      result: this.result(request, { asked, entries, limits }, answer, now),
      records: records.map(({ rpm, rpd, tpm, posted, unposted, worst }, index) => ({
        ...names[index],
        rpm,
        rpd,
        tpm,
        spentNano: BigInt(index < entries.length ? posted + unposted : posted - unposted),
        worstNano: BigInt(worst),
      })),
    };
  }

  async put(units: PutUnit[]): Promise<void> {
    const now = this.clock.now();
    for (const unit of units) this.countersOf(unit.accountId).put(unit, now);
  }

  async mirror(request: ProjectionRequest): Promise<number | null> {
    if (request.gen !== null && request.gen !== this.gen) return null;
    return this.countersOf(request.accountId).mirror(request, request.gen !== null, this.clock.now());
  }

  async stamp(accountId: string, version: number, gen: string | null): Promise<void> {
    this.countersOf(accountId).stamp(version, gen === this.gen);
  }

  async version(accountId: string): Promise<number | null> {
    return this.countersByAccount.get(accountId)?.trustedVersion() ?? null;
  }

  async read(
    accountId: string,
    scopes: { kind: SpendScope; id: string }[],
    settledBy = Infinity,
  ): Promise<AccountState> {
    const now = this.clock.now();
    const limits = this.countersOf(accountId);
    const account = limits.read(ACCOUNT_RECORD, now);
    const all = [...scopes, { kind: 'account' as const, id: accountId }];
    const posted = all.map(({ kind, id }) => {
      const found = kind === 'account' ? account : limits.read(recordName({ kind, id }), now);
      return { kind, id, nano: BigInt(found.posted), version: found.pver };
    });
    return {
      asOf: now,
      posted: posted.filter(({ version }) => version >= 0),
      scopes: scopes.map(({ kind, id }) => {
        const { rpm, rpd, tpm, reserved, unposted } = limits.read(recordName({ kind, id }), now);
        return { kind, id, rpm, rpd, tpm, reservedNano: BigInt(reserved), unpostedNano: BigInt(unposted) };
      }),
      reservedNano: BigInt(account.reserved),
      unpostedNano: BigInt(account.unposted),
      ...limits.unitCounts(settledBy),
      minuteResetSeconds: minuteResetSeconds(now),
      dayResetSeconds: dayResetSeconds(now),
    };
  }

  async due(accountId: string, limit: number): Promise<string[]> {
    return this.countersByAccount.get(accountId)?.due(limit, this.clock.now()) ?? [];
  }

  async countOnCredential(count: CredentialCount): Promise<CredentialCounted> {
    return this.credentials.count(count, this.clock.now());
  }

  async correctCredential(correction: { id: string; minute: number; tokens: number }): Promise<void> {
    this.credentials.correct(correction);
  }

  async close(): Promise<void> {
    this.countersByAccount.clear();
  }

  /** Records and units held over all accounts: what the sweep keeps bounded. */
  get size(): number {
    let size = 0;
    for (const limits of this.countersByAccount.values()) size += limits.size;
    return size;
  }

  private result(
    request: AdmitRequest,
    { asked, entries, limits }: Judged,
    answer: CountersAnswer,
    now: number,
  ): Exclude<AdmitResult, { kind: 'unavailable' }> {
    switch (answer.kind) {
      case 'stale':
      case 'missing':
        return { kind: answer.kind, gen: this.gen };
      case 'gone':
      case 'doubted':
        return { kind: answer.kind };
      case 'refused':
        return {
          kind: 'refused',
          rejection: toLimitRejection(answer.reached, request.accountId, limits.held()),
          ...keyMinute(request, (key) => limits.read(recordName(key), now).rpm, now),
        };
      case 'ok': {
        const counters = request.scopes.map(({ kind, id }) => {
          const { rpm, rpd, tpm } = limits.read(recordName({ kind, id }), now);
          return { kind, id, rpm, rpd, tpm };
        });
        return {
          kind: 'ok',
          counters,
          minuteResetSeconds: minuteResetSeconds(now),
          minute: minuteOf(now),
          remainingNano: limits.remaining(asked, entries),
        };
      }
    }
  }

  private countersOf(accountId: string): LimitCounters {
    let limits = this.countersByAccount.get(accountId);
    if (limits === undefined) {
      limits = new LimitCounters();
      this.countersByAccount.set(accountId, limits);
    }
    limits.usedAt = this.clock.now();
    return limits;
  }

  private sweep(now: number): void {
    this.nextSweep = now + SWEEP_MS;
    this.credentials.sweep(now);
    for (const [accountId, limits] of this.countersByAccount) {
      limits.sweep(now);
      if (limits.size === 0 && limits.usedAt < now - SWEEP_MS) this.countersByAccount.delete(accountId);
    }
  }
}
