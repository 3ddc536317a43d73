type Json = Record<string, unknown>;

/** One unit of a longer work, run for a key as a request of its own would be. */
export interface InferenceCall {
  key_id: string;
  account_id: string;
  /** Of the request that began the work, and the number of the unit in it: one event and one cost, however often it is run. */
  request_id: string;
  unit: number;
  /** As records name it, for example /v1/batches. */
  recorded_path: string;
  /** Whose request it is, for example /v1/chat/completions. */
  endpoint: string;
  body: Json;
  /** At the batch tier's price, of models that take batches alone, and refused first where there is too much to do. */
  is_batch: boolean;
  /**
   * For work that its provider does for minutes: null begins it, and is answered 202 with the task as the body as soon as
   * the provider has it; a task is waited for to its end. Absent for every other call.
   */
  task?: Json | null;
}

export interface InferenceAnswer {
  status: number;
  body: Json;
  retry_after_seconds: number | null;
}

/** What would serve. */
export interface InferencePlan {
  model: string;
  provider: string;
}

/**
 * Inference for work that outlives a request. Drivers: in process (edge); HTTP. Throws ApiError `service_unavailable`
 * where it cannot be asked.
 */
export abstract class Inference {
  /** A failure is an answer too. A call that is repeated while its answer is remembered gets the same one. */
  abstract infer(call: InferenceCall): Promise<InferenceAnswer>;
  /** What would serve the call; nothing is called or counted. Throws the ApiError that it would get. */
  abstract plan(call: InferenceCall): Promise<InferencePlan>;
}
