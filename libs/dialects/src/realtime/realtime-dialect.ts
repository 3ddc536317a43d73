import type { JsonObject } from '../body/json-object.js';
import type { UpstreamBody } from '../translation/upstream-body.js';

/** What a provider of spoken sessions speaks on its WebSocket; callers speak OpenAI's events. */
export interface RealtimeDialect {
  /** As the routes of the catalogue name it. */
  readonly name: string;
  /** Where a session is opened; the provider adds its address and credential. */
  open(upstreamModel: string): UpstreamBody;
  /** Absent: it speaks the caller's events. */
  translator?(upstreamModel: string, newId: (kind: string) => string): RealtimeTranslator;
}

/** One session between events of the caller and messages of its provider. Never throws. */
export interface RealtimeTranslator {
  /** Characters of the caller's that wait here: for the provider to be set up, for the next response. */
  readonly heldLength: number;
  /** What the caller is sent first. */
  opened(): JsonObject[];
  /** An event of the caller: what the provider gets, and what the caller is answered at once. */
  sent(event: JsonObject): { provider: JsonObject[]; caller: JsonObject[] };
  /** A message of the provider as events for the caller, and what was held back until it came; null where it is none. */
  received(message: JsonObject): { provider: JsonObject[]; caller: JsonObject[] } | null;
}
