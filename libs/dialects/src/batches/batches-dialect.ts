import type { JsonObject } from '../body/json-object.js';
import type { UpstreamBody } from '../translation/upstream-body.js';

/** How a provider takes batches that it runs itself, at a better price than their lines one by one. */
export interface BatchesDialect {
  /** As providers name it. */
  readonly name: string;
  /** Bytes of one batch at most. */
  readonly bytesMax: number;
  /** Whether requests to this path of its API may be lines. */
  takes(path: string): boolean;
  /** A request as a line; `number` comes back with its answer. */
  line(number: number, request: UpstreamBody): Uint8Array;
  /** Sends the lines, which begins nothing, and answers what the provider calls them. May be repeated. */
  upload(calls: BatchCalls, lines: readonly Uint8Array[], name: string): Promise<string>;
  /** The batch that was begun under this name not before `sinceSeconds`; null where there is none. */
  find(calls: BatchCalls, name: string, sinceSeconds: number): Promise<string | null>;
  /** Begins the batch and answers what the provider calls it. */
  create(calls: BatchCalls, batch: { name: string; file: string; path: string }): Promise<string>;
  /** Null while it runs; then where its answers are, also those of one that was cut short. */
  look(calls: BatchCalls, id: string): Promise<readonly UpstreamBody[] | null>;
  /** One that has ended by itself meanwhile is no fault. */
  cancel(calls: BatchCalls, id: string): Promise<void>;
  /** A line of the answers; null for a line that was never run, or is none. */
  answer(text: string): BatchAnswer | null;
}

/** What a line was answered. */
export interface BatchAnswer {
  readonly line: number;
  readonly status: number;
  /** As it came. */
  readonly body: string;
}

/** Calls with the credential of the batch. */
export interface BatchCalls {
  /** Throws where the status is beyond 2xx, the answer no JSON object or nothing comes. */
  send(request: UpstreamBody): Promise<JsonObject>;
}
