import { createHash } from 'node:crypto';
import { eventually, securedRedis, type SecuredRedis } from '@gateway/testing';
import { loadConfig, SystemClock } from '@gateway/platform';
import { connectRedis, type RedisConnection } from './connect-redis.js';
import { redisAddress, RedisConfig } from './redis.config.js';

const LUA = "return tostring(redis.call('INCR', KEYS[1]))";
const SCRIPT = { name: 'spec', sha: createHash('sha1').update(LUA).digest('hex'), lua: LUA };
let redis: SecuredRedis;
let access: Record<string, string>;

beforeAll(async () => {
  redis = await securedRedis();
  access = { REDIS_PASSWORD: redis.password, REDIS_TLS: 'true', REDIS_TLS_CA: redis.ca };
});
afterAll(() => redis.drop());

function run({ pipe }: RedisConnection, key: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    pipe.send(pipe.prepare(SCRIPT, [key], []), [], (failure, answer) =>
      failure === null ? resolve(answer) : reject(failure),
    );
  });
}

/** Returns the answer to the first script, or the notices of a refused connection. */
async function attempt(env: Record<string, string>, keys = ['k']): Promise<string> {
  const notices: string[] = [];
  const connection = connectRedis({
    ...redisAddress(loadConfig(RedisConfig, env)),
    clientName: 'spec',
    clock: new SystemClock(),
    onNotice: ({ message }) => notices.push(message),
  });
  try {
    return await eventually(async () => {
      if (notices.length > 0) return notices[0];
      for (const key of keys) await run(connection, key);
      return 'answered';
    });
  } finally {
    connection.close();
  }
}

describe('Redis with TLS and a password', () => {
  it('takes a server by its password, and by a user and password in the place of those in the url', async () => {
    const url = { REDIS_URL: `redis://${redis.server}` };
    expect(await attempt({ ...access, ...url })).toBe('answered');
    const wrong = { REDIS_URL: `rediss://nobody:none@${redis.server}`, REDIS_TLS: 'false' };
    expect(await attempt({ ...access, ...wrong, REDIS_USERNAME: redis.username })).toBe('answered');
    const { username, password } = redis;
    const own = `rediss://${username}:${encodeURIComponent(password)}@${redis.server}`;
    expect(await attempt({ REDIS_URL: own, REDIS_TLS_CA: redis.ca })).toBe('answered');
  });

  it('takes a cluster and a master behind a sentinel', async () => {
    const keys = ['a', 'b', 'c', 'd', 'e', 'f'];
    expect(await attempt({ ...access, REDIS_CLUSTER_NODES: redis.cluster.join(',') }, keys)).toBe('answered');
    const sentinel = { REDIS_SENTINELS: redis.sentinel, REDIS_SENTINEL_PASSWORD: redis.sentinelPassword };
    expect(await attempt({ ...access, ...sentinel })).toBe('answered');
  });

  it('believes no server of an unknown authority, and is refused with a wrong password', async () => {
    const url = { REDIS_URL: `rediss://${redis.server}` };
    expect(await attempt({ ...url, REDIS_PASSWORD: redis.password })).toMatch(/certificate/);
    expect(await attempt({ ...access, ...url, REDIS_PASSWORD: 'wrong' })).toMatch(/WRONGPASS/);
  });
});
