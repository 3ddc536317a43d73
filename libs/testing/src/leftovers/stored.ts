import { Redis } from 'ioredis';
import { Client } from 'pg';

const CONNECT_MS = 5_000;
const QUERY_MS = 60_000;
const KEYS_A_SCAN = 1_000;

/** Every row of every table of a database as text; bytes are in hex. */
export async function* rowsOf(url: string): AsyncGenerator<{ table: string; text: string }> {
  const bounds = { connectionTimeoutMillis: CONNECT_MS, query_timeout: QUERY_MS };
  const database = new Client({ connectionString: url, ...bounds });
  await database.connect();
  try {
    const { rows: tables } = await database.query<{ name: string }>(
      `select format('%I.%I', nspname, relname) as name from pg_class join pg_namespace on pg_namespace.oid = relnamespace
       where relkind in ('r', 'm') and nspname !~ '^pg_' and nspname <> 'information_schema'`,
    );
    for (const { name: table } of tables) {
      const { rows } = await database.query<{ text: string }>(`select t::text as text from ${table} t`);
      for (const { text } of rows) yield { table, text };
    }
  } finally {
    await database.end();
  }
}

/** Every key of a logical database of Redis with its value. */
export async function* entriesOf(url: string): AsyncGenerator<string> {
  const redis = new Redis(url, {
    connectTimeout: CONNECT_MS,
    commandTimeout: CONNECT_MS,
    maxRetriesPerRequest: 1,
  });
  try {
    for await (const keys of redis.scanStream({ count: KEYS_A_SCAN }) as AsyncIterable<string[]>) {
      for (const key of keys) yield `${key} ${JSON.stringify(await valueOf(redis, key))}`;
    }
  } finally {
    redis.disconnect();
  }
}

async function valueOf(redis: Redis, key: string): Promise<unknown> {
  const type = await redis.type(key);
  if (type === 'string') return (await redis.getBuffer(key))?.toString('latin1');
  if (type === 'hash') return redis.hgetall(key);
  if (type === 'set') return redis.smembers(key);
  if (type === 'zset') return redis.zrange(key, '0', '-1');
  if (type === 'list') return redis.lrange(key, 0, -1);
  if (type === 'none') return null;
  throw new Error(`${key} is a ${type}: nothing here can read it.`);
}
