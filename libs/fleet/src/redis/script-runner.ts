import type { Clock } from '@gateway/contracts';
import type { LimitScript, ScriptRunner } from '@gateway/limits';
import type { Redis } from 'ioredis';
import { TimedCalls } from './timed-calls.js';

const RUN_ID_TIMEOUT_MS = 1_000;

/**
 * Lua scripts over one ioredis connection. The client must be made with `enableOfflineQueue: false` and
 * `autoResendUnfulfilledCommands: false`: a call that waits or is sent again by the client would carry the run id of
 * another connection. Scripts are bounded by who runs them, the reading of the run id here.
 */
export class IoredisScriptRunner implements ScriptRunner {
  private nodeRunId: string | null = null;
  private readonly reading: TimedCalls;

  constructor(
    private readonly client: Redis,
    clock: Clock,
  ) {
    this.reading = new TimedCalls(RUN_ID_TIMEOUT_MS, clock);
    client.on('ready', () => void this.readRunId());
    client.on('close', () => (this.nodeRunId = null));
    if (client.status === 'ready') void this.readRunId();
  }

  runId(): string {
    if (this.nodeRunId === null) throw new Error('Redis is not connected, or its run id is not known yet.');
    return this.nodeRunId;
  }

  async run(script: LimitScript, keys: string[], args: (string | Buffer)[]): Promise<string | Buffer | null> {
    this.gather();
    try {
      return textOf(await this.client.evalsha(script.sha, keys.length, ...keys, ...args));
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
      return textOf(await this.client.eval(script.lua, keys.length, ...keys, ...args));
    }
  }

  /** What one turn of the event loop asks leaves in one write: each of its own costs more than most of a request. */
  private gather(): void {
    const { stream } = this.client;
    if (stream === undefined || stream.writableCorked > 0) return;
    stream.cork();
    setImmediate(() => stream.uncork());
  }

  private async readRunId(): Promise<void> {
    const connection = this.client.stream;
    try {
      const runId = /^run_id:([0-9a-f]{40})/m.exec(
        await this.reading.inTime(this.client.info('server')),
      )?.[1];
      // The connection may have gone while the answer was on its way: the next one reads its own.
      if (this.client.stream === connection && this.client.status === 'ready') this.nodeRunId = runId ?? null;
    } catch {
      // Without the run id every call fails as if Redis were away; a connection that cannot answer INFO is dropped.
      this.client.disconnect(true);
    }
  }
}

function textOf(answer: unknown): string | Buffer | null {
  if (typeof answer === 'string' || Buffer.isBuffer(answer) || answer === null) return answer;
  throw new Error('a script answered something other than a string');
}
