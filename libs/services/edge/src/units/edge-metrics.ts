import { Injectable } from '@nestjs/common';
import type { AdmitResult, LimitStore, RejectionRecord, UsageRecord } from '@gateway/contracts';
import { Metrics, type CircuitBreakers, type UndiciTransport } from '@gateway/platform';
import { Counter, Histogram } from 'prom-client';

type Admission = Pick<LimitStore, 'admit' | 'stamp' | 'version'>;
type EndedUnit = Pick<
  UsageRecord,
  | 'endpoint'
  | 'outcome'
  | 'error_code'
  | 'provider'
  | 'stream'
  | 'ttft_ms'
  | 'routing_fallback'
  | 'usage_estimated'
> & { attempts: readonly EndedAttempt[] };
type EndedAttempt = Pick<
  UsageRecord['attempts'][number],
  'provider' | 'status' | 'http_status' | 'error_code' | 'provider_code' | 'latency_ms'
>;
type Rejected = Pick<RejectionRecord, 'endpoint' | 'code' | 'scope' | 'limit_type'>;

const TRIP_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.25, 1];
const TOKEN_BUCKETS = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60];
const ATTEMPT_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 600];
const BREAKER_STATES = { closed: 0, half_open: 1, open: 2 } as const;

/**
 * Figures of inference. Labels are endpoints, provider slugs, codes of the error table, scopes and metrics: all few,
 * none a caller's text.
 */
@Injectable()
export class EdgeMetrics {
  private readonly admissions: Series<Counter.Internal>;
  private readonly admitSeconds: Histogram;
  private readonly units: Series<Counter.Internal>;
  private readonly attempts: Series<Counter.Internal>;
  private readonly attemptSeconds: Series<Histogram.Internal<string>>;
  private readonly firstToken: Series<Histogram.Internal<string>>;
  private readonly fallbacks: Series<Counter.Internal>;
  private readonly estimated: Series<Counter.Internal>;
  private readonly rejections: Series<Counter.Internal>;
  private readonly breakerChanges: Series<Counter.Internal>;
  private readonly providerAlarms: Series<Counter.Internal>;

  constructor(private readonly metrics: Metrics) {
    const registers = [metrics.registry];
    this.admissions = this.counter(
      'gateway_admissions_total',
      'Admissions by outcome (local_…: by the local share); a refusal names the scope and metric that refused.',
      ['outcome', 'scope', 'metric'],
    );
    this.admitSeconds = new Histogram({
      name: 'gateway_admission_duration_seconds',
      help: 'One trip to the limit store.',
      buckets: TRIP_BUCKETS,
      registers,
    });
    this.units = this.counter('gateway_units_total', 'Finished units; code is empty where none failed.', [
      'endpoint',
      'outcome',
      'code',
    ]);
    this.attempts = this.counter(
      'gateway_attempts_total',
      'Tries of one route, by how they ended and the status that the provider gave.',
      ['provider', 'outcome', 'code', 'status'],
    );
    this.attemptSeconds = this.histogram(
      'gateway_attempt_duration_seconds',
      'From sending to the end of an attempt.',
      ATTEMPT_BUCKETS,
    );
    this.firstToken = this.histogram(
      'gateway_time_to_first_token_seconds',
      'From the request to the first event of a stream that was answered, by the provider that answered.',
      TOKEN_BUCKETS,
    );
    this.fallbacks = this.counter(
      'gateway_fallbacks_total',
      'Units that another route than the first of their plan ended on, by its provider.',
      ['provider'],
    );
    this.estimated = this.counter(
      'gateway_usage_estimated_total',
      'Units whose usage the provider did not tell.',
      ['provider'],
    );
    this.rejections = this.counter(
      'gateway_rejections_total',
      'Requests refused before any model; scope and metric are empty where no limit refused.',
      ['endpoint', 'code', 'scope', 'metric'],
    );
    this.breakerChanges = this.counter('gateway_breaker_changes_total', 'Changes of circuit breakers.', [
      'provider',
      'state',
    ]);
    this.providerAlarms = this.counter(
      'gateway_provider_alarms_total',
      'Attempts that failed because a provider refuses our credential or does not know a model of ours.',
      ['provider', 'status'],
    );
  }

