import { Inject, Injectable } from '@nestjs/common';
import {
  ApiError,
  Inference,
  type ErrorCode,
  type ErrorDetail,
  type HoldCall,
  type InferenceAnswer,
  type InferenceCall,
  type InferencePlan,
  type Random,
  type UpstreamBatch,
  type UpstreamBatchCall,
} from '@gateway/contracts';
import { InternalHttp, RANDOM, unavailable } from '@gateway/platform';

const PLAN_TIMEOUT_MS = 10_000;
/** Longer than an attempt of the edge. */
const INFER_TIMEOUT_MS = 1_800_000;
const ANSWER_BYTES_MAX = 64 * 1_048_576;

interface Refused {
  refusal?: { code: ErrorCode; message: string; param?: string | null; details?: ErrorDetail[] };
  status?: number;
}

/** The edge's inference over HTTP. A call is never sent twice here: who asks again decides that. */
@Injectable()
export class HttpInference extends Inference {
  constructor(
    private readonly http: InternalHttp,
    @Inject(RANDOM) private readonly random: Random,
  ) {
    super();
  }

  override async infer(call: InferenceCall): Promise<InferenceAnswer> {
    const body = await this.post('/internal/infer', call, INFER_TIMEOUT_MS, false);
    const { status } = (body ?? {}) as Partial<InferenceAnswer>;
    if (typeof status !== 'number') throw this.nothing();
    return body as InferenceAnswer;
  }

  override async plan(call: InferenceCall): Promise<InferencePlan> {
    const body = await this.post('/internal/infer/plan', call, PLAN_TIMEOUT_MS, true);
    const { plan, refusal, status } = (body ?? {}) as Refused & { plan?: InferencePlan };
    if (refusal !== undefined) throw rejectionError(refusal, status);
    if (plan === undefined) throw this.nothing();
    return plan;
  }

  override async worth(call: InferenceCall, bodies: readonly Record<string, unknown>[]): Promise<string> {
    const body = await this.post('/internal/infer/worth', { ...call, bodies }, PLAN_TIMEOUT_MS, true);
    const { nano } = (body ?? {}) as { nano?: string };
    if (nano === undefined) throw this.nothing();
    return nano;
  }

  override async hold(call: HoldCall): Promise<void> {
    const body = await this.post('/internal/infer/hold', call, PLAN_TIMEOUT_MS, true);
    const { refusal, status } = (body ?? {}) as Refused;
    if (refusal !== undefined) throw rejectionError(refusal, status);
  }

  override async upstreamBatch(call: UpstreamBatchCall): Promise<UpstreamBatch> {
    const body = await this.post('/internal/infer/batch', call, INFER_TIMEOUT_MS, false);
    const { kind } = (body ?? {}) as Partial<UpstreamBatch>;
    if (kind === undefined) throw this.nothing();
    return body as UpstreamBatch;
  }

  private async post(path: string, body: unknown, timeoutMs: number, idempotent: boolean): Promise<unknown> {
    const maxBytes = ANSWER_BYTES_MAX;
    const request = { service: 'edge', method: 'POST', path, body, timeoutMs, idempotent, maxBytes } as const;
    const answer = await this.http.request(request);
    if (answer.status >= 400)
      throw unavailable(this.random, new Error(`The edge answered ${answer.status}.`));
    return answer.body;
  }

  private nothing(): ApiError {
    return unavailable(this.random, new Error('The edge answered nothing.'));
  }
}

/** Returns the rejection as the edge would have thrown it here. */
function rejectionError(
  { code, message, param, details }: NonNullable<Refused['refusal']>,
  status: number | undefined,
): ApiError {
  return new ApiError(code, {
    message,
    status,
    ...(param == null ? {} : { param }),
    ...(details === undefined ? {} : { details }),
  });
}
