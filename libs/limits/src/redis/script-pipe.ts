/** One Lua script as a client needs it. */
export interface LimitScript {
  name: string;
  /** SHA-1 of `lua` in hex, for EVALSHA. */
  sha: string;
  lua: string;
}

/** A script with its keys and the last of its arguments, made once and sent many times. What is in it is the pipe's. */
export interface PreparedScript {
  readonly key: string;
}

/** Called once with the answer, or with the reason why there is none. It must not throw. */
export type Answered = (failure: Error | null, answer: Buffer) => void;

/**
 * The one thing the limit store asks of Redis; the pipe over ioredis lives in libs/fleet. It owns the command timeout,
 * the breaker, EVALSHA with its fallback, and the run id of each node. It must refuse to run a script on a connection
 * whose node's run id it has not read yet: a lagging replica that was promoted could pass for the node that knew
 * every spend.
 *
 * Keys and arguments are strings of one byte a character, which a socket takes without encoding them: `bytesOf`.
 */
export interface ScriptPipe {
  /** `last`: the arguments that follow those of `send`. */
  prepare(script: LimitScript, keys: readonly string[], last: readonly string[]): PreparedScript;
  send(call: PreparedScript, args: readonly string[], answered: Answered): void;
  /**
   * The first 16 digits of the `run_id` of the node that serves `key`; null while a call would fail without being sent:
   * the node is not connected, its run id is not known, or its breaker is open.
   */
  nodeOf(key: string): string | null;
  /** Keys of equal numbers may stand in one script. */
  hashSlotOf(key: string): number;
}

/** UTF-8 as one character a byte. */
export function bytesOf(text: string): string {
  return Buffer.byteLength(text) === text.length ? text : Buffer.from(text, 'utf8').toString('latin1');
}

/** Numbers as packed little-endian doubles, which Lua unpacks faster than it parses text. */
export function doubles(values: readonly number[]): string {
  const buffer = Buffer.allocUnsafe(8 * values.length);
  for (let index = 0; index < values.length; index += 1) buffer.writeDoubleLE(values[index], 8 * index);
  return buffer.toString('latin1');
}
