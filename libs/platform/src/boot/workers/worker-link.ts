import { Inject, Injectable, Module, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { Clock, Timer } from '@gateway/contracts';
import { AggregatorRegistry } from 'prom-client';
import { ReadinessChecks } from '../../health/readiness-checks.js';
import { Metrics } from '../../metrics/metrics.js';
import { CLOCK } from '../../time/tokens.js';
import { isOurs, type MetricJson, type ToPrimary, type ToWorker, type WorkerMetrics } from './messages.js';

const TELL_EVERY_MS = 200;
const SCRAPE_MS = 2_000;
const OTHERS = 'workers';

/**
 * A worker's side: it tells the primary whether it is ready, answers for all of them whether the edge is, and answers
 * a scrape with the metrics of all, each series with the label `worker`.
 */
@Injectable()
class WorkerLink implements OnModuleInit, OnApplicationShutdown {
  private others: string | null = 'The other workers are not known yet.';
  private told: string | null = null;
  private timer: Timer | null = null;
  private scrapes = 0;
  private readonly waiting = new Map<number, (text: string | null) => void>();
  private readonly onMessage = (message: unknown): void => {
    if (isOurs(message)) this.received(message as ToWorker);
  };

  constructor(
    private readonly readiness: ReadinessChecks,
    private readonly metrics: Metrics,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.readiness.add(OTHERS, () => this.others ?? true);
    this.metrics.scrapeBy(() => this.scrape());
    process.on('message', this.onMessage);
    this.tell();
  }

  onApplicationShutdown(): void {
    this.timer?.cancel();
    process.off('message', this.onMessage);
  }

  private tell(): void {
    const { [OTHERS]: _others, ...own } = this.readiness.faults();
    const faults = Object.entries(own).map(([name, fault]) => `${name}: ${fault}`);
    const text = faults.join('; ');
    if (text !== this.told) {
      this.told = text;
      send({ kind: 'gateway:faults', faults });
    }
    this.timer = this.clock.setTimer(TELL_EVERY_MS, () => this.tell());
  }

  private received(message: ToWorker): void {
    switch (message.kind) {
      case 'gateway:others':
        this.others = message.fault;
        return;
      case 'gateway:collect':
        void this.collect(message.id);
        return;
      case 'gateway:scraped':
        void mergedText(message.workers, message.ofPrimary).then(this.waiting.get(message.id));
        return;
    }
  }

  private async collect(id: number): Promise<void> {
    const metrics = (await this.metrics.registry.getMetricsAsJSON()) as unknown as MetricJson[];
    send({ kind: 'gateway:metrics', id, metrics });
  }

  /** Own metrics alone where the primary does not answer in time. */
  private async scrape(): Promise<string> {
    this.scrapes += 1;
    const id = this.scrapes;
    const text = await new Promise<string | null>((resolve) => {
      const late = this.clock.setTimer(SCRAPE_MS, () => resolve(null));
      this.waiting.set(id, (merged) => {
        late.cancel();
        resolve(merged);
      });
      send({ kind: 'gateway:scrape', id });
    });
    this.waiting.delete(id);
    return text ?? this.metrics.registry.metrics();
  }
}

/** Nobody answers a worker whose primary is gone: its channel is closed, and it is about to end. */
function send(message: ToPrimary): void {
  if (process.connected) process.send?.(message);
}

/** One text of all workers' series. The label keeps them apart, so that a rule sees the worst and not a mean. */
export async function mergedText(
  workers: readonly WorkerMetrics[],
  ofPrimary: readonly MetricJson[],
): Promise<string> {
  const labelled = workers.map(({ worker, metrics }) =>
    metrics.map((metric) => ({
      ...metric,
      aggregator: 'sum',
      values: metric.values.map((value) => ({
        ...value,
        labels: { ...value.labels, worker: String(worker) },
      })),
    })),
  );
  return AggregatorRegistry.aggregate([...labelled, [...ofPrimary]]).metrics();
}

/** What a forked worker has besides a process that is alone. */
@Module({ providers: [WorkerLink] })
export class WorkerModule {}
