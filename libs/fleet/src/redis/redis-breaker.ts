import type { Clock, Timer } from '@gateway/contracts';
import type { LimitScript, ScriptRunner } from '@gateway/limits';

export interface RedisBreakerOptions {
  runner: ScriptRunner;
  /** Asks the node for a sign of life; rejects like a command. */
  probe: () => Promise<unknown>;
  clock: Clock;
  /** The runner's own bound on a command. */
  commandTimeoutMs: number;
  /** Makes the connection anew. */
  reconnect: () => void;
  onChange?: (state: 'open' | 'closed') => void;
}

const TIMEOUTS = 5;
const WINDOW_MS = 1_000;
const PROBE_MS = 250;
/** Probes without an answer after which the connection is made anew: its other end may be gone without a word. */
const PROBES_PER_CONNECTION = 8;
/** A timeout whose timer fired later than this says that we were busy, not that Redis was. */
const LATE_MS = 10;

/**
 * In front of one node: after 5 timeouts within a second every call fails at once, until a probe is answered. A node
 * that refuses connections needs no breaker, because its calls fail at once anyway.
 */
export class RedisBreaker implements ScriptRunner {
  private timeouts: number[] = [];
  private probing: Timer | null = null;
  private isClosedDown = false;
  private unanswered = 0;

  constructor(private readonly options: RedisBreakerOptions) {}

  get isOpen(): boolean {
    return this.probing !== null;
  }

  /** Whether a call would fail without being sent. */
  isAway(key: string): boolean {
    if (this.isOpen) return true;
    try {
      this.options.runner.runId(key);
      return false;
    } catch {
      return true;
    }
  }

  runId(key: string): string {
    return this.options.runner.runId(key);
  }

  async run(script: LimitScript, keys: string[], args: (string | Buffer)[]): Promise<string | Buffer | null> {
    const { runner, clock, commandTimeoutMs } = this.options;
    if (this.isOpen) throw new Error('Redis did not answer in time lately: not asked.');
    const began = clock.monotonic();
    try {
      return await runner.run(script, keys, args);
    } catch (error) {
      const now = clock.monotonic();
      const lateMs = now - began - commandTimeoutMs;
      if (isTimeout(error) && lateMs < LATE_MS) this.count(now);
      throw error;
    }
  }

  /** Stops probing. */
  close(): void {
    this.isClosedDown = true;
    this.probing?.cancel();
  }

  private count(now: number): void {
    this.timeouts = [...this.timeouts.filter((at) => at > now - WINDOW_MS), now];
    if (this.timeouts.length < TIMEOUTS || this.isOpen || this.isClosedDown) return;
    this.timeouts = [];
    this.options.onChange?.('open');
    this.scheduleProbe();
  }

  private scheduleProbe(): void {
    this.probing = this.options.clock.setTimer(PROBE_MS, () => {
      this.options.probe().then(
        () => {
          this.probing = null;
          this.unanswered = 0;
          this.options.onChange?.('closed');
        },
        () => {
          if (this.isClosedDown) return;
          this.unanswered += 1;
          if (this.unanswered % PROBES_PER_CONNECTION === 0) this.options.reconnect();
          this.scheduleProbe();
        },
      );
    });
  }
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === 'Command timed out';
}
