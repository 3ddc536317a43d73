import type { MessagePort } from 'node:worker_threads';
import type { Clock } from '@gateway/contracts';
import type { JournalAlarm } from './alarm.js';
import type { Position } from './segment-writer.js';
import { Shipper, type ShipperOptions } from './shipper.js';
import type { ShipperEvents, ShipperHandle, ShipperStats, ShipSource } from './shipper-handle.js';

type Port = Pick<MessagePort, 'postMessage' | 'on'>;

/** To the worker. */
export type ShipperOrder =
  | { kind: 'source'; source: ShipSource }
  | { kind: 'synced'; position: Position }
  | { kind: 'drain'; id: number; deadlineMs: number }
  | { kind: 'stop'; id: number };

/** From the worker. */
export type ShipperReport =
  | { kind: 'shipped'; producer: string; epoch: string; seq: number }
  | { kind: 'watermark'; producer: string; epoch: string; seq: number }
  | { kind: 'alarm'; alarm: JournalAlarm }
  | { kind: 'stats'; stats: ShipperStats }
  | { kind: 'done'; id: number; left: number };

const STATS_MS = 1_000;
const SYNCED_MS = 50;

/** In the worker: builds the shipper, obeys the port, reports to it. Resolves after `stop`. */
export function serveShipper(port: Port, options: Omit<ShipperOptions, 'events'>): Promise<void> {
  const report = (message: ShipperReport): void => port.postMessage(message);
  const shipper = new Shipper({
    ...options,
    events: {
      shipped: (producer, epoch, seq) => report({ kind: 'shipped', producer, epoch, seq }),
      watermark: (producer, epoch, seq) => report({ kind: 'watermark', producer, epoch, seq }),
      alarm: (alarm) => report({ kind: 'alarm', alarm }),
    },
  });
  const stopped = new AbortController();
  const obey = async (order: ShipperOrder): Promise<void> => {
    switch (order.kind) {
      case 'source':
        return shipper.addSource(order.source);
      case 'synced':
        return shipper.synced(order.position);
      case 'drain':
        return report({ kind: 'done', id: order.id, left: await shipper.drain(order.deadlineMs) });
      case 'stop':
        await shipper.stop();
        stopped.abort();
        report({ kind: 'stats', stats: shipper.stats() });
        return report({ kind: 'done', id: order.id, left: shipper.stats().backlog });
    }
  };
  shipper.start();
  void reportStats(shipper, { clock: options.clock, signal: stopped.signal, report });
  return new Promise((resolve, reject) => {
    port.on('message', (order: ShipperOrder) => {
      obey(order).then(() => {
        if (order.kind === 'stop') resolve();
      }, reject);
    });
  });
}

async function reportStats(
  shipper: Shipper,
  to: { clock: Clock; signal: AbortSignal; report(message: ShipperReport): void },
): Promise<void> {
  while (!to.signal.aborted) {
    await to.clock.sleep(STATS_MS, to.signal).catch(() => undefined);
    if (!to.signal.aborted) to.report({ kind: 'stats', stats: shipper.stats() });
  }
}

/** In the main thread: the same handle as a Shipper, over a port. Give it to Journal.follow. */
export class ShipperThread implements ShipperHandle {
  private readonly port: Port;
  private readonly clock: Clock;
  private readonly waiting = new Map<number, (left: number) => void>();
  private lastId = 0;
  private newest: Position | null = null;
  private known: ShipperStats = {
    sources: [],
    backlog: 0,
    unapplied: 0,
    lagMs: 0,
    records: 0,
    batches: 0,
    retries: 0,
    reshipments: 0,
    watermarkFailures: 0,
  };

  constructor(port: Port, clock: Clock, events: ShipperEvents) {
    this.port = port;
    this.clock = clock;
    port.on('message', (report: ShipperReport) => this.hear(report, events));
  }

  addSource(source: ShipSource): void {
    this.order({ kind: 'source', source });
  }

  /** At most one message in 50 ms: what is synced meanwhile ships as one batch, which costs broker and ledger far less. */
  synced(position: Position): void {
    const isDue = this.newest !== null;
    this.newest = position;
    if (!isDue) this.clock.setTimer(SYNCED_MS, () => this.tell());
  }

  drain(deadlineMs: number): Promise<number> {
    this.tell();
    return this.ask((id) => ({ kind: 'drain', id, deadlineMs }));
  }

  async stop(): Promise<void> {
    await this.ask((id) => ({ kind: 'stop', id }));
  }

  /** As of the last second. */
  stats(): ShipperStats {
    return this.known;
  }

  private tell(): void {
    if (this.newest !== null) this.order({ kind: 'synced', position: this.newest });
    this.newest = null;
  }

  private ask(make: (id: number) => ShipperOrder): Promise<number> {
    this.lastId += 1;
    const id = this.lastId;
    return new Promise((resolve) => {
      this.waiting.set(id, resolve);
      this.order(make(id));
    });
  }

  private order(order: ShipperOrder): void {
    this.port.postMessage(order);
  }

  private hear(report: ShipperReport, events: ShipperEvents): void {
    switch (report.kind) {
      case 'shipped':
        return events.shipped(report.producer, report.epoch, report.seq);
      case 'watermark':
        return events.watermark(report.producer, report.epoch, report.seq);
      case 'alarm':
        return events.alarm(report.alarm);
      case 'stats':
        this.known = report.stats;
        return;
      case 'done':
        this.waiting.get(report.id)?.(report.left);
        this.waiting.delete(report.id);
    }
  }
}
