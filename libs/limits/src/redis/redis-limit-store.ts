import { createHash } from 'node:crypto';
import { ApiError, LimitStore } from '@gateway/contracts';
import type {
  AccountState,
  AdmitRequest,
  AdmitResult,
  LimitMetric,
  MirrorRequest,
  PutUnit,
  Random,
  ScopeKind,
} from '@gateway/contracts';
import { ACCOUNT_RECORD, admissionEntries, recordName, toRefusal } from '../admission.js';
import type { AdmissionEntry } from '../admission.js';
import { toScriptLimit, toScriptNano } from '../script-nano.js';
import { dayResetSeconds, minuteResetSeconds } from '../windows.js';
import { ADMIT } from './admit.lua.js';
import { MIRROR } from './mirror.lua.js';
import { PUT } from './put.lua.js';
import { DUE, READ, STAMP, VERSION } from './reads.lua.js';
import type { LimitScript, ScriptRunner } from './script-runner.js';

function script(name: string, lua: string): LimitScript {
  return { name, sha: createHash('sha1').update(lua).digest('hex'), lua };
}

/** The scripts, for a client that loads them ahead. */
export const LIMIT_SCRIPTS = {
  admit: script('admit', ADMIT),
  put: script('put', PUT),
  mirror: script('mirror', MIRROR),
  stamp: script('stamp', STAMP),
  version: script('version', VERSION),
  read: script('read', READ),
  due: script('due', DUE),
} as const;

const ACTIONS = { renew: 'r', settle: 'u', cancel: 'x' } as const;

export interface RedisLimitStoreOptions {
  runner: ScriptRunner;
  /** Jitter of Retry-After when Redis is away. */
  random: Random;
  /** Milliseconds that replace Redis TIME. Only for tests that need a fixed clock. */
  testNow?: () => number;
}

/** Admission over Redis: one script call per operation, atomic; all keys of an account share a hash tag. */
export class RedisLimitStore extends LimitStore {
  private readonly runner: ScriptRunner;
  private readonly random: Random;
  private readonly testNow: (() => number) | undefined;
  private readonly compiled = new WeakMap<readonly AdmissionEntry['name'][] | object, CompiledEntries>();

  constructor(options: RedisLimitStoreOptions) {
    super();
    this.runner = options.runner;
    this.random = options.random;
    this.testNow = options.testNow;
  }

  async admit(request: AdmitRequest): Promise<AdmitResult> {
    const tag = `{${request.accountId}}`;
    const compiled = this.compile(request, tag);
    const answer = await this.run(LIMIT_SCRIPTS.admit, compiled.keys, [
      request.unit,
      doubles([
        request.accountVersion,
        toScriptLimit(request.creditLimitNano),
        toScriptNano(request.reservationNano),
        request.tokenEstimate,
        request.leaseMs,
      ]),
      compiled.limits,
      compiled.names,
    ]);
    return decodeAdmit(answer, compiled.entries, request.accountId);
  }

  async put(units: PutUnit[]): Promise<void> {
    const byAccount = new Map<string, PutUnit[]>();
    for (const unit of units) {
      const list = byAccount.get(unit.accountId);
      if (list) list.push(unit);
      else byAccount.set(unit.accountId, [unit]);
    }
    await Promise.all([...byAccount].map(([accountId, list]) => this.putAccount(accountId, list)));
  }

  private async putAccount(accountId: string, units: PutUnit[]): Promise<void> {
    const numbers = units.flatMap((unit) => [toScriptNano(unit.nano), unit.tokens, unit.leaseMs]);
    const names = units.flatMap((unit) => [
      ACTIONS[unit.action],
      unit.unit,
      [...unit.scopes.map(recordName), ACCOUNT_RECORD].join('\n'),
    ]);
    await this.run(LIMIT_SCRIPTS.put, accountKeys(accountId), [doubles(numbers), ...names]);
  }

  async mirror(request: MirrorRequest): Promise<void> {
    const names = [...request.scopes.map(recordName), ACCOUNT_RECORD];
    const posted = [...request.scopes.map((scope) => scope.postedNano), request.balanceNano];
    await this.run(LIMIT_SCRIPTS.mirror, accountKeys(request.accountId), [
      request.gen ?? '',
      String(request.version),
      String(names.length),
      doubles(posted.map(toScriptNano)),
      ...names,
      ...request.units.flatMap((unit) => [unit.crash ? '1' : '0', unit.unit]),
    ]);
  }

  async stamp(accountId: string, version: number, gen: string | null): Promise<void> {
    await this.run(LIMIT_SCRIPTS.stamp, accountKeys(accountId), [gen ?? '', String(version)]);
  }

