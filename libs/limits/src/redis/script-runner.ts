/** One Lua script as a client needs it. */
export interface LimitScript {
  name: string;
  /** SHA-1 of `lua` in hex, for EVALSHA. */
  sha: string;
  lua: string;
}

/**
 * The one thing the limit store asks of Redis. The ioredis adapter lives in libs/fleet.
 *
 * The adapter owns the command timeout, EVALSHA with its fallback to EVAL, and the run id of the node: it must
 * refuse to run a script on a connection whose node's run id it has not read yet, else a lagging replica that was
 * promoted could pass for the node that knew every spend.
 */
export interface ScriptRunner {
  run(script: LimitScript, keys: string[], args: (string | Buffer)[]): Promise<string | Buffer | null>;
  /** `run_id` (40 hex digits) of the node that serves `key`; throws while it is not known. */
  runId(key: string): string;
}
