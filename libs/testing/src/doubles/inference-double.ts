import {
  ApiError,
  Inference,
  type HoldCall,
  type InferenceAnswer,
  type InferenceCall,
  type InferencePlan,
  type UpstreamBatch,
  type UpstreamBatchCall,
} from '@gateway/contracts';

/** Inference that says what it is asked. */
export class InferenceDouble extends Inference {
  readonly calls: InferenceCall[] = [];
  /** Thrown instead of a plan. */
  rejection: ApiError | null = null;
  answer: (call: InferenceCall) => Promise<InferenceAnswer> | InferenceAnswer = served;

  override async infer(call: InferenceCall): Promise<InferenceAnswer> {
    this.calls.push(call);
    return this.answer(call);
  }

  /** Holds, in the order of asking. */
  readonly holds: HoldCall[] = [];
  /** Cost of one line. */
  worthNano = 0n;
  /** Thrown by a first hold. */
  noBudget: ApiError | null = null;

  override async worth(_call: InferenceCall, bodies: readonly object[]): Promise<string> {
    return String(this.worthNano * BigInt(bodies.length));
  }

  override async hold(call: HoldCall): Promise<void> {
    if (call.is_first && this.noBudget !== null) throw this.noBudget;
    this.holds.push(call);
  }

  /** Steps of batches that a provider runs, and what each is answered. */
  readonly steps: UpstreamBatchCall[] = [];
  upstream: (call: UpstreamBatchCall) => Promise<UpstreamBatch> | UpstreamBatch = () => ({ kind: 'none' });

  override async upstreamBatch(call: UpstreamBatchCall): Promise<UpstreamBatch> {
    this.steps.push(call);
    return this.upstream(call);
  }

  override async plan({ body }: InferenceCall): Promise<InferencePlan> {
    if (this.rejection !== null) throw this.rejection;
    return { model: String(body.model), provider: 'double' };
  }
}

/** A chat completion of ten tokens. */
export function served({ body, request_id, unit }: InferenceCall): InferenceAnswer {
  const usage = { prompt_tokens: 6, completion_tokens: 4, total_tokens: 10 };
  const answer = { id: `${request_id}-${unit}`, object: 'chat.completion', model: body.model, usage };
  return { status: 200, body: answer, retry_after_seconds: null };
}
