import type { JsonObject } from '../body/json-object.js';
import type { UpstreamBody } from '../translation/upstream-body.js';

/** The format of a provider's spoken sessions on its WebSocket; callers use OpenAI's events. */
export interface RealtimeDialect {
  /** Name that the catalogue's routes use for it. */
  readonly name: string;
  /** Returns the request that opens a session; the provider adds its address and credential. */
  open(upstreamModel: string): UpstreamBody;
  /** Absent: it speaks the caller's events. */
  translator?(upstreamModel: string, newId: (kind: string) => string): RealtimeTranslator;
}

/** One session between events of the caller and messages of its provider. Never throws. */
export interface RealtimeTranslator {
  /** Characters of the caller's that wait here: for the provider to be set up, for the next response. */
  readonly heldLength: number;
  /** Returns the first messages to the caller. */
  opened(): JsonObject[];
  /** An event of the caller: what the provider gets, and what the caller is answered at once. */
  sent(event: JsonObject): { provider: JsonObject[]; caller: JsonObject[] };
  /** A message of the provider as events for the caller, and what was held back until it came; null where it is none. */
  received(message: JsonObject): { provider: JsonObject[]; caller: JsonObject[] } | null;
}
