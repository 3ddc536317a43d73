import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock, LogRecord, Random, Timer } from '@gateway/contracts';
import type { JournalAlarm } from './alarm.js';
import { type Disk, nodeDisk } from './disk.js';
import { Journal } from './journal.js';
import type { JournalOptions } from './journal-options.js';
import type { CrashRecord, Intent, OutcomeValues, SyncedOutcome } from './records.js';
import type { ShipperEvents } from './shipper-handle.js';

/** Ends a test that would wait for ever. A slow disk takes 20,000 turns to remove forty segments. */
const TURNS_MAX = 1_000_000;

/** A clock that the test moves; its wall part may step without the monotonic one. */
export class TestClock implements Clock {
  wall = 1_790_000_000_000;
  private mono = 0;
  private timers: { at: number; run: () => void }[] = [];

  now(): number {
    return this.wall;
  }

  monotonic(): number {
    return this.mono;
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    const timer = { at: this.mono + delayMs, run: callback };
    this.timers.push(timer);
    return { cancel: () => void (this.timers = this.timers.filter((other) => other !== timer)) };
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        timer.cancel();
        reject(new Error('aborted'));
      };
      const timer = this.setTimer(delayMs, () => {
        signal?.removeEventListener('abort', abort);
        resolve();
      });
      signal?.addEventListener('abort', abort);
    });
  }

  advance(ms: number): void {
    this.mono += ms;
    this.wall += ms;
    const due = this.timers.filter((timer) => timer.at <= this.mono);
    this.timers = this.timers.filter((timer) => timer.at > this.mono);
    for (const timer of due) timer.run();
  }

  /** Moves on by `stepMs` until the condition holds, with real input and output done in between. */
  async until(isTrue: () => boolean, stepMs = 0): Promise<void> {
    for (let turns = 0; !isTrue(); turns += 1) {
      if (turns > TURNS_MAX) throw new Error('The condition never came true.');
      this.advance(stepMs);
      await ioTick();
    }
  }
}

/** Lets the file operations under way finish: each passes through the same queue of threads. */
export async function ioTick(): Promise<void> {
  await Promise.all([stat('.'), stat('.'), stat('.'), stat('.')]);
  await new Promise((resolve) => setImmediate(resolve));
}

/** Repeats for a seed (mulberry32). */
export function seededRandom(seed: number): Random {
  let state = seed;
  const fraction = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return { fraction, bytes: (size) => Uint8Array.from({ length: size }, () => Math.floor(fraction() * 256)) };
}

let seeds = 0;

export interface Bench {
  journal: Journal;
  clock: TestClock;
  alarms: JournalAlarm[];
  settled: SyncedOutcome[];
}

export async function openJournal(dir: string, options: Partial<JournalOptions> = {}): Promise<Bench> {
  const clock = new TestClock();
  const alarms: JournalAlarm[] = [];
  const settled: SyncedOutcome[] = [];
  seeds += 1;
  const journal = await Journal.open({
    dir,
    producer: 'edge-0',
    clock,
    random: seededRandom(seeds),
    sync: 'group',
    budgetBytes: 1024 * 1024 * 1024,
    onAlarm: (alarm) => void alarms.push(alarm),
    onSynced: (outcomes) => void settled.push(...outcomes),
    ...options,
  });
  return { journal, clock, alarms, settled };
}

/** Leaves a journal as kill -9 does, except that its socket must go: this process lives on. */
export async function abandon(journal: Journal): Promise<void> {
  journal.flush();
  const held = journal as unknown as {
    owner: { release(): Promise<void> };
    recovery: { release(): Promise<void> };
  };
  await held.owner.release();
  await held.recovery.release();
}

/** All that the journal would put again, in its order. */
export async function unpostedOf(journal: Journal): Promise<SyncedOutcome[]> {
  const found: SyncedOutcome[] = [];
  for await (const outcomes of journal.unposted()) found.push(...outcomes);
  return found;
}

