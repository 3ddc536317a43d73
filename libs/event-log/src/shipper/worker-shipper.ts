import { Worker, type MessagePort } from 'node:worker_threads';
import type { Clock } from '@gateway/contracts';
import {
  ShipperThread,
  type Position,
  type ShipperEvents,
  type ShipperHandle,
  type ShipperStats,
  type ShipSource,
} from '@gateway/journal';
import type { KafkaAccess } from '../kafka-client.js';

/** Plain values: they cross to the worker. */
export interface ShipperWorkerData {
  kafka: KafkaAccess;
  clientId: string;
  /** Answers wait for the brokers: the thread runs at the priority of the process. */
  isAwaited?: boolean;
}

export interface WorkerShipperOptions extends ShipperWorkerData {
  clock: Clock;
  events: ShipperEvents;
  /** Funds.watermark, asked in this thread: the worker has no HTTP client. */
  watermark: (producer: string, epoch: string) => Promise<number>;
  onFault: (error: unknown) => void;
  /** Program of the thread; only a test has another. */
  entry?: URL;
}

/**
 * A record is hardly anything in the heap and much beside it, in buffers. Where the young generation may grow, it is seldom
 * collected, the buffers wait, and V8 answers with a full collection: one a second under load.
 */
const YOUNG_GENERATION_MB = 8;
const RESTART_MS = 1_000;
const STOP_GRACE_MS = 5_000;
/** Number of finished epochs remembered, which a new worker would ship again from their watermark. */
const DEAD_SOURCES_MAX = 1_000;

/**
 * The shipper in a worker thread, so that Kafka never holds up a stream. A worker that dies is replaced after a second
 * and given every source again: it begins at the watermark, and what it ships twice is applied once.
 */
export class WorkerShipper implements ShipperHandle {
  private readonly options: WorkerShipperOptions;
  private readonly sources = new Map<string, ShipSource>();
  private newest: Position | null = null;
  private worker: Worker | null = null;
  private thread: ShipperThread | null = null;
  private isStopping = false;
  private lastStats: ShipperStats | null = null;

  constructor(options: WorkerShipperOptions) {
    this.options = options;
    this.begin();
  }

  addSource(source: ShipSource): void {
    this.sources.set(`${source.producer}/${source.epoch}`, source);
    for (const [id, { position }] of this.sources) {
      if (this.sources.size <= DEAD_SOURCES_MAX) break;
      if (position === null) this.sources.delete(id);
    }
    this.thread?.addSource(source);
  }

  mayShip(position: Position): void {
    this.newest = position;
    this.thread?.mayShip(position);
  }

  hurry(): void {
    this.thread?.hurry();
  }

  async drain(deadlineMs: number): Promise<number> {
    if (this.thread === null) return this.unshipped();
    const left = await this.within(this.thread.drain(deadlineMs), deadlineMs + STOP_GRACE_MS, null);
    return left ?? this.unshipped();
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    const { thread, worker } = this;
    this.thread = null;
    if (thread !== null) await this.within(thread.stop(), STOP_GRACE_MS, undefined);
    await worker?.terminate();
  }

  stats(): ShipperStats {
    this.lastStats = this.thread?.stats() ?? this.lastStats;
    if (this.lastStats === null) throw new TypeError('a shipper has statistics from its start on');
    return this.lastStats;
  }

  /** A dead epoch that was applied whole is nothing that another worker would have to be given. */
  private events(): ShipperEvents {
    const { events } = this.options;
    return {
      ...events,
      watermark: (producer, epoch, seq) => {
        const id = `${producer}/${epoch}`;
        const source = this.sources.get(id);
        if (source?.position === null && seq >= source.lastSeq) this.sources.delete(id);
        events.watermark(producer, epoch, seq);
      },
    };
  }

  /**
   * Returns what this thread knows of unshipped records: a worker that never ran has reported nothing, so everything is
   * left.
   */
  private unshipped(): number {
    const shipped = new Map(
      this.stats().sources.map((source) => [`${source.producer}/${source.epoch}`, source.shipped]),
    );
    let left = 0;
    for (const [id, { position, lastSeq }] of this.sources) {
      const end = position === null ? lastSeq : (this.newest ?? position).seq;
      left += Math.max(0, end - (shipped.get(id) ?? 0));
    }
    return left;
  }

  private begin(): void {
    const { clock, kafka, clientId, isAwaited, watermark } = this.options;
    const workerData: ShipperWorkerData = { kafka, clientId, isAwaited };
    const worker = new Worker(this.options.entry ?? new URL('./shipper-worker.js', import.meta.url), {
      workerData,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    });
    this.worker = worker;
    this.thread = new ShipperThread(portOf(worker), { clock, watermark, events: this.events() });
    worker.on('error', (error) => this.options.onFault(error));
    worker.on('exit', (code) => this.ended(code));
    for (const source of this.sources.values()) this.thread.addSource(source);
    if (this.newest !== null) this.thread.mayShip(this.newest);
  }

  private ended(code: number): void {
    if (this.isStopping) return;
    this.stats();
    this.thread = null;
    this.options.onFault(new Error(`The shipper's thread ended (${code}) and is started again.`));
    this.options.clock.setTimer(RESTART_MS, () => {
      if (!this.isStopping) this.begin();
    });
  }

  /** An answer that a dead worker cannot give any more must not hold up the end of the process. */
  private async within<T>(answer: Promise<T>, waitMs: number, otherwise: T): Promise<T> {
    const over = new AbortController();
    const late = this.options.clock.sleep(waitMs, over.signal).then(
      () => otherwise,
      () => otherwise,
    );
    return Promise.race([answer, late]).finally(() => over.abort());
  }
}

/** A Worker is the parent's end of its port; their overloads of `on` differ in the types alone. */
function portOf(worker: Worker): Pick<MessagePort, 'postMessage' | 'on'> {
  return worker as unknown as Pick<MessagePort, 'postMessage' | 'on'>;
}
