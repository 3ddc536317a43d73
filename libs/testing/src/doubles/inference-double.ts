import {
  ApiError,
  Inference,
  type HoldCall,
  type InferenceAnswer,
  type InferenceCall,
  type InferencePlan,
} from '@gateway/contracts';

/** Inference that says what it is asked. */
export class InferenceDouble extends Inference {
  readonly calls: InferenceCall[] = [];
  /** Thrown instead of a plan. */
  refusal: ApiError | null = null;
  answer: (call: InferenceCall) => Promise<InferenceAnswer> | InferenceAnswer = served;

  override async infer(call: InferenceCall): Promise<InferenceAnswer> {
    this.calls.push(call);
    return this.answer(call);
  }

  /** What is held, in the order of asking. */
  readonly holds: HoldCall[] = [];
  /** Of one line. */
  worthNano = 0n;
  /** Thrown by a first hold. */
  noRoom: ApiError | null = null;

  override async worth(_call: InferenceCall, bodies: readonly object[]): Promise<string> {
    return String(this.worthNano * BigInt(bodies.length));
  }

  override async hold(call: HoldCall): Promise<void> {
    if (call.is_first && this.noRoom !== null) throw this.noRoom;
    this.holds.push(call);
  }

  override async plan({ body }: InferenceCall): Promise<InferencePlan> {
    if (this.refusal !== null) throw this.refusal;
    return { model: String(body.model), provider: 'double' };
  }
}

/** A chat completion of ten tokens. */
export function served({ body, request_id, unit }: InferenceCall): InferenceAnswer {
  const usage = { prompt_tokens: 6, completion_tokens: 4, total_tokens: 10 };
  const answer = { id: `${request_id}-${unit}`, object: 'chat.completion', model: body.model, usage };
  return { status: 200, body: answer, retry_after_seconds: null };
}
