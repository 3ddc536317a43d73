import { Cluster, Redis } from 'ioredis';
import type { TestRedisCluster } from './test-redis.js';

/** One script as the limit store hands it over; declared by shape, so that the harness depends on no logic lib. */
interface Script {
  sha: string;
  lua: string;
}

interface Prepared {
  key: string;
  script: Script;
  keys: readonly string[];
  last: readonly string[];
}

/** Scripts of the limit store over a connection, with a node identity that a test may change as a failover would. */
export interface RedisScripts {
  client: Redis;
  pipe: {
    prepare(script: Script, keys: readonly string[], last: readonly string[]): Prepared;
    send(
      call: { key: string },
      args: readonly string[],
      answered: (failure: Error | null, answer: Buffer) => void,
    ): void;
    nodeOf(): string;
    hashSlotOf(): number;
  };
  /** Changes the name of the node. */
  pretendNode(runId: string): void;
  close(): void;
}

/** The same over a cluster, in a namespace of its own: one database is all that a cluster has. */
export interface ClusterScripts {
  pipe: Omit<RedisScripts['pipe'], 'hashSlotOf'> & { hashSlotOf(key: string): number };
  /** Changes the namespace: everything is empty. */
  flush(): Promise<void>;
  close(): void;
}

export function clusterScripts({ nodes, prefix }: TestRedisCluster, timeoutMs = 5_000): ClusterScripts {
  const cluster = new Cluster(nodes, { redisOptions: { commandTimeout: timeoutMs } });
  cluster.on('error', () => undefined);
  let flushes = 0;
  const tags = new Map<string, number>();
  const calls = new WeakMap<{ key: string }, Prepared>();
  // The name of an account stands in the hash tag of each of its keys, and in nothing else that a script sees.
  const named = (key: string): string => key.replace('{', `{${prefix}${flushes}:`);
  return {
    pipe: {
      prepare: (script, keys, last) => {
        const prepared = { key: keys[0], script, keys, last };
        calls.set(prepared, prepared);
        return prepared;
      },
      send: (call, args, answered) => {
        const prepared = calls.get(call);
        if (prepared === undefined) throw new TypeError('a call of another pipe');
        const { script, keys, last } = prepared;
        const all = [...keys.map(named), ...args, ...last].map((text) => Buffer.from(text, 'latin1'));
        cluster.callBuffer('eval', script.lua, keys.length, ...all).then(
          (answer) => answered(null, answer as Buffer),
          (failure: Error) => answered(failure, Buffer.alloc(0)),
        );
      },
      nodeOf: () => 'c'.repeat(16),
      hashSlotOf: (key) => {
        const tag = /\{[^}]*\}/.exec(key)?.[0] ?? key;
        const slot = tags.get(tag) ?? tags.size;
        tags.set(tag, slot);
        return slot;
      },
    },
    flush: async () => void (flushes += 1),
    close: () => cluster.disconnect(),
  };
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
  const run = async ({ script, keys, last }: Prepared, args: readonly string[]): Promise<Buffer> => {
    const all = [...keys, ...args, ...last].map((text) => Buffer.from(text, 'latin1'));
    const answer: unknown = await client
      .callBuffer('evalsha', script.sha, keys.length, ...all)
      .catch((error: Error) => {
        if (!error.message.startsWith('NOSCRIPT')) throw error;
        return client.callBuffer('eval', script.lua, keys.length, ...all);
      });
    if (!Buffer.isBuffer(answer)) throw new Error('the script answered no text');
    return answer;
  };
  const calls = new WeakMap<{ key: string }, Prepared>();
  return {
    client,
    pipe: {
      prepare: (script, keys, last) => {
        const prepared = { key: keys[0], script, keys, last };
        calls.set(prepared, prepared);
        return prepared;
      },
      send: (call, args, answered) => {
        const prepared = calls.get(call);
        if (prepared === undefined) throw new TypeError('a call of another pipe');
        run(prepared, args).then(
          (answer) => answered(null, answer),
          (failure: Error) => answered(failure, Buffer.alloc(0)),
        );
      },
      nodeOf: () => runId.slice(0, 16),
      hashSlotOf: () => 0,
    },
    pretendNode: (next) => void (runId = next),
    close: () => client.disconnect(),
  };
}
