import type { Clock, Timer } from '@gateway/contracts';
import type { Answered, LimitScript, PreparedScript, ScriptPipe } from '@gateway/limits';
import type { Command, Redis } from 'ioredis';
import { ScriptText } from './script-text.js';

export interface RedisPipeOptions {
  client: Redis;
  clock: Clock;
  /** Time of a call to answer, where the node was not seen to need more. */
  timeoutMs: number;
  /** The breaker opens, or closes again. */
  onBreaker?: (state: 'open' | 'closed') => void;
}

const RUN_ID_TIMEOUT_MS = 1_000;
/** A timer that fires later than this shows that this process was busy, not that Redis was. */
const LATE_MS = 10;
/** A call has so many times the time of the slowest of the latest answers. */
const PATIENCE = 4;
/** The most that a call has, unless `timeoutMs` is more. */
const LONGEST_MS = 500;
/** A fast answer takes this part of the distance off the time that is counted as slow: some 100 of them forget it. */
const FORGETS = 1 / 32;
/** A node that answers nothing for so long hangs; before that it may only wait for a processor. */
const HANGS_MS = 250;
/** Number of timeouts within a window that opens the breaker. */
const TIMEOUTS = 5;
const WINDOW_MS = 1_000;
const PROBE_MS = 250;
/** Probes without an answer after which the connection is made anew: its other end may be gone without notice. */
const PROBES_PER_CONNECTION = 8;
const TIMED_OUT = 'Command timed out';

/**
 * Scripts to one node over one ioredis connection: one object and one callback a call, the command as text, one write for
 * each tick of the event loop, one timer for all. The client must be made with `enableOfflineQueue: false` and
 * `autoResendUnfulfilledCommands: false`: a call that waits or is sent again by the client would carry the run id of
 * another connection.
 *
 * The time of a call begins with the end of its tick. A tick that kept the event loop longer than that makes the timer
 * fire before the sockets are read; so what has arrived by then is read first, and counts, and calls get their time once
 * more. Without this one body of 30 MB, whose parsing takes 100 ms, fails most admissions that wait beside it.
 *
 * A slow node is not one that hangs: answers that come late give later calls more time, as TCP does, so that a busy
 * machine makes answers slow and refuses none.
 *
 * After 5 timeouts within a second every call fails without being sent, until a probe is answered. They count once the
 * node has answered nothing for 250 ms, or takes longer than any call may. A node that refuses connections needs no
 * breaker: its calls fail at once anyway.
 */
export class RedisPipe implements ScriptPipe {
  private node: string | null = null;
  /** Calls in the order in which they are due; those before `first` are done. */
  private calls: PipedCall[] = [];
  private first = 0;
  /** Index of the first call of this tick. */
  private tickStart = 0;
  private isTickOpen = false;
  private isArmed = false;
  private timeouts: number[] = [];
  private readonly longestMs: number;
  /** Time of the slowest of the latest answers. */
  private slowMs = 0;
  /** Time at which the first call was sent that was given up since the latest answer. */
  private silentSinceMs: number | null = null;
  private probing: Timer | null = null;
  private unanswered = 0;
  private isClosed = false;

  constructor(private readonly options: RedisPipeOptions) {
    const { client, timeoutMs } = options;
    this.longestMs = Math.max(timeoutMs, LONGEST_MS);
    client.on('ready', () => void this.readRunId());
    client.on('close', () => (this.node = null));
    if (client.status === 'ready') void this.readRunId();
  }

  prepare(script: LimitScript, keys: readonly string[], last: readonly string[]): ScriptText {
    return new ScriptText(script, keys, last);
  }

  nodeOf(): string | null {
    return this.probing === null ? this.node : null;
  }

  hashSlotOf(): number {
    return 0;
  }

  send(prepared: PreparedScript, args: readonly string[], answered: Answered): void {
    if (!(prepared instanceof ScriptText)) throw new TypeError('a script of another pipe');
    if (this.nodeOf() === null) return answered(new Error('Redis is not asked.'), NO_ANSWER);
    const call = new PipedCall(prepared.with(args), prepared.script, answered, this.owner);
    this.write(call);
    this.calls.push(call);
  }

  /** Stops probing. */
  close(): void {
    this.isClosed = true;
    this.probing?.cancel();
  }

  /** Writes the calls of one tick in one write: each write costs more than most of a request. */
  private write(call: PipedCall): void {
    const { client } = this.options;
    if (!this.isTickOpen) {
      this.isTickOpen = true;
      const { stream } = client;
      stream?.cork();
      setImmediate(() => {
        stream?.uncork();
        this.endTick();
      });
    }
    // It has the members of a command that the client reads, without its promise and its arguments.
    void client.sendCommand(call as unknown as Command);
  }

  private endTick(): void {
    this.isTickOpen = false;
    const now = this.options.clock.monotonic();
    const limitMs = this.limitMs();
    for (; this.tickStart < this.calls.length; this.tickStart += 1)
      this.calls[this.tickStart].sentAt(now, limitMs);
    if (!this.isArmed && this.passDone()) this.arm(limitMs);
  }

  /** Time of a call that is sent now. */
  private limitMs(): number {
    return Math.min(this.longestMs, Math.max(this.options.timeoutMs, PATIENCE * this.slowMs));
  }

  private arm(delayMs: number): void {
    this.isArmed = true;
    this.options.clock.setTimer(delayMs, () => this.look());
  }

  /** Looks at the calls in the order of the node's answers: one that is due before an earlier one waits for that. */
  private look(): void {
    const now = this.options.clock.monotonic();
    const from = this.first;
    const until = this.tickStart;
    for (let index = from; index < until; index += 1) {
      const call = this.calls[index];
      if (call.dueMs > now) break;
      this.first = index + 1;
      if (call.isDone) continue;
      if (call.isProlonged || now - call.dueMs < LATE_MS) this.giveUp(call);
      else this.prolong(call, now);
    }
    this.isArmed = false;
    if (this.passDone() && this.first < this.tickStart)
      this.arm(Math.max(1, this.calls[this.first].dueMs - now));
  }

