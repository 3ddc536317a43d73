import { Injectable } from '@nestjs/common';
import { BREAKER_STATES, type AdmitResult, type RejectionRecord, type UsageRecord } from '@gateway/contracts';
import { settledNano } from '@gateway/money';
import { Metrics, type SeriesOf, type Spread, type Tally } from '@gateway/platform';
import { type CircuitBreakers, type UndiciTransport } from '@gateway/upstream';

export type OpenedUnit = Pick<UsageRecord, 'endpoint' | 'stream' | 'model'>;
export type EndedUnit = Pick<
  UsageRecord,
  | 'outcome'
  | 'error_code'
  | 'provider'
  | 'ttft_ms'
  | 'latency_ms'
  | 'routing_fallback'
  | 'usage_estimated'
  | 'usage'
  | 'cost_usd'
  | 'attempts'
>;
/** The measurements of an attempt beside its record. */
export interface MeasuredAttempt {
  readonly meter: { readonly finishReasons: readonly string[] };
}
type Rejected = Pick<RejectionRecord, 'endpoint' | 'code' | 'scope' | 'limit_type'>;

/** End of a request that was drawn for a shadow: of its unit, or the reason why it became none. */
type ShadowOutcome =
  | UsageRecord['outcome']
  | 'not_permitted'
  | 'stateful'
  | 'too_large'
  | 'full'
  | 'pressure'
  | 'draining'
  | 'error';

const TRIP_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.25, 1];
const OVERHEAD_BUCKETS = [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];
const TOKEN_BUCKETS = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60];
const OUTPUT_TOKEN_BUCKETS = [0.0025, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.5, 1];
const ATTEMPT_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 600];

/**
 * Figures of inference. Labels are endpoints, provider slugs, models of the catalogue, codes of the error table, scopes and
 * metrics: all few, none a caller's text.
 */
@Injectable()
export class EdgeMetrics {
  private readonly admissions: SeriesOf<Tally>;
  private readonly admitSeconds: Spread;
  private readonly units: SeriesOf<Tally>;
  private readonly attempts: SeriesOf<Tally>;
  private readonly attemptSeconds: SeriesOf<Spread>;
  private readonly overhead: Spread;
  private readonly firstToken: SeriesOf<Spread>;
  private readonly models: ReturnType<typeof modelSeries>;
  private readonly fallbacks: SeriesOf<Tally>;
  private readonly usage: ReturnType<typeof usageSeries>;
  private readonly rejections: SeriesOf<Tally>;
  private readonly breakerChanges: SeriesOf<Tally>;
  private readonly providerAlarms: SeriesOf<Tally>;
  private readonly contents: SeriesOf<Tally>;
  private readonly shadows: SeriesOf<Tally>;

  constructor(private readonly metrics: Metrics) {
    this.admissions = metrics.counter(
      'gateway_admissions_total',
      'Admissions by outcome (local_…: by the local share); a rejection names the scope and metric that refused.',
      ['outcome', 'scope', 'metric'],
    );
    this.admitSeconds = metrics.histogram(
      'gateway_admission_duration_seconds',
      'One trip to the limit store.',
      [],
      TRIP_BUCKETS,
    )();
    this.units = metrics.counter('gateway_units_total', 'Finished units; code is empty where none failed.', [
      'endpoint',
      'outcome',
      'code',
    ]);
    this.attempts = metrics.counter(
      'gateway_attempts_total',
      'Tries of one route, by how they ended and the status that the provider gave.',
      ['provider', 'outcome', 'code', 'status'],
    );
    this.attemptSeconds = metrics.histogram(
      'gateway_attempt_duration_seconds',
      'From sending to the end of an attempt.',
      ['provider'],
      ATTEMPT_BUCKETS,
    );
    this.overhead = metrics.histogram(
      'gateway_overhead_seconds',
      'Part of a unit that no attempt took: parsing, admission, routing, and waits between attempts.',
      [],
      OVERHEAD_BUCKETS,
    )();
    this.firstToken = metrics.histogram(
      'gateway_time_to_first_token_seconds',
      'From the request to the first event of a stream that was answered, by the provider that answered.',
      ['provider'],
      TOKEN_BUCKETS,
    );
    this.models = modelSeries(metrics);
    this.fallbacks = metrics.counter(
      'gateway_fallbacks_total',
      'Units that another route than the first of their plan ended on, by its provider.',
      ['provider'],
    );
    this.usage = usageSeries(metrics);
    this.rejections = metrics.counter(
      'gateway_rejections_total',
      'Requests refused before any model; scope and metric are empty where no limit refused.',
      ['endpoint', 'code', 'scope', 'metric'],
    );
    this.breakerChanges = metrics.counter('gateway_breaker_changes_total', 'Changes of circuit breakers.', [
      'provider',
      'state',
    ]);
    this.providerAlarms = metrics.counter(
      'gateway_provider_alarms_total',
      'Attempts that failed because a provider refuses our credential or does not know a model of ours.',
      ['provider', 'status'],
    );
    this.contents = metrics.counter(
      'gateway_logged_contents_total',
      'Contents of units of organizations that log them: kept, or lost because too much waited or nobody took it.',
      ['outcome'],
    );
    this.shadows = shadowSeries(metrics);
  }