  async version(accountId: string): Promise<number | null> {
    const answer = await this.run(LIMIT_SCRIPTS.version, accountKeys(accountId), []);
    return answer === '' ? null : Number(answer);
  }

  async read(accountId: string, scopes: { kind: ScopeKind; id: string }[]): Promise<AccountState> {
    const names = [...scopes.map(recordName), ACCOUNT_RECORD];
    const answer = await this.run(LIMIT_SCRIPTS.read, accountKeys(accountId), names);
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
      return { kind, id, nano: BigInt(nano), version: Number(version) };
    });
    return {
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

  /** The connection belongs to who made the runner. */
  async close(): Promise<void> {}

  private async run(which: LimitScript, keys: string[], args: (string | Buffer)[]): Promise<string> {
    try {
      const node = this.runner.runId(keys[0]).slice(0, 16);
      const clock = this.testNow === undefined ? '' : String(this.testNow());
      const answer = await this.runner.run(which, keys, [node, clock, ...args]);
      return typeof answer === 'string' ? answer : (answer?.toString('latin1') ?? '');
    } catch (cause) {
      const retryAfterSeconds = 1 + Math.floor(this.random.fraction() * 5);
      throw new ApiError('service_unavailable', { retryAfterSeconds, shouldRetry: true, cause });
    }
  }

  /** Packed limits of a principal are made once: `scopes` is the same array for every request of it. */
  private compile(request: AdmitRequest, tag: string): CompiledEntries {
    if (request.extra.length > 0) return compileEntries(request, tag);
    let compiled = this.compiled.get(request.scopes);
    if (compiled === undefined || compiled.tag !== tag) {
      compiled = compileEntries(request, tag);
      this.compiled.set(request.scopes, compiled);
    }
    return compiled;
  }
}

interface CompiledEntries {
  tag: string;
  entries: AdmissionEntry[];
  keys: string[];
  limits: Buffer;
  names: string;
}

function compileEntries(request: AdmitRequest, tag: string): CompiledEntries {
  const entries = admissionEntries(request);
  const names = [...entries.map((entry) => entry.name), ACCOUNT_RECORD];
  const keys = [`acct:${tag}`, ...names.map((name) => `scope:${tag}:${name}`), `units:${tag}`, `due:${tag}`];
  const limits = doubles(entries.flatMap((entry) => [entry.rpm, entry.rpd, entry.tpm, entry.cap]));
  return { tag, entries, keys, limits, names: names.join('\n') };
}

function accountKeys(accountId: string): string[] {
  return [`acct:{${accountId}}`, `units:{${accountId}}`, `due:{${accountId}}`];
}

function doubles(values: number[]): Buffer {
  const buffer = Buffer.allocUnsafe(8 * values.length);
  for (let index = 0; index < values.length; index += 1) buffer.writeDoubleLE(values[index], 8 * index);
  return buffer;
}

const METRICS: readonly string[] = ['rpm', 'rpd', 'tpm', 'spend_cap', 'balance'] satisfies LimitMetric[];

function isMetric(text: string): text is LimitMetric {
  return METRICS.includes(text);
}

function decodeAdmit(answer: string, entries: AdmissionEntry[], accountId: string): AdmitResult {
  const [outcome, ...words] = answer.split(' ');
  switch (outcome) {
    case 'ok': {
      const counters = [];
      for (let index = 0; index < entries.length; index += 1) {
        const { kind, id, counter } = entries[index];
        if (counter !== null) continue;
        const at = 2 + 3 * index;
        counters.push({
          kind,
          id,
          rpm: Number(words[at]),
          rpd: Number(words[at + 1]),
          tpm: Number(words[at + 2]),
        });
      }
      const [seconds, minute] = words;
      const left = words.slice(2 + 3 * entries.length);
      return { outcome, counters, minuteResetSeconds: Number(seconds), minute: Number(minute), left };
    }
    case 'stale':
    case 'missing':
      return { outcome, gen: words[0] };
    case 'gone':
      return { outcome };
    case 'refused': {
      const [index, metric, current, limit, seconds, reservationsOnly] = words;
      if (!isMetric(metric)) break;
      const violation = {
        entry: index === '0' ? null : entries[Number(index) - 1],
        metric,
        current: Number(current),
        limit: Number(limit),
        resetsInSeconds: seconds === '-' ? null : Number(seconds),
        reservationsOnly: reservationsOnly === '1',
      };
      return { outcome, refusal: toRefusal(violation, accountId) };
    }
  }
  throw new Error('the admit script answered an unknown line');
}
