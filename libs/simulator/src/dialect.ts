import type { Answer, Ask } from './answer.js';
import type { NativeError } from './error-table.js';
import type { ErrorTable } from './error-table.js';
import type { JsonObject } from './json.js';
import type { Script } from './script.js';

/** One server-sent event before it is framed; `name` is absent where the dialect has no event line. */
export interface SimEvent {
  readonly name?: string;
  readonly data: string;
}

export interface AnswerContext {
  /** Twelve characters that make every id of this answer unique. */
  readonly id: string;
  /** Seconds since the epoch that it names as its birth. */
  readonly createdAt: number;
  readonly ask: Ask;
  readonly answer: Answer;
  readonly script: Script;
}

/** A wire format the simulator speaks: reading, checking and both forms of the answer. */
export interface SimDialect {
  readonly errors: ErrorTable;
  /** Checks what the provider checks before the body: its credential and version headers. */
  checkHeaders(headers: Readonly<Record<string, string>>): NativeError | undefined;
  check(body: JsonObject, headers: Readonly<Record<string, string>>, script: Script): NativeError | undefined;
  /** Its native error for a fault of no row: a body that is no JSON, a broken script. */
  refuse(status: number, message: string): NativeError;
  readAsk(body: JsonObject, script: Script): Ask;
  plain(context: AnswerContext): object;
  events(context: AnswerContext): Generator<SimEvent>;
  /** The error as an event of a stream that began with 200. */
  errorEvent(error: NativeError): SimEvent;
  /** Frame sent between events to keep a silent stream open. */
  readonly keepAlive: string;
}

/** A fixed birth date keeps answers equal from run to run. */
export const CREATED_AT = 1_767_322_800;
