import type { MessagePort } from 'node:worker_threads';
import type { Clock } from '@gateway/contracts';
import type { JournalAlarm } from './alarm.js';
import type { Position } from './segment-writer.js';
import { Shipper, type ShipperOptions } from './shipper.js';
import type { ShipperEvents, ShipperHandle, ShipperStats, ShipSource } from './shipper-handle.js';

type Port = Pick<MessagePort, 'postMessage' | 'on'>;

/** Orders to the worker. */
export type ShipperOrder =
  | { kind: 'source'; source: ShipSource }
  | { kind: 'may_ship'; position: Position }
  /** Null: the ledger did not answer. */
  | { kind: 'watermark'; id: number; seq: number | null }
  | { kind: 'drain'; id: number; deadlineMs: number }
  | { kind: 'stop'; id: number };

/** Reports from the worker. */
export type ShipperReport =
  | { kind: 'watermark' | 'shipped'; producer: string; epoch: string; seq: number }
  /** Asks for the watermark of an epoch. */
  | { kind: 'ask'; id: number; producer: string; epoch: string }
  | { kind: 'alarm'; alarm: JournalAlarm }
  | { kind: 'stats'; stats: ShipperStats }
  | { kind: 'done'; id: number; left: number };

const STATS_MS = 1_000;
const GAP_MS = 50;
/** A message, its shipment and its batch cost the same for one record and for many: under load they carry more. */
const BUSY_GAP_MS = 200;
const BUSY_RECORDS_PER_MS = 0.5;

/** Builds the shipper in the worker, obeys the port and reports to it. Resolves after `stop`. */
export function serveShipper(
  port: Port,
  options: Omit<ShipperOptions, 'events' | 'watermark'>,
): Promise<void> {
  const report = (message: ShipperReport): void => port.postMessage(message);
  const watermarks = new AskedWatermarks(report);
  const shipper = new Shipper({
    ...options,
    watermark: (producer, epoch) => watermarks.ask(producer, epoch),
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
      case 'may_ship':
        return shipper.mayShip(order.position);
      case 'watermark':
        return watermarks.answered(order.id, order.seq);
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

/** Watermarks that the main thread is asked for: the ledger's client is there. It answers each, so none stays here. */
class AskedWatermarks {
  private readonly waiting = new Map<number, { resolve(seq: number): void; reject(error: Error): void }>();
  private lastId = 0;

  constructor(private readonly report: (message: ShipperReport) => void) {}

  ask(producer: string, epoch: string): Promise<number> {
    this.lastId += 1;
    const id = this.lastId;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.report({ kind: 'ask', id, producer, epoch });
    });
  }

  answered(id: number, seq: number | null): void {
    const asked = this.waiting.get(id);
    this.waiting.delete(id);
    if (seq === null) asked?.reject(new Error('The ledger did not answer.'));
    else asked?.resolve(seq);
  }
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

export interface ShipperThreadOptions {
  clock: Clock;
  /** Funds.watermark. */
  watermark: ShipperOptions['watermark'];
  events: ShipperEvents;
}

/** The shipper seen from the main thread: the same handle over a port. Give it to Journal.follow. */
export class ShipperThread implements ShipperHandle {
  private readonly port: Port;
  private readonly options: ShipperThreadOptions;
  private readonly waiting = new Map<number, (left: number) => void>();
  private lastId = 0;
  private newest: Position | null = null;
  private gapMs = GAP_MS;
  private sentSeq = 0;
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

  constructor(port: Port, options: ShipperThreadOptions) {
    this.port = port;
    this.options = options;
    port.on('message', (report: ShipperReport) => this.received(report));
  }

  addSource(source: ShipSource): void {
    this.order({ kind: 'source', source });
  }

  /**
   * Sends at most one message in 50 ms, in 200 ms from 500 records a second on. What comes meanwhile ships as one
   * batch, which costs broker and ledger far less. `hurry` sends it sooner.
   */
  mayShip(position: Position): void {
    const isDue = this.newest !== null;
    this.newest = position;
    if (!isDue) this.options.clock.setTimer(this.gapMs, () => this.sendNewest());
  }

  hurry(): void {
    this.sendNewest();
  }

  drain(deadlineMs: number): Promise<number> {
    this.sendNewest();
    return this.ask((id) => ({ kind: 'drain', id, deadlineMs }));
  }

  async stop(): Promise<void> {
    await this.ask((id) => ({ kind: 'stop', id }));
  }

  /** Returns the statistics of the last second. */
  stats(): ShipperStats {
    return this.known;
  }

  private sendNewest(): void {
    if (this.newest === null) return;
    this.order({ kind: 'may_ship', position: this.newest });
    const isBusy = this.newest.seq - this.sentSeq >= this.gapMs * BUSY_RECORDS_PER_MS;
    this.gapMs = isBusy ? BUSY_GAP_MS : GAP_MS;
    this.sentSeq = this.newest.seq;
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

  private async answer({ id, producer, epoch }: Extract<ShipperReport, { kind: 'ask' }>): Promise<void> {
    // The worker counts a failure and asks again.
    const seq = await this.options.watermark(producer, epoch).catch(() => null);
    this.order({ kind: 'watermark', id, seq });
  }

  private received(report: ShipperReport): void {
    const { events } = this.options;
    switch (report.kind) {
      case 'watermark':
        return events.watermark(report.producer, report.epoch, report.seq);
      case 'shipped':
        return events.shipped?.(report.producer, report.epoch, report.seq);
      case 'ask':
        return void this.answer(report);
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