  /** One trip to the limit store; null where it failed. */
  admitted(result: AdmitResult | null, ms: number): void {
    if (result === null || result.kind === 'unavailable') this.admissions('error', '', '').inc();
    if (result === null) return;
    this.admitSeconds.observe(ms / 1_000);
    const by = result.withoutStore === undefined ? '' : 'local_';
    if (result.kind === 'refused')
      this.admissions(`${by}refused`, result.rejection.scope, result.rejection.metric).inc();
    else if (result.kind !== 'unavailable') this.admissions(by + result.kind, '', '').inc();
  }

  unitEnded(
    { endpoint, stream, model }: OpenedUnit,
    unit: EndedUnit,
    _attempts: readonly MeasuredAttempt[],
  ): void {
    const provider = unit.provider ?? '';
    const { usage, cost_usd: cost, ttft_ms: firstMs } = unit;
    const output = usage.completion_tokens ?? 0;
    this.models.requests(provider, model, unit.outcome).inc();
    this.models.tokens(provider, model, 'input').inc(usage.prompt_tokens ?? 0);
    this.models.tokens(provider, model, 'output').inc(output);
    if (cost != null) this.models.cost(provider, model).inc(Number(settledNano(cost)));
    this.units(endpoint, unit.outcome, unit.error_code ?? '').inc();
    let ownMs = unit.latency_ms;
    for (const attempt of unit.attempts) {
      ownMs -= attempt.latency_ms;
      // The provider's side of an error says more than ours, which callers see.
      const code = attempt.provider_code ?? attempt.error_code ?? '';
      this.attempts(attempt.provider, attempt.status, code, String(attempt.http_status ?? '')).inc();
      this.attemptSeconds(attempt.provider).observe(attempt.latency_ms / 1_000);
    }
    this.overhead.observe(Math.max(0, ownMs) / 1_000);
    if (unit.routing_fallback) this.fallbacks(provider).inc();
    if (unit.usage_estimated) this.usage.estimated(provider).inc();
    for (const counter of Object.keys(usage.unpriced_counters ?? {}))
      this.usage.unpriced(provider, counter).inc();
    if (!stream || firstMs == null) return;
    this.firstToken(provider).observe(firstMs / 1_000);
    if (output > 1)
      this.models.outputToken(provider).observe((unit.latency_ms - firstMs) / 1_000 / (output - 1));
  }

  rejected({ endpoint, code, scope, limit_type }: Rejected): void {
    this.rejections(endpoint, code, scope ?? '', limit_type ?? '').inc();
  }

  usageFarOff(provider: string, model: string): void {
    this.usage.farOff(provider, model).inc();
  }

  usageDoubted(provider: string): void {
    this.usage.doubted(provider).inc();
  }

  contentsEnded(outcome: 'kept' | 'lost', count: number): void {
    this.contents(outcome).inc(count);
  }

  shadowed(outcome: ShadowOutcome): void {
    this.shadows(outcome).inc();
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
          value: BREAKER_STATES.indexOf(state),
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
}

/** Registers the series by models of the catalogue and the providers that served them. */
function modelSeries(metrics: Metrics) {
  return {
    outputToken: metrics.histogram(
      'gateway_time_per_output_token_seconds',
      'From the first event of a stream to its end, by its output tokens after the first.',
      ['provider'],
      OUTPUT_TOKEN_BUCKETS,
    ),
    requests: metrics.counter(
      'gateway_model_requests_total',
      'Finished units by the model asked for and the provider that served; provider is empty where none did.',
      ['provider', 'model', 'outcome'],
    ),
    tokens: metrics.counter('gateway_tokens_total', 'Tokens of finished units: input and output.', [
      'provider',
      'model',
      'type',
    ]),
    cost: metrics.counter(
      'gateway_cost_nano_usd_total',
      'What callers were charged, in billionths of a dollar.',
      ['provider', 'model'],
    ),
  };
}

/** Counts of answers whose usage is not what their provider reported, or is far from their text. */
function usageSeries(metrics: Metrics) {
  return {
    estimated: metrics.counter(
      'gateway_usage_estimated_total',
      'Units whose usage the provider did not report.',
      ['provider'],
    ),
    doubted: metrics.counter(
      'gateway_usage_doubted_total',
      'Answers whose provider counted more than their route can use; the usage was estimated.',
      ['provider'],
    ),
    unpriced: metrics.counter(
      'gateway_unpriced_usage_total',
      'Answers with a counter of their provider that has no price here, by its name.',
      ['provider', 'counter'],
    ),
    farOff: metrics.counter(
      'gateway_usage_far_off_total',
      'Text answers whose counts differ tenfold from their text; they were billed as counted.',
      ['provider', 'model'],
    ),
  };
}

/** Registers the count of requests that were drawn for a shadow. */
function shadowSeries(metrics: Metrics): SeriesOf<Tally> {
  return metrics.counter(
    'gateway_shadows_total',
    'Requests that were drawn for the shadow of an alias: how the second model answered, or why it was not asked.',
    ['outcome'],
  );
}
