import { ApiError, LimitStore } from '@gateway/contracts';
import type {
  AccountState,
  AccountsPage,
  AdmitRequest,
  AdmitResult,
  CredentialCount,
  CredentialCounted,
  ProjectionRequest,
  PutUnit,
  Random,
  SpendScope,
  Trial,
  UnheardPage,
} from '@gateway/contracts';
import { ACCOUNT_RECORD, recordName } from '../admission.js';
import { LOCAL_GEN, type LocalShare } from '../in-process/local-share.js';
import { dayResetSeconds, minuteResetSeconds } from '../windows.js';
import {
  accountKeys,
  laterVersions,
  projectionCall,
  putCall,
  VERSIONS,
  type AccountsCall,
} from './account-calls.js';
import { AdmitCalls, decodeAdmit, type AdmitAnswer } from './admit-calls.js';
import { decodeTrial } from './decode-trial.js';
import { bytesOf, doubles, type LimitScript, type ScriptPipe } from './script-pipe.js';
import { UNKNOWN_LAYOUT } from './prelude.lua.js';
import { LIMIT_SCRIPTS } from './scripts.js';
import { TickBatches } from './tick-batches.js';

export interface RedisLimitStoreOptions {
  pipe: ScriptPipe;
  /** Jitter of Retry-After when Redis is unavailable. */
  random: Random;
  /** Decides where Redis is unavailable; without it an admission then throws. */
  share?: LocalShare;
  /** Milliseconds that replace Redis TIME. Only for tests that need a fixed clock. */
  testNow?: () => number;
}

type WithoutStore = NonNullable<AdmitResult['withoutStore']>;
type Decided = (failure: Error | null, result: AdmitResult | null) => void;

/** Units between a local `stale` and their next call; the oldest is forgotten, which costs it one more trip. */
const BEGUN_MAX = 10_000;
/** More trips for a unit that this process cannot decide, while Redis is only late. */
const MORE_TRIES = 3;
const NOTHING: readonly string[] = [];

/**
 * Admission over Redis: one script call per operation, atomic; all keys of an account share a hash tag. An admission is
 * one call of the pipe and one promise. With a local share it never throws because Redis is unavailable: a principal that was
 * not confirmed within a second is then `stale`, a reload and a stamp make it current.
 */
export class RedisLimitStore extends LimitStore {
  private readonly calls: AdmitCalls;
  private readonly puts: TickBatches<PutUnit[]>;
  private readonly mirrors: TickBatches<ProjectionRequest, ReadonlyMap<ProjectionRequest, number>>;
  private readonly begun = new Map<string, WithoutStore>();

  constructor(private readonly options: RedisLimitStoreOptions) {
    super();
    this.calls = new AdmitCalls(options.pipe);
    this.puts = new TickBatches((items) => this.runAll(LIMIT_SCRIPTS.put, putCall(items)));
    this.mirrors = new TickBatches((requests) => this.projectAll(requests));
  }

  admit(request: AdmitRequest): Promise<AdmitResult> {
    const { share } = this.options;
    if (share === undefined) return this.trip(request);
    const begun = this.begun.get(request.unitId);
    if (begun !== undefined) return this.alone(request, begun, share);
    if (this.isUnavailable(request.accountId)) return this.alone(request, 'unasked', share);
    return new Promise((resolve, reject) => {
      this.ask(request, (failure, result) => {
        // What Redis has of this account nobody here can read: no share of it is known either.
        if (failure?.message.startsWith(`${UNKNOWN_LAYOUT} `)) return reject(this.unavailable(failure));
        resolve(failure === null && result !== null ? result : this.alone(request, 'unsure', share));
      });
    });
  }

  trial(request: AdmitRequest): Promise<Trial> {
    const { pipe } = this.options;
    const call = this.calls.of(request);
    return new Promise((resolve, reject) => {
      const node = pipe.nodeOf(call.prepared.key);
      if (node === null) return reject(this.unavailable(new Error(UNAVAILABLE)));
      const dry = { ...request, leaseMs: 0 };
      const args = [node, this.clockText(), bytesOf(request.unitId), this.calls.numbersOf(dry)];
      pipe.send(call.prepared, args, (failure, bytes) => {
        if (failure !== null) return reject(this.unavailable(failure));
        try {
          resolve(decodeTrial(bytes, call, request));
        } catch (cause) {
          reject(this.unavailable(cause));
        }
      });
    });
  }

  /** Units of one account are one item: each account's put stands or falls by itself where it went by itself. */
  async put(units: PutUnit[]): Promise<void> {
    const { share, pipe } = this.options;
    const byAccount = new Map<string, PutUnit[]>();
    for (const unit of units) {
      share?.put(unit);
      const list = byAccount.get(unit.accountId);
      if (list) list.push(unit);
      else byAccount.set(unit.accountId, [unit]);
    }
    const sent = [...byAccount].map(([accountId, list]) =>
      this.puts.add(pipe.hashSlotOf(tagOf(accountId)), list),
    );
    await Promise.all(sent);
    if (share !== undefined) for (const unit of units) share.acknowledge(unit);
  }