  /** The same store, with every admission counted and measured. */
  measured(limits: LimitStore): Admission {
    return {
      admit: (asked) => {
        const stop = this.admitSeconds.startTimer();
        const answer = limits.admit(asked);
        answer.then(
          (result) => {
            stop();
            this.admitted(result);
          },
          () => this.admissions('error', '', '').inc(),
        );
        return answer;
      },
      stamp: (accountId, version, gen) => limits.stamp(accountId, version, gen),
      version: (accountId) => limits.version(accountId),
    };
  }

  unitEnded(unit: EndedUnit): void {
    const provider = unit.provider ?? '';
    this.units(unit.endpoint, unit.outcome, unit.error_code ?? '').inc();
    for (const attempt of unit.attempts) this.attemptEnded(attempt);
    if (unit.routing_fallback) this.fallbacks(provider).inc();
    if (unit.usage_estimated) this.estimated(provider).inc();
    if (unit.stream && unit.ttft_ms != null) this.firstToken(provider).observe(unit.ttft_ms / 1_000);
  }

  rejected({ endpoint, code, scope, limit_type }: Rejected): void {
    this.rejections(endpoint, code, scope ?? '', limit_type ?? '').inc();
  }

  breakerChanged(provider: string, state: string): void {
    this.breakerChanges(provider, state).inc();
  }

  providerAlarm(provider: string, status: number | null): void {
    this.providerAlarms(provider, String(status ?? '')).inc();
  }

  /** Figures that are read when the metrics are scraped. */
  watch(breakers: CircuitBreakers, transport: UndiciTransport): void {
    const { metrics } = this;
    metrics.gauges(
      'gateway_breaker_state',
      'Circuit breaker of a route: 0 closed, 1 half open, 2 open.',
      ['provider', 'model'],
      () =>
        breakers.states().map(({ provider, model, state }) => ({
          labels: { provider, model },
          value: BREAKER_STATES[state],
        })),
    );
    metrics.gauge(
      'gateway_upstream_requests_in_flight',
      'Requests under way to providers.',
      () => transport.stats().running,
    );
    metrics.gauge(
      'gateway_upstream_requests_waiting',
      'Requests that wait for a connection to their provider.',
      () => transport.stats().waiting,
    );
  }

  private admitted(result: AdmitResult): void {
    const by = result.away === undefined ? '' : 'local_';
    if (result.outcome === 'away') return this.admissions('error', '', '').inc();
    if (result.outcome !== 'refused') return this.admissions(by + result.outcome, '', '').inc();
    this.admissions(`${by}refused`, result.refusal.scope, result.refusal.metric).inc();
  }

  private attemptEnded(attempt: EndedAttempt): void {
    const { provider, status } = attempt;
    // The provider's side of an error tells more than ours, which callers see.
    const code = attempt.provider_code ?? attempt.error_code ?? '';
    this.attempts(provider, status, code, String(attempt.http_status ?? '')).inc();
    this.attemptSeconds(provider).observe(attempt.latency_ms / 1_000);
  }

  private counter(name: string, help: string, labelNames: string[]): Series<Counter.Internal> {
    const counter = new Counter({ name, help, labelNames, registers: [this.metrics.registry] });
    return remembered((values) => counter.labels(...values));
  }

  private histogram(name: string, help: string, buckets: number[]): Series<Histogram.Internal<string>> {
    const registers = [this.metrics.registry];
    const histogram = new Histogram({ name, help, labelNames: ['provider'], buckets, registers });
    return remembered((values) => histogram.labels(...values));
  }
}

type Series<S> = (...values: string[]) => S;

/** prom-client finds a series by hashing its labels; on the hot path that costs more than the counting. */
function remembered<S>(make: (values: string[]) => S): Series<S> {
  const known = new Map<string, S>();
  return (...values) => {
    const name = values.join('\n');
    let series = known.get(name);
    if (series === undefined) {
      series = make(values);
      known.set(name, series);
    }
    return series;
  };
}
