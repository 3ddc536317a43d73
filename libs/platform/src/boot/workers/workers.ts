import cluster, { type Worker } from 'node:cluster';
import type { Clock, Timer } from '@gateway/contracts';
import type { Logger } from 'pino';
import { backOffMs } from './worker-back-off.js';
import { isOurs, type MetricJson, type ToPrimary, type ToWorker, type WorkerMetrics } from './messages.js';

export interface WorkersOptions {
  count: number;
  /** Variables that one worker has besides those of this process. */
  environmentOf: (worker: number) => Record<string, string>;
  drainGraceMs: number;
  clock: Clock;
  logger: Logger;
  /** Workers end again and again, or did not start: the others are stopped by now. */
  onGivenUp: () => void;
}

/** A worker that lived so long has left its earlier deaths behind. */
const HEALTHY_MS = 60_000;
/** In a row, each soon after its start. With the back-off they take about a minute. */
const DEATHS_MAX = 10;
const COLLECT_MS = 1_000;
/** After the grace: the last frames of streams, shipping, leaving. */
const EXIT_MS = 30_000;

interface Slot {
  readonly index: number;
  worker: Worker | null;
  /** null until it has told them. */
  faults: string[] | null;
  startedMs: number;
  /** In a row. */
  deaths: number;
  /** In all. */
  restarts: number;
  /** Ends a wait for the next start. */
  waiting: AbortController;
}

interface Scrape {
  asker: Worker;
  id: number;
  left: number;
  workers: WorkerMetrics[];
  late: Timer;
}

/**
 * The primary of an edge with several workers: it starts them, starts those that die again, tells each of them
 * whether all are ready, brings their metrics together, and passes SIGTERM on. It serves nothing itself.
 */
export class Workers {
  private readonly slots: Slot[];
  private readonly scrapes = new Map<number, Scrape>();
  private scrapeNumber = 0;
  private wasReady = false;
  private isClosing = false;

  constructor(private readonly options: WorkersOptions) {
    this.slots = Array.from({ length: options.count }, (_, index) => ({
      index,
      worker: null,
      faults: null,
      startedMs: 0,
      deaths: 0,
      restarts: 0,
      waiting: new AbortController(),
    }));
    for (const slot of this.slots) this.fork(slot);
  }

  /** SIGTERM to each, then waits until all have ended; kills what is left after the grace. */
  async close(): Promise<void> {
    this.isClosing = true;
    const { clock, drainGraceMs, logger } = this.options;
    for (const slot of this.slots) {
      slot.waiting.abort(new Error('The edge is being stopped.'));
      slot.worker?.process.kill('SIGTERM');
    }
    const until = clock.monotonic() + drainGraceMs + EXIT_MS;
    const left = (): Slot[] => this.slots.filter(({ worker }) => worker !== null);
    while (left().length > 0 && clock.monotonic() < until) await clock.sleep(50);
    for (const { index, worker } of left()) {
      logger.error({ worker: index }, 'a worker did not end in time and is killed');
      worker?.process.kill('SIGKILL');
    }
  }

  private fork(slot: Slot): void {
    const worker = cluster.fork(this.options.environmentOf(slot.index));
    slot.worker = worker;
    slot.faults = null;
    slot.startedMs = this.options.clock.monotonic();
    worker.on('message', (message: unknown) => {
      if (isOurs(message)) this.received(slot, worker, message as ToPrimary);
    });
    // Its exit tells what there is to tell.
    worker.on('error', () => undefined);
    worker.once('exit', (code, signal) => this.ended(slot, code, signal));
    this.options.logger.info({ worker: slot.index, pid: worker.process.pid }, 'worker started');
  }

  private ended(slot: Slot, code: number | null, signal: string | null): void {
    const { clock, logger } = this.options;
    slot.worker = null;
    slot.faults = null;
    if (this.isClosing) return;
    this.tellAll();
    const livedMs = clock.monotonic() - slot.startedMs;
    slot.deaths = livedMs >= HEALTHY_MS ? 1 : slot.deaths + 1;
    // One that ends by itself before any was ready says what is wrong with all, and has said it.
    const cannotStart = !this.wasReady && signal === null;
    if (cannotStart || slot.deaths > DEATHS_MAX) return void this.giveUp(slot);
    const delayMs = backOffMs(slot.deaths);
    const how = { worker: slot.index, code: code ?? 0, reason: signal ?? 'exit', delay_ms: delayMs };
    logger.error(how, 'a worker ended and is started again');
    slot.restarts += 1;
    // A sleep, not a timer: with every worker gone it alone keeps this process alive.
    clock.sleep(delayMs, slot.waiting.signal).then(
      () => this.fork(slot),
      () => undefined,
    );
  }

  private async giveUp(slot: Slot): Promise<void> {
    this.options.logger.fatal({ worker: slot.index, count: slot.deaths }, 'a worker does not stay up');
    await this.close();
    this.options.onGivenUp();
  }

  private received(slot: Slot, worker: Worker, message: ToPrimary): void {
    switch (message.kind) {
      case 'gateway:faults':
        slot.faults = message.faults;
        this.tellAll();
        return;
      case 'gateway:scrape':
        this.collect(worker, message.id);
        return;
      case 'gateway:metrics':
        this.collected(slot, message.id, message.metrics);
        return;
    }
  }

  private tellAll(): void {
    const waiting = this.slots.filter(({ faults }) => faults === null || faults.length > 0);
    const fault = waiting.length === 0 ? null : `Not ready: ${waiting.map(nameOf).join(', ')}.`;
    if (fault === null) this.wasReady = true;
    for (const { worker } of this.slots) send(worker, { kind: 'gateway:others', fault });
  }

  private collect(asker: Worker, id: number): void {
    this.scrapeNumber += 1;
    const number = this.scrapeNumber;
    const asked = this.slots.filter(({ worker }) => send(worker, { kind: 'gateway:collect', id: number }));
    const late = this.options.clock.setTimer(COLLECT_MS, () => this.answer(number));
    this.scrapes.set(number, { asker, id, left: asked.length, workers: [], late });
  }

  private collected({ index }: Slot, number: number, metrics: MetricJson[]): void {
    const scrape = this.scrapes.get(number);
    if (scrape === undefined) return;
    scrape.workers.push({ worker: index, metrics });
    scrape.left -= 1;
    if (scrape.left === 0) this.answer(number);
  }

  private answer(number: number): void {
    const scrape = this.scrapes.get(number);
    if (scrape === undefined) return;
    this.scrapes.delete(number);
    scrape.late.cancel();
    const { asker, id, workers } = scrape;
    workers.sort((a, b) => a.worker - b.worker);
    send(asker, { kind: 'gateway:scraped', id, workers, ofPrimary: [this.restarts()] });
  }

  private restarts(): MetricJson {
    return {
      name: 'gateway_worker_restarts_total',
      help: 'Workers of this edge that ended by themselves and were started again.',
      type: 'counter',
      aggregator: 'sum',
      values: this.slots.map(({ index, restarts }) => ({
        value: restarts,
        labels: { worker: String(index) },
      })),
    };
  }
}

function nameOf({ index, faults }: Slot): string {
  return faults === null ? `worker ${index}` : `worker ${index} (${faults.join('; ')})`;
}

/** False where it is gone: its exit is on its way. */
function send(worker: Worker | null, message: ToWorker): boolean {
  if (worker === null || !worker.isConnected()) return false;
  worker.send(message);
  return true;
}
