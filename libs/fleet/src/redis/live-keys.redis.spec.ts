import { FixedClock, ownRedis, testRedis, testRedisCluster } from '@gateway/testing';
import { SystemClock } from '@gateway/platform';
import { Redis } from 'ioredis';
import { connectRedis, untilReady, type RedisAddress, type RedisConnection } from './connect-redis.js';
import { LiveKeys } from './live-keys.js';

const digest = (n: number): string => n.toString(16).padStart(64, '0');

describe('LiveKeys', () => {
  const connections: RedisConnection[] = [];
  const connected = (address: RedisAddress): RedisConnection => {
    const connection = connectRedis({ ...address, clientName: 'spec', onNotice: () => undefined });
    connections.push(connection);
    return connection;
  };
  afterEach(() => connections.splice(0).forEach((connection) => connection.close()));

  it('operations 9: an edge reads the keys that others looked up in the last hour, the newest first, and no other text', async () => {
    const { url, drop } = await testRedis();
    const clock = new FixedClock('2026-11-01T00:00:00Z');
    const { client } = connected({ url });
    const [one, other] = [new LiveKeys(client, clock), new LiveKeys(connected({ url }).client, clock)];
    await untilReady(client);
    expect(await other.read(Infinity)).toEqual([]);
    const now = clock.now();
    await client.zadd(
      'live_keys',
      now - 3_600_001,
      digest(1),
      now - 3_599_000,
      digest(2),
      now,
      'rsk_no digest',
    );
    Array.from({ length: 1_500 }, (_, n) => one.note(digest(10 + n)));
    await one.flush();
    const read = await other.read(Infinity);
    expect(read).toHaveLength(1_501);
    expect(read.at(-1)).toBe(digest(2));
    expect(new Set(read.slice(0, 1_500))).toEqual(
      new Set(Array.from({ length: 1_500 }, (_, n) => digest(10 + n))),
    );
    // One part, with the text in it, is read where its time is over.
    expect(await other.read(clock.monotonic())).toEqual(read.slice(0, 999));
    // What is older than an hour is gone, and all of it where nobody notes any more.
    expect(await client.zscore('live_keys', digest(1))).toBeNull();
    expect(await client.pttl('live_keys')).toBeGreaterThan(3_500_000);
    await drop();
  });

  it('keeps 50,000, the newest', async () => {
    const { url, drop } = await testRedis();
    const { client } = connected({ url });
    const clock = new FixedClock('2026-11-01T00:00:00Z');
    const live = new LiveKeys(client, clock);
    for (let n = 0; n < 50_000; n += 1) live.note(digest(n));
    await untilReady(client);
    await live.flush();
    await clock.advance(1_000);
    live.note(digest(60_000));
    await live.flush();
    expect(await client.zcard('live_keys')).toBe(50_000);
    expect((await live.read(Infinity))[0]).toBe(digest(60_000));
    await drop();
  });

  it('fails in bounded time while Redis is away, and writes what was noted once it is back', async () => {
    const server = await ownRedis();
    const { client } = connected({ url: server.address });
    const live = new LiveKeys(client, new SystemClock());
    await untilReady(client);
    server.kill();
    live.note(digest(1));
    await expect(live.flush()).rejects.toThrow();
    await expect(live.read(Infinity)).rejects.toThrow();
    await server.restart();
    await untilReady(client);
    await live.flush();
    expect(await live.read(Infinity)).toEqual([digest(1)]);
    await server.drop();
  });

  it('works on a cluster', async () => {
    const { nodes } = await testRedisCluster();
    const { client } = connected({ clusterNodes: nodes });
    const live = new LiveKeys(client, new SystemClock());
    await untilReady(client);
    live.note(digest(7));
    await live.flush();
    expect(await live.read(Infinity)).toContain(digest(7));
    await client.del('live_keys');
  });

  it('reads nothing of a Redis that holds something else by that name', async () => {
    const { url, drop } = await testRedis();
    const client = new Redis(url);
    await client.set('live_keys', 'text');
    await expect(new LiveKeys(client, new SystemClock()).read(Infinity)).rejects.toThrow('WRONGTYPE');
    client.disconnect();
    await drop();
  });
});