export async function withFolder(use: (dir: string) => Promise<void>): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'journal-'));
  try {
    await use(dir);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** nodeDisk, except for what a test makes fail. */
export function faultyDisk(faults: Partial<Disk>): Disk {
  return { ...nodeDisk, ...faults };
}

export function usage(n: number): CrashRecord {
  return {
    id: `use_${n}`,
    request_id: `req_${n}`,
    unit: 0,
    account_id: `acct_${n % 3}`,
    org_id: null,
    team_id: null,
    member_id: 'user_1',
    key_id: 'key_1',
    endpoint: '/v1/chat/completions',
    model: 'acme/tiny',
    requested_model: 'acme/tiny',
    provider: 'acme',
    status: 'success',
    outcome: 'served',
    http_status: 200,
    error_code: null,
    stream: false,
    usage: {},
    usage_estimated: false,
    priced_from: null,
    cost_usd: '0.000125',
    list_cost_usd: '0.000125',
    attempts: [],
    latency_ms: 12,
    ttft_ms: null,
    created_at: '2026-09-21T14:13:20.000Z',
    routing_fallback: false,
    byok_used: false,
    cache_hit: false,
    request_tags: { note: 'quote " and ,"value": inside, ünïcode \u2028' },
    end_user_hash: null,
    api_version: '2026-01-01',
    limits: [],
  };
}

export function rejection(n: number): OutcomeValues['gateway.rejections.v1'] {
  return {
    request_id: `req_${n}`,
    created_at: '2026-09-21T14:13:20.000Z',
    account_id: 'acct_1',
    org_id: null,
    team_id: null,
    member_id: 'user_1',
    key_id: 'key_1',
    endpoint: '/v1/chat/completions',
    model: null,
    requested_model: null,
    http_status: 429,
    code: 'rate_limit_exceeded',
    message: 'Too many requests.',
    scope: 'key',
    scope_id: 'key_1',
    limit_type: 'rpm',
    cap_usd: null,
    spent_usd: null,
    count: 1,
    request_tags: {},
  };
}

export function intentFor(n: number): Intent {
  const facts = usage(n);
  return { unit: `req_${n}/0`, accountId: facts.account_id, facts };
}

export function crashRecord({ facts }: Intent): CrashRecord {
  const closed = {
    status: 'error',
    outcome: 'failed',
    http_status: 500,
    error_code: 'gateway_crash',
  } as const;
  return { ...usage(0), ...facts, ...closed, cost_usd: null, list_cost_usd: null, provider: null };
}

export interface Landed {
  topic: string;
  key: string;
  producer: string;
  epoch: string;
  seq: number;
  requestId: string;
  code: string | null;
}

/** An event log with a consumer behind it that applies what arrives and knows the watermark. */
export class TestLedger {
  readonly landed: Landed[] = [];
  readonly sizes: number[] = [];
  /** Number of copies that the log makes of an acknowledged record: 1 = store, 0 = lose, more = duplicate. */
  copies: (record: LogRecord) => number = () => 1;
  refuse: () => boolean = () => false;
  private readonly applied = new Map<string, Set<number>>();

  append = async (topic: string, records: LogRecord[]): Promise<void> => {
    if (this.refuse()) throw new Error('The event log is away.');
    this.sizes.push(records.length);
    for (const record of records) {
      for (let left = this.copies(record); left > 0; left -= 1) this.land(topic, record);
    }
  };

  watermark = async (producer: string, epoch: string): Promise<number> => {
    const seqs = this.applied.get(`${producer}/${epoch}`);
    let mark = 0;
    while (seqs?.has(mark + 1)) mark += 1;
    return mark;
  };

  /** First arrivals only. */
  unique(): Landed[] {
    const seen = new Set<string>();
    return this.landed.filter(({ producer, epoch, seq }) => {
      const id = `${producer}/${epoch}/${seq}`;
      return !seen.has(id) && seen.add(id);
    });
  }

  private land(topic: string, { key, value }: LogRecord): void {
    const { data } = JSON.parse(value) as { data: Record<string, string> & { seq: number } };
    const { producer, epoch, seq } = data;
    this.landed.push({
      topic,
      key,
      producer,
      epoch,
      seq,
      requestId: data.request_id,
      code: data.error_code ?? null,
    });
    const id = `${producer}/${epoch}`;
    this.applied.set(id, (this.applied.get(id) ?? new Set()).add(seq));
  }
}

export function eventsInto(journal: () => Journal, alarms: JournalAlarm[]): ShipperEvents {
  return {
    shipped: (_producer, epoch, seq) => journal().shipped(epoch, seq),
    watermark: (producer, epoch, seq) => void journal().passed(producer, epoch, seq),
    alarm: (alarm) => void alarms.push(alarm),
  };
}