  async mirror(request: ProjectionRequest): Promise<number | null> {
    const later = await this.mirrors.add(this.options.pipe.hashSlotOf(tagOf(request.accountId)), request);
    return later.get(request) ?? null;
  }

  /**
   * Stores the version here whatever becomes of the call: where Redis did not get it, the next admission says `stale`
   * again.
   */
  async stamp(accountId: string, version: number, gen: string | null): Promise<void> {
    const { share } = this.options;
    share?.stamp(accountId, version);
    if (gen === LOCAL_GEN) return;
    const sent = this.run(LIMIT_SCRIPTS.stamp, accountKeys(accountId), [gen ?? '', String(version)]);
    await (share === undefined ? sent : sent.catch(() => undefined));
  }

  /** Throws `service_unavailable` where neither Redis nor the last second knows it. */
  async version(accountId: string): Promise<number | null> {
    const known = (): number | null => this.options.share?.version(accountId) ?? null;
    if (this.isUnavailable(accountId) && known() !== null) return known();
    try {
      const answer = await this.run(LIMIT_SCRIPTS.version, accountKeys(accountId), []);
      return answer === '' ? null : Number(answer);
    } catch (error) {
      if (known() === null) throw error;
      return known();
    }
  }

  override confirmedAt(accountId: string, version: number): number {
    return this.options.share?.confirmedAt(accountId, version) ?? -Infinity;
  }

  async read(
    accountId: string,
    scopes: { kind: SpendScope; id: string }[],
    settledBy?: number,
  ): Promise<AccountState> {
    const names = [...scopes.map(recordName), ACCOUNT_RECORD];
    const answer = await this.run(LIMIT_SCRIPTS.read, accountKeys(accountId), [
      String(settledBy ?? ''),
      ...names.map(bytesOf),
    ]);
    const [now, reservedUnits, unpostedUnits, ...values] = answer.split(' ');
    const counters = names.map((_, index) => {
      const [rpm, rpd, tpm, reserved, unposted] = values.slice(7 * index);
      return {
        rpm: Number(rpm),
        rpd: Number(rpd),
        tpm: Number(tpm),
        reservedNano: BigInt(reserved),
        unpostedNano: BigInt(unposted),
      };
    });
    const account = counters[scopes.length];
    const all = [...scopes, { kind: 'account' as const, id: accountId }];
    const posted = all.map(({ kind, id }, index) => {
      const [nano, version] = values.slice(7 * index + 5);
      const known = Number(version);
      return { kind, id, nano: BigInt(nano), version: known < 0 ? known : known % VERSIONS };
    });
    return {
      asOf: Number(now),
      posted: posted.filter(({ version }) => version >= 0),
      scopes: scopes.map(({ kind, id }, index) => ({ kind, id, ...counters[index] })),
      reservedNano: account.reservedNano,
      unpostedNano: account.unpostedNano,
      reservedUnits: Number(reservedUnits),
      unpostedUnits: Number(unpostedUnits),
      minuteResetSeconds: minuteResetSeconds(Number(now)),
      dayResetSeconds: dayResetSeconds(Number(now)),
    };
  }

  async due(accountId: string, limit: number): Promise<string[]> {
    const answer = await this.run(LIMIT_SCRIPTS.due, accountKeys(accountId), [String(limit)]);
    return answer === '' ? [] : answer.split('\n');
  }

  override async unheard(accountId: string, cursor: string): Promise<UnheardPage> {
    const answer = await this.run(LIMIT_SCRIPTS.unheard, accountKeys(accountId), [cursor]);
    const [head, ...lines] = answer.split('\n');
    const [next, unnamed] = head.split(' ');
    const units = lines.map((line) => {
      const [state, nano, unitId] = line.split(' ', 3);
      return {
        unit: unitId,
        nano: BigInt(nano),
        state: state === 's' ? ('settled' as const) : ('lapsed' as const),
      };
    });
    return { units, unnamed: Number(unnamed), next: next === '0' ? null : next };
  }

  /** Looks at every key of each node, a thousand a call. The cursor is the node's place and that of its SCAN. */
  override async accountsWithUnits(cursor: string): Promise<AccountsPage> {
    const [at, scan = '0'] = cursor.split(' ');
    const nodes = this.watched();
    const node = nodes.at(Number(at));
    if (node === undefined) throw this.unavailable(new Error(UNAVAILABLE));
    const answer = await this.run(LIMIT_SCRIPTS.accountsWithUnits, [tagOf(node)], [scan]);
    const [next, ...accounts] = answer.split('\n');
    if (next !== '0') return { accounts, next: `${at} ${next}` };
    const after = Number(at) + 1;
    return { accounts, next: after < nodes.length ? `${after} 0` : null };
  }

