import { Inject, Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import {
  ApiError,
  TOPIC,
  type Clock,
  type ErrorCode,
  type LimitRejection,
  type RefusedMoneyRecord,
} from '@gateway/contracts';
import { Journal, type OutcomeValues } from '@gateway/journal';
import { rejectedMoney } from '@gateway/limits';
import { Usd } from '@gateway/money';
import { CLOCK } from '@gateway/platform';
import { scrub } from '@gateway/redaction';
import { EdgeMetrics } from '../metrics/edge-metrics.js';
import type { InferenceRequest } from '../request/inference-request.js';

type Rejection = OutcomeValues['gateway.rejections.v1'];

/** Rejections of one key and code that are each recorded within a second; more are added up. */
const EACH_PER_SECOND = 10;
const WINDOW_MS = 1_000;
const MOST_SERIES = 10_000;

const OURS: readonly ErrorCode[] = ['internal_error', 'service_unavailable', 'service_draining'];

/** True for a rejection that says something about the request. A failure of ours says nothing: it is a metric, no record. */
export function isRejection(failure: unknown): failure is ApiError {
  return failure instanceof ApiError && !OURS.includes(failure.code);
}

/** The refused request as far as it was read. */
export interface RejectedAs {
  /** Model of the catalogue; null where it is not known. */
  id: string | null;
  /** Model as the caller named it. */
  requested: string | null;
  /** Tags of the request; absent: the key's alone. */
  tags?: Record<string, string>;
}

/** A request that was refused before its model was read. */
export const NO_MODEL: RejectedAs = { id: null, requested: null };

interface Series {
  startedMs: number;
  count: number;
  /** The newest one beyond the bound, standing for all of them. */
  summed: Rejection | null;
}

/** Writes rejections to the journal: one record each, or one a second with a count where a caller hammers. */
@Injectable()
export class Rejections implements BeforeApplicationShutdown {
  private readonly series = new Map<string, Series>();
  private isSweeping = false;

  constructor(
    private readonly journal: Journal,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly metrics: EdgeMetrics,
  ) {}

  /** Stops before the journal ships its last records. */
  beforeApplicationShutdown(): void {
    this.flushAll();
  }

  /** Adds a failure that says something about the request, and no other. */
  addFailure(
    request: InferenceRequest,
    as: RejectedAs,
    failure: unknown,
    rejection: LimitRejection | null = null,
  ): void {
    if (isRejection(failure)) this.add(request, as, failure, rejection);
  }

  /** Runs the reading of a body. What is refused there is recorded as a rejection of the request. */
  whileReading<T>(request: InferenceRequest, read: () => T): T {
    try {
      return read();
    } catch (failure) {
      this.addFailure(request, NO_MODEL, failure);
      throw failure;
    }
  }

  add(request: InferenceRequest, as: RejectedAs, error: ApiError, rejection: LimitRejection | null): void {
    const record = rejectionRecord(request, as, error, rejection);
    this.metrics.rejected(record);
    const name = `${record.key_id} ${record.code}`;
    const now = this.clock.monotonic();
    let series = this.series.get(name);
    if (!series || now - series.startedMs >= WINDOW_MS) {
      this.flush(series);
      if (this.series.size >= MOST_SERIES) this.flushAll();
      series = { startedMs: now, count: 0, summed: null };
      this.series.set(name, series);
    }
    series.count += 1;
    if (series.count <= EACH_PER_SECOND) return this.write(record);
    series.summed = { ...record, count: (series.summed?.count ?? 0) + 1 };
    this.sweepSoon();
  }

  flushAll(): void {
    for (const series of this.series.values()) this.flush(series);
    this.series.clear();
  }

  private sweepSoon(): void {
    if (this.isSweeping) return;
    this.isSweeping = true;
    this.clock.setTimer(WINDOW_MS, () => {
      this.isSweeping = false;
      this.flushAll();
    });
  }

  private flush(series: Series | undefined): void {
    if (series?.summed) this.write(series.summed);
    if (series) series.summed = null;
  }

  private write(record: Rejection): void {
    this.journal.outcome(TOPIC.rejections, record.account_id, record);
  }
}

function moneyOf(rejection: LimitRejection): RefusedMoneyRecord {
  const { limit, spent, available, held, isFinal } = rejectedMoney(rejection);
  return {
    limit_usd: limit === null ? null : usd(limit),
    spent_usd: spent === null ? null : usd(spent),
    available_usd: usd(available),
    held_usd: usd(held),
    is_final: isFinal,
  };
}

function usd(nano: bigint): string {
  return Usd.fromNano(nano).toString();
}

function rejectionRecord(
  request: InferenceRequest,
  { id, requested, tags = request.principal.requestTags }: RejectedAs,
  error: ApiError,
  rejection: LimitRejection | null,
): Rejection {
  const { principal } = request;
  const isCap = rejection?.metric === 'spend_cap';
  const money = isCap || rejection?.metric === 'balance' ? moneyOf(rejection) : null;
  return {
    request_id: request.requestId,
    created_at: new Date(request.receivedAtMs).toISOString(),
    account_id: principal.accountId,
    org_id: principal.orgId,
    team_id: principal.teamId,
    member_id: principal.createdBy,
    key_id: principal.keyId,
    endpoint: request.path,
    model: id,
    // A name that is no model's is any text: also a key that somebody put into the wrong field.
    requested_model: error.code === 'model_not_found' ? requested && scrub(requested) : requested,
    http_status: error.status,
    code: error.code,
    message: error.message,
    scope: rejection?.scope ?? null,
    // No rejection names an end user: their budget goes with their erasure, and its id says nothing then.
    scope_id: (rejection?.scope === 'end_user' ? rejection.budget?.id : rejection?.scopeId) ?? null,
    limit_type: rejection?.metric ?? null,
    // Reservations alone are no reached cap: notifications make spend_cap.hit of these two.
    cap_usd: isCap && money?.is_final === true ? money.limit_usd : null,
    spent_usd: isCap && money?.is_final === true ? money.spent_usd : null,
    money,
    ...(rejection?.budget === undefined ? {} : { budget_id: rejection.budget.id }),
    count: 1,
    request_tags: tags,
  };
}
