type Json = Record<string, unknown>;

/** One unit of a longer work, run for a key as a request of its own would be. */
export interface InferenceCall {
  key_id: string;
  account_id: string;
  /**
   * Id of the request that began the work, with the number of the unit in it: one event and one cost, however often it
   * runs.
   */
  request_id: string;
  unit: number;
  /** Path that records name, for example /v1/batches. */
  recorded_path: string;
  /** Endpoint of the request, for example /v1/chat/completions. */
  endpoint: string;
  body: Json;
  /** True for the batch tier's price, for models that take batches alone, and first to be refused under load. */
  is_batch: boolean;
  /**
   * Task of a provider that works for minutes: null begins it, and is answered 202 with the task as soon as the
   * provider has it. A given task is awaited to its end. Absent for every other call.
   */
  task?: Json | null;
  /** True where an earlier call may have begun the task: this edge tells what it knows of it, and begins nothing. */
  is_repeat?: boolean;
  /** A response that nobody waits for: its events and its end go to where it is kept, the answer says that it has ended. */
  background?: { response_id: string };
  /** Answer of the provider to a line of its own batch: nothing is called, the unit is priced by it. */
  given?: GivenAnswer;
}

/** The answer of a provider to one line of its batch. */
export interface GivenAnswer {
  /** The credential that it was asked with. */
  credential: string;
  status: number;
  /** Body as it came. */
  body: string;
}

export interface InferenceAnswer {
  status: number;
  body: Json;
  retry_after_seconds: number | null;
  /** True if the call ended a unit, whose event is then written. Edges of earlier releases do not say. */
  unit_ended?: boolean;
  /** True where a repeat asks for a task that this edge knows nothing of. */
  is_unknown?: boolean;
}

/** Money for lines of a batch that have not begun. */
export interface HoldCall {
  key_id: string;
  account_id: string;
  /** Id of the request that began the work: it has one hold. */
  request_id: string;
  model: string;
  /** All that is held from now on: integer nano-USD in decimal; "0" lets it go. */
  nano: string;
  /** Asks whether there is that much. Later ones renew or lower it, and are not refused; a hold that nobody renews lapses. */
  is_first: boolean;
}

/** One step of a batch that its provider runs as a whole. */
export interface UpstreamBatchCall {
  key_id: string;
  account_id: string;
  request_id: string;
  endpoint: string;
  /** Ours: the provider keeps it beside its batch, which is found by it after a crash. */
  batch_id: string;
  /** `create` begins one, whether there is one or not; `find` says whether there is one. */
  step: 'upload' | 'find' | 'create' | 'look' | 'cancel';
  /** State returned by the step before; null for the first. */
  state: UpstreamBatchState | null;
  /** The lines in the object store. */
  input: string;
  /**
   * Address of the lines in the form that the provider takes them, if it takes them with `create`. The caller removes
   * both.
   */
  lines: string;
}

/** The place of a batch at its provider, as later steps need it. */
export interface UpstreamBatchState {
  credential: string;
  /** The uploaded lines, and what they are asked of. */
  file: string;
  path: string;
  /** Lines that were sent: a bit for each line of the batch, as base64. */
  sent: string;
  /** All that it may cost the platform, in nano-USD, held on the provider's hard budgets while it runs; absent = nothing is. */
  held_nano?: string;
  /** The provider's batch; null while there is none. */
  id: string | null;
  /**
   * Batches of which one may be ours, at a provider that stores no name of ours. The names of its lines show it at its
   * end.
   */
  maybe?: string[];
}

/**
 * `none`: no provider runs it, or there is nothing of it there. `at` after `find`: it has an id, or others that may be it. `ended`: `results` names an object of lines
 * `{line, status, body}`, as many as have an answer; null where there are none.
 */
export type UpstreamBatch =
  { kind: 'none' } | { kind: 'at'; state: UpstreamBatchState } | { kind: 'ended'; results: string | null };

/** The routes that would serve a call. */
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
  /**
   * Returns the routes that would serve the call; nothing is called or counted. Throws the ApiError that it would get.
   */
  abstract plan(call: InferenceCall): Promise<InferencePlan>;
  /**
   * Returns what calls with these bodies would reserve together: integer nano-USD in decimal. A call that would be
   * refused adds nothing.
   */
  abstract worth(call: InferenceCall, bodies: readonly Json[]): Promise<string>;
  /** Throws ApiError `spend_limit_exceeded` where a first hold does not fit. */
  abstract hold(call: HoldCall): Promise<void>;
  /**
   * A batch of the provider's own, step by step; each may be asked for again. Throws ApiError `service_unavailable` for what
   * may pass.
   */
  abstract upstreamBatch(call: UpstreamBatchCall): Promise<UpstreamBatch>;
}
