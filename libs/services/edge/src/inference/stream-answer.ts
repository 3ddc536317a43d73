import type { ApiError, UpstreamError, Clock } from '@gateway/contracts';
import type { EditedFrame, StreamEncoder } from '@gateway/dialects';
import type { Disconnect } from '@gateway/money';
import type { Deadline, Deadlines } from '@gateway/platform';
import { TransportFailure } from '@gateway/providers';
import { attemptsFailed, type Breakers } from '@gateway/routing';
import { note, type Committed } from '../upstream/attempt.js';
import type { ProviderAlarms } from '../upstream/provider-alarms.js';
import type { Unit, UnitEnd } from '../units/unit.js';
import type { Client } from './client.js';
import { drained } from './drained.js';

export const SSE_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const;

export interface StreamDeps {
  clock: Clock;
  deadlines: Deadlines;
  breakers: Breakers;
  alarms: ProviderAlarms;
  keepAliveMs: number;
  /** Aborted when a drain's grace is over. */
  drainDeadline: AbortSignal;
}

/** How long an upstream may take to close a stream that is over. */
const UPSTREAM_CLOSE_MS = 1_000;

type StreamCommitted = Extract<Committed, { kind: 'stream' }>;

/** Sends a comment or ping into a silence. One per stream, before its first event and after. */
export class KeepAlive {
  private deadline: Deadline | null = null;
  private isStopped = false;

  constructor(
    private readonly client: Client,
    private readonly deps: Pick<StreamDeps, 'deadlines' | 'keepAliveMs'>,
    private readonly frame: () => string,
  ) {
    this.arm();
  }

  /** Bytes went out: the silence starts anew. */
  arm(): void {
    this.deadline?.cancel();
    if (this.isStopped) return;
    this.deadline = this.deps.deadlines.set(this.deps.keepAliveMs, () => {
      if (!this.client.isGone && !this.client.raw.writableNeedDrain) this.client.raw.write(this.frame());
      this.arm();
    });
  }

  stop(): void {
    this.isStopped = true;
    this.deadline?.cancel();
  }
}

/** Passes a committed stream on to the caller, to its end, error or disconnect, and finishes the unit exactly once. */
export class StreamAnswer {
  private isWhole = false;

  constructor(
    private readonly unit: Unit,
    private readonly committed: StreamCommitted,
    private readonly client: Client,
    private readonly encoder: StreamEncoder,
    private readonly keepAlive: KeepAlive,
    private readonly deps: StreamDeps,
  ) {}

  async run(): Promise<void> {
    const { first, source, rest } = this.committed;
    try {
      let isOver = await this.pass(first);
      while (!isOver) {
        const chunk = await rest.next();
        isOver = await this.pass(chunk.done === true ? source.end() : source.push(chunk.value));
        if (!isOver && chunk.done === true) throw new TypeError('a decoder ended without end or error');
      }
    } catch (error) {
      if (!(error instanceof TransportFailure)) throw error;
      await this.broke(error);
    } finally {
      this.keepAlive.stop();
      // An upstream that has said its last word may close its answer itself: its connection can then be used again.
      if (this.isWhole) this.deps.deadlines.set(UPSTREAM_CLOSE_MS, () => void rest.return?.());
      else void rest.return?.();
      this.client.end();
    }
  }

  /** True once the stream is over. Everything that came together leaves in one write. */
  private async pass(frames: EditedFrame[]): Promise<boolean> {
    const { meter, planned } = this.committed.attempt;
    // Set before anything is awaited: the caller may leave during the write.
    this.client.finishSeen = meter.finishSeen;
    let text = '';
    for (const { frame, events } of frames) {
      for (const event of events) {
        if (event.type === 'error') {
          await this.client.write(text);
          await this.failed(
            planned.provider.classify({ kind: 'stream', failure: event.failure, byok: false }),
          );
          return true;
        }
        if (event.type === 'end') this.isWhole = true;
      }
      text += frame;
    }
    if (this.isWhole) {
      await this.end();
      await this.client.write(text);
      return true;
    }
    if (text !== '') {
      this.keepAlive.arm();
      await this.client.write(text);
    }
    return false;
  }

  /** The answer is whole: its OUTCOME is written before its last bytes leave. */
  private async end(): Promise<void> {
    if (this.client.isGone) return this.cancelled();
    await this.finish({ outcome: 'served', httpStatus: 200, errorCode: null });
  }

  private async cancelled(): Promise<void> {
    const { meter } = this.committed.attempt;
    const goneAtMs = this.client.goneAtMs ?? 0;
    const usageAfterMs = meter.usageAtMs === null ? null : Math.max(0, meter.usageAtMs - goneAtMs);
    await this.finish(
      { outcome: 'cancelled', httpStatus: 200, errorCode: null },
      { finishSeen: meter.finishSeen, usageAfterMs },
    );
  }

  private async broke(failure: TransportFailure): Promise<void> {
    if (this.client.isGone) return this.cancelled();
    if (this.deps.drainDeadline.aborted && failure.fault === 'aborted') {
      return this.failedWith(drained());
    }
    return this.failed(
      this.committed.attempt.planned.provider.classify({ kind: 'transport', failure, byok: false }),
    );
  }

  /** After the first event nothing is retried: an error frame, and no fabricated end. */
  private async failed(error: UpstreamError): Promise<void> {
    note(this.committed.attempt, error);
    this.deps.alarms.see(this.committed.attempt.planned, error, this.unit.call.requestId);
    this.deps.breakers.report(this.committed.attempt.planned.route, error);
    await this.failedWith(attemptsFailed(error, []));
  }

  private async failedWith(error: ApiError): Promise<void> {
    await this.finish({ outcome: 'failed', httpStatus: 200, errorCode: error.code });
    await this.client.write(this.encoder.error(error));
  }

  private async finish(end: UnitEnd, disconnect: Disconnect | null = null): Promise<void> {
    this.keepAlive.stop();
    this.committed.attempt.endedMs = this.deps.clock.monotonic();
    await this.unit.finish(end, disconnect);
  }
}
