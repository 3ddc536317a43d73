/** One metric as prom-client writes it to JSON. */
export interface MetricJson {
  name: string;
  help: string;
  type: unknown;
  aggregator: string;
  values: { value: number; labels: Record<string, string | number>; metricName?: string }[];
}

/** The metrics of one worker. */
export interface WorkerMetrics {
  worker: number;
  metrics: MetricJson[];
}

export type ToPrimary =
  /** What keeps this worker from being ready; empty = ready. Told at each change. */
  | { kind: 'gateway:faults'; faults: string[] }
  /** It was asked for metrics and wants those of all. */
  | { kind: 'gateway:scrape'; id: number }
  | { kind: 'gateway:metrics'; id: number; metrics: MetricJson[] };

export type ToWorker =
  /** Workers that are not ready; null = all are. */
  | { kind: 'gateway:others'; fault: string | null }
  | { kind: 'gateway:collect'; id: number }
  | { kind: 'gateway:scraped'; id: number; workers: WorkerMetrics[]; ofPrimary: MetricJson[] };

/** Other parts send messages over the same channel. */
export function isOurs(message: unknown): message is ToPrimary | ToWorker {
  return (
    typeof message === 'object' &&
    message !== null &&
    'kind' in message &&
    typeof message.kind === 'string' &&
    message.kind.startsWith('gateway:')
  );
}