  async countOnCredential({ id, rpm, tpm, tokens }: CredentialCount): Promise<CredentialCounted> {
    const limits = doubles([rpm ?? Infinity, tpm ?? Infinity, tokens]);
    const answer = await this.run(LIMIT_SCRIPTS.countCredential, [credentialKey(id)], [limits]);
    const [first, fullForMs] = answer.split(' ');
    return first === 'full' ? { fullForMs: Number(fullForMs) } : { minute: Number(first) };
  }

  async correctCredential({
    id,
    minute,
    tokens,
  }: {
    id: string;
    minute: number;
    tokens: number;
  }): Promise<void> {
    await this.run(LIMIT_SCRIPTS.correctCredential, [credentialKey(id)], [doubles([minute, tokens])]);
  }

  /** True if a call for this account would fail without being sent. */
  isUnavailable(accountId: string): boolean {
    return this.options.pipe.nodeOf(tagOf(accountId)) === null;
  }

  /** The connection belongs to who made the pipe. */
  async close(): Promise<void> {}

  private trip(request: AdmitRequest): Promise<AdmitResult> {
    return new Promise((resolve, reject) => {
      this.ask(request, (failure, result) => {
        if (failure === null && result !== null) resolve(result);
        else reject(this.unavailable(failure));
      });
    });
  }

  /** One trip, handed to `decided` in the turn in which the answer came. */
  private ask(request: AdmitRequest, decided: Decided): void {
    const { pipe, share } = this.options;
    const call = this.calls.of(request);
    const node = pipe.nodeOf(call.prepared.key);
    if (node === null) return decided(new Error(UNAVAILABLE), null);
    const args = [node, this.clockText(), bytesOf(request.unitId), this.calls.numbersOf(request)];
    pipe.send(call.prepared, args, (failure, bytes) => {
      if (failure !== null) return decided(failure, null);
      let answer: AdmitAnswer;
      try {
        answer = decodeAdmit(bytes, call, request);
      } catch (cause) {
        return decided(new Error('Redis answered an admission with something else.', { cause }), null);
      }
      share?.note(request, call.entries, answer.result, answer.left);
      decided(null, answer.result);
    });
  }

  /** A trip that is repeated counts once, so a unit that the share cannot decide may ask a Redis that is only late. */
  private async alone(request: AdmitRequest, began: WithoutStore, share: LocalShare): Promise<AdmitResult> {
    let withoutStore = began;
    this.begun.delete(request.unitId);
    const { entries } = this.calls.of(request);
    for (let left = MORE_TRIES; ; left -= 1) {
      const result = share.admit(request, entries);
      if (result?.kind === 'stale') this.remember(request.unitId, withoutStore);
      if (result !== null) return { ...result, withoutStore };
      if (left === 0 || this.isUnavailable(request.accountId)) return { kind: 'unavailable', withoutStore };
      const late = await this.trip(request).catch(() => null);
      if (late !== null) return late;
      withoutStore = 'unsure';
    }
  }

  private remember(unitId: string, withoutStore: WithoutStore): void {
    this.begun.set(unitId, withoutStore);
    if (this.begun.size <= BEGUN_MAX) return;
    for (const oldest of this.begun.keys()) {
      this.begun.delete(oldest);
      return;
    }
  }

  private async projectAll(requests: ProjectionRequest[]): Promise<ReadonlyMap<ProjectionRequest, number>> {
    const { keys, args } = projectionCall(requests);
    return laterVersions(await this.run(LIMIT_SCRIPTS.mirror, keys, args), requests);
  }

  private async runAll(script: LimitScript, { keys, args }: AccountsCall): Promise<void> {
    await this.run(script, keys, args);
  }

  private run(script: LimitScript, keys: string[], args: readonly string[]): Promise<string> {
    const { pipe } = this.options;
    return new Promise((resolve, reject) => {
      const node = pipe.nodeOf(keys[0]);
      if (node === null) return reject(this.unavailable(new Error(UNAVAILABLE)));
      pipe.send(pipe.prepare(script, keys, NOTHING), [node, this.clockText(), ...args], (failure, answer) => {
        if (failure === null) resolve(answer.toString('utf8'));
        else reject(this.unavailable(failure));
      });
    });
  }

  private clockText(): string {
    const { testNow } = this.options;
    return testNow === undefined ? '' : String(testNow());
  }

  private unavailable(cause: unknown): ApiError {
    const retryAfterSeconds = 1 + Math.floor(this.options.random.fraction() * 5);
    return new ApiError('service_unavailable', { retryAfterSeconds, shouldRetry: true, cause });
  }
}

const UNAVAILABLE = 'Redis is not connected, or did not answer in time lately: not asked.';

function credentialKey(id: string): string {
  return `cred:{${bytesOf(id)}}`;
}

/** Any key of the account leads to its node. */
function tagOf(accountId: string): string {
  return `{${accountId}}`;
}
