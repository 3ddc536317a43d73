import {
  ApiError,
  Inference,
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
