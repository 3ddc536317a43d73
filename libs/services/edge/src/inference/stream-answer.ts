import { ApiError, UpstreamError, type Clock } from '@gateway/contracts';
import type { EditedFrame, ModelEvent, StreamEncoder } from '@gateway/dialects';
import type { Deadline, Deadlines } from '@gateway/platform';
import { TransportFailure } from '@gateway/providers';
import { attemptsFailed, type Breakers } from '@gateway/routing';
import { note, type Committed } from '../upstream/attempt.js';
import type { Unit, UnitEnd } from '../units/unit.js';
import type { Client } from './client.js';

export const SSE_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const;

export interface StreamDeps {
  clock: Clock;
  deadlines: Deadlines;
  breakers: Breakers;
  keepAliveMs: number;
  /** Aborted when a drain's grace is over. */
  drainDeadline: AbortSignal;
}

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
      // Not awaited: an upstream that has nothing more to say is closed at once, one that is done is done.
      void rest.return?.();
      this.client.raw.end();
    }
  }

  /** True once the stream is over. Everything that came together leaves in one write. */
  private async pass(frames: EditedFrame[]): Promise<boolean> {
    const { meter } = this.committed.attempt;
    const now = this.deps.clock.monotonic();
    let text = '';
    for (const { frame, events } of frames) {
      for (const event of events) {
        if (event.type === 'error') {
          await this.client.write(text);
          await this.failed(
            this.committed.attempt.planned.provider.classify({
              kind: 'stream',
              failure: event.failure,
              byok: false,
            }),
          );
          return true;
        }
        this.see(event, now);
      }
      text += frame;
    }
    this.client.finishSeen = meter.finishSeen;
    if (frames.some(({ events }) => events.some((event) => event.type === 'end'))) {
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

  private see(event: ModelEvent, now: number): void {
    // What a client that has gone was never sent is not billed to it, but its usage still counts.
    if (this.client.isGone && event.type !== 'usage' && event.type !== 'finish') return;
    this.committed.attempt.meter.see(event, now);
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
    this.committed.attempt.endedMs = this.deps.clock.monotonic();
    await this.unit.finish(
      { outcome: 'cancelled', httpStatus: 200, errorCode: null },
      { finishSeen: meter.finishSeen, usageAfterMs },
    );
  }

  private async broke(failure: TransportFailure): Promise<void> {
    if (this.client.isGone) return this.cancelled();
    if (this.deps.drainDeadline.aborted && failure.fault === 'aborted') {
      return this.failedWith(new ApiError('service_draining', { retryAfterSeconds: 1 }));
    }
    return this.failed(
      this.committed.attempt.planned.provider.classify({ kind: 'transport', failure, byok: false }),
    );
  }

  /** After the first event nothing is retried: an error frame, and no fabricated end. */
  private async failed(error: UpstreamError): Promise<void> {
    note(this.committed.attempt, error);
    this.deps.breakers.report(this.committed.attempt.planned.route, error);
    await this.failedWith(attemptsFailed(error, []));
  }

  private async failedWith(error: ApiError): Promise<void> {
    await this.finish({ outcome: 'failed', httpStatus: 200, errorCode: error.code });
    await this.client.write(this.encoder.error(error));
  }

  private async finish(end: UnitEnd): Promise<void> {
    this.committed.attempt.endedMs = this.deps.clock.monotonic();
    await this.unit.finish(end);
  }
}
