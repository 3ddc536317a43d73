import { Redis } from 'ioredis';

/** One script as the limit store hands it over; declared by shape, so that the harness depends on no logic lib. */
interface Script {
  sha: string;
  lua: string;
}

/** A connection that runs Lua scripts, with a node identity that a test may change as a failover would. */
export interface RedisScripts {
  client: Redis;
  runner: {
    run(script: Script, keys: string[], args: (string | Buffer)[]): Promise<string | null>;
    runId(): string;
  };
  /** From now on the node calls itself this. */
  pretendNode(runId: string): void;
  close(): void;
}

/** Connects as the gateway does: no offline queue, nothing sent twice. `timeoutMs` is wide for a busy machine. */
export async function redisScripts(url: string, timeoutMs = 5_000): Promise<RedisScripts> {
  const client = new Redis(url, {
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    commandTimeout: timeoutMs,
  });
  client.on('error', () => undefined); // Tests take Redis away on purpose.
  await client.connect();
  let runId = /^run_id:([0-9a-f]{40})/m.exec(await client.info('server'))?.[1] ?? '';
  const run = async (script: Script, keys: string[], args: (string | Buffer)[]): Promise<string | null> => {
    const answer: unknown = await client
      .evalsha(script.sha, keys.length, ...keys, ...args)
      .catch((error: Error) => {
        if (!error.message.startsWith('NOSCRIPT')) throw error;
        return client.eval(script.lua, keys.length, ...keys, ...args);
      });
    return typeof answer === 'string' ? answer : null;
  };
  return {
    client,
    runner: { run, runId: () => runId },
    pretendNode: (next) => void (runId = next),
    close: () => client.disconnect(),
  };
}
