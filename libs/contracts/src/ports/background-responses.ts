import type { IdempotencyClaim } from './idempotency-store.js';
import type { ReserveMemory } from './response-store.js';

type Json = Record<string, unknown>;

/** A response that was asked for with `background: true`, before anything of it is made. */
export interface NewBackgroundResponse {
  id: string;
  /** Key that alone may read the response. */
  key_id: string;
  account_id: string;
  request_id: string;
  end_user_hash: string | null;
  previous_response_id: string | null;
  conversation_id: string | null;
  /** Unix seconds. */
  created_at: number;
  /** Items of this request alone. */
  input: Json[];
  /** Body as the caller sent it. */
  body: Json;
  /** Response as it is shown until the run ends. */
  response: Json;
}

/** One run of one: a later run, of whatever process, takes it over for good. */
export interface BackgroundRun {
  key_id: string;
  response_id: string;
  run: string;
}

export interface NumberedEvent {
  number: number;
  event: Json;
}

/** The end of a run. */
export interface EndedResponse {
  /** Response as the provider stored it. */
  response: Json;
  /** The provider and credential that answered in the responses format. */
  credential: string | null;
}

export interface EventsPage {
  events: NumberedEvent[];
  /** Nothing comes after these. */
  is_over: boolean;
}

/**
 * Responses that nobody waits for. Drivers: in process (workers service); HTTP. Throws ApiError `service_unavailable`
 * where it cannot be asked.
 */
export abstract class BackgroundResponses {
  /**
   * It will be run, and the claim is answered with it: both or neither. Throws `conflict` where the key has too many that have
   * not ended, and where the claim is another request's by now.
   */
  abstract begin(response: NewBackgroundResponse, claim?: IdempotencyClaim): Promise<void>;
  /** The number of the run's first event; null where there is nothing to run any more. */
  abstract take(run: BackgroundRun): Promise<number | null>;
  /** Adds events, and with the last of them its end; a repeat changes nothing. False where it is not the run's any more. */
  abstract append(run: BackgroundRun, events: NumberedEvent[], ended: EndedResponse | null): Promise<boolean>;
  /** Some of its events after this number; of one that has ended at least the last. Null where the key has none of this id. */
  abstract events(
    keyId: string,
    id: string,
    after: number,
    reserveMemory: ReserveMemory,
  ): Promise<EventsPage | null>;
}
