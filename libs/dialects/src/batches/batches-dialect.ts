import type { JsonObject } from '../body/json-object.js';
import type { UpstreamBody } from '../translation/upstream-body.js';

/** A provider's way to take batches that it runs itself, at a better price than their lines one by one. */
export interface BatchesDialect {
  /** Name that providers use for it. */
  readonly name: string;
  /** Bytes of one batch at most. */
  readonly bytesMax: number;
  /** Lines of one batch at least; fewer are run one by one. */
  readonly linesMin?: number;
  /** Lines and answers go through a bucket of the operator's: without one there are no batches. */
  readonly needsPlace?: true;
  /** The provider takes the lines with the call that begins the batch, so they are kept until then. */
  readonly beginsWithLines?: true;
  /** Returns true if requests to this path of its API may be lines. */
  takes(path: string): boolean;
  /** A request as a line of the batch `name`; `number` comes back with its answer. */
  line(number: number, request: UpstreamBody, name: string): Uint8Array;
  /**
   * Sends the lines, or makes ready for a batch that begins with them, which begins nothing. Answers what the later calls
   * need to know, above all what the provider calls the lines. May be repeated.
   */
  upload(calls: BatchCalls, lines: readonly Uint8Array[], name: string): Promise<string>;
  /** Batches that may be this one: where they carry our name that one alone, or none. */
  find(calls: BatchCalls, batch: BatchQuery): Promise<readonly string[]>;
  /** Begins the batch and answers what the provider calls it. */
  create(calls: BatchCalls, batch: NewBatch): Promise<string>;
  /** Null while it runs; then where its answers are, also those of one that was cut short. */
  look(calls: BatchCalls, id: string): Promise<readonly UpstreamBody[] | null>;
  /** One that has ended by itself meanwhile is no fault. */
  cancel(calls: BatchCalls, id: string): Promise<void>;
  /** A line of the answers; null for a line that was never run, is none, or is another batch's. */
  answer(text: string, name: string): BatchAnswer | null;
  /**
   * Returns true if a line of the answers belongs to the batch `name`; null for text that is no line. Absent where
   * batches carry our name.
   */
  owns?(text: string, name: string): boolean | null;
}

export interface NewBatch {
  /** Ours. */
  readonly name: string;
  /** Id that `upload` returned. */
  readonly file: string;
  readonly path: string;
  /** The lines behind each other, where the batch begins with them. */
  readonly lines: Uint8Array;
}

export interface BatchQuery extends Pick<NewBatch, 'name' | 'file'> {
  /** Number of its lines. */
  readonly count: number;
  /** It was not begun before. */
  readonly sinceSeconds: number;
}

/** The answer to a line. */
export interface BatchAnswer {
  readonly line: number;
  readonly status: number;
  /** Body as it came. */
  readonly body: string;
}

/** Calls with the credential of the batch. */
export interface BatchCalls {
  /** Throws where the status is beyond 2xx, the answer no JSON object or nothing comes. */
  send(request: UpstreamBody): Promise<JsonObject>;
  /** The same where the answer says nothing. */
  put(request: UpstreamBody): Promise<void>;
  readonly place?: BatchPlace;
}

/** The place where a provider reads lines and writes answers, and its role there. */
export interface BatchPlace {
  readonly bucket: string;
  readonly roleArn: string;
}