  /** Node runs timers, then reads sockets, then runs immediates: an answer that is there wins. */
  private giveUp(call: PipedCall): void {
    setImmediate(() => {
      if (call.isDone) return;
      if (!call.isProlonged) this.countTimeout(call);
      call.fail(new Error(TIMED_OUT));
    });
  }

  /** Moves the deadline before the calls of this tick, which are due later. */
  private prolong(call: PipedCall, now: number): void {
    call.isProlonged = true;
    call.dueMs = now + call.limitMs;
    this.calls.splice(this.tickStart, 0, call);
    this.tickStart += 1;
  }

  /** Forgets calls that are done; whether others wait. */
  private passDone(): boolean {
    while (this.first < this.tickStart && this.calls[this.first].isDone) this.first += 1;
    if (this.first > 0) {
      this.calls.splice(0, this.first);
      this.tickStart -= this.first;
      this.first = 0;
    }
    return this.calls.length > 0;
  }

  private readonly owner: CallOwner = {
    heard: (call) => {
      this.silentSinceMs = null;
      const tripMs = Math.max(0, this.options.clock.monotonic() - call.sentMs);
      const more = tripMs - this.slowMs;
      this.slowMs += more > 0 ? more : more * FORGETS;
    },
    repeat: (call, { lua }) => {
      this.options.client.script('LOAD', lua).catch(() => undefined);
      this.write(call);
    },
  };

  private countTimeout({ sentMs, limitMs }: PipedCall): void {
    const now = this.options.clock.monotonic();
    this.silentSinceMs ??= sentMs;
    if (now - this.silentSinceMs < HANGS_MS && limitMs < this.longestMs) return;
    // Calls that come one after the other need that long.
    const windowMs = Math.max(WINDOW_MS, TIMEOUTS * limitMs);
    this.timeouts = [...this.timeouts.filter((at) => at > now - windowMs), now];
    if (this.timeouts.length < TIMEOUTS || this.probing !== null || this.isClosed) return;
    this.timeouts = [];
    this.scheduleProbe();
    this.options.onBreaker?.('open');
  }

  private scheduleProbe(): void {
    const { client, clock, onBreaker } = this.options;
    this.probing = clock.setTimer(PROBE_MS, () => {
      inTime(client.ping(), this.limitMs(), clock).then(
        () => {
          this.probing = null;
          this.unanswered = 0;
          onBreaker?.('closed');
        },
        () => {
          if (this.isClosed) return;
          this.unanswered += 1;
          if (this.unanswered % PROBES_PER_CONNECTION === 0) client.disconnect(true);
          this.scheduleProbe();
        },
      );
    });
  }

  private async readRunId(): Promise<void> {
    const { client, clock } = this.options;
    const connection = client.stream;
    try {
      const info = await inTime(client.info('server'), RUN_ID_TIMEOUT_MS, clock);
      const runId = /^run_id:([0-9a-f]{40})/m.exec(info)?.[1];
      // The connection may have gone while the answer was on its way: the next one reads its own.
      if (client.stream === connection && client.status === 'ready') this.node = runId?.slice(0, 16) ?? null;
    } catch {
      // Without the run id every call fails as if Redis were unavailable; a connection that cannot answer INFO is dropped.
      client.disconnect(true);
    }
  }
}

const NO_ANSWER = Buffer.alloc(0);
const NO_ARGS: readonly string[] = [];

interface CallOwner {
  /** The node answered the call, in time or later. */
  heard(call: PipedCall): void;
  /** A node that has not seen the script gets it, and the call once more behind it. */
  repeat(call: PipedCall, script: LimitScript): void;
}

/** One call, with the members of an ioredis Command that the client and its parser use. */
class PipedCall {
  readonly name = 'evalsha';
  readonly args = NO_ARGS;
  readonly promise = undefined;
  /** Monotonic time of the end of its tick. */
  sentMs = Infinity;
  limitMs = Infinity;
  dueMs = Infinity;
  isProlonged = false;
  isDone = false;
  private isRepeated = false;

  constructor(
    private text: string,
    private readonly script: LimitScript,
    private readonly answered: Answered,
    private readonly owner: CallOwner,
  ) {}

  sentAt(now: number, limitMs: number): void {
    this.sentMs = now;
    this.limitMs = limitMs;
    this.dueMs = now + limitMs;
  }

  setReplyContext(): void {}

  toWritable(): Buffer {
    return Buffer.from(this.text, 'latin1');
  }

  resolve(answer: unknown): void {
    this.owner.heard(this);
    if (this.isDone) return;
    if (!Buffer.isBuffer(answer))
      return this.fail(new Error('a script answered something other than a string'));
    this.done();
    this.answered(null, answer);
  }

  reject(failure: Error): void {
    if (this.isDone) return;
    if (this.isRepeated || !failure.message.startsWith('NOSCRIPT')) return this.fail(failure);
    this.isRepeated = true;
    this.owner.repeat(this, this.script);
  }

  fail(failure: Error): void {
    if (this.isDone) return;
    this.done();
    this.answered(failure, NO_ANSWER);
  }

  /** It stays in the queue until its time is over: what it held must not. */
  private done(): void {
    this.isDone = true;
    this.text = '';
  }
}

function inTime<T>(answer: Promise<T>, ms: number, clock: Clock): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimer(ms, () => reject(new Error(TIMED_OUT)));
    answer.then(resolve, reject).finally(() => timer.cancel());
  });
}
