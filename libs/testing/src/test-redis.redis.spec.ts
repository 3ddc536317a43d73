import { Cluster, Redis } from 'ioredis';
import { ownRedis, testRedis, testRedisCluster } from './test-redis.js';

describe('testRedis', () => {
  it('gives two callers two empty databases, and empties one that is given back', async () => {
    const [first, second] = [await testRedis(), await testRedis()];
    const [one, two] = [new Redis(first.url), new Redis(second.url)];
    await one.set('key', 'value');
    expect(await two.get('key')).toBeNull();
    expect(await two.config('GET', 'maxmemory-policy')).toEqual(['maxmemory-policy', 'noeviction']);
    await first.drop();
    expect(await one.dbsize()).toBe(0);
    await second.drop();
    one.disconnect();
    two.disconnect();
  });
});

describe('ownRedis', () => {
  it('answers nothing while frozen, and comes back empty at the same address after kill -9', async () => {
    const server = await ownRedis();
    const impatient = { commandTimeout: 200, maxRetriesPerRequest: 0, retryStrategy: () => null };
    const client = new Redis(server.address, impatient);
    client.on('error', () => undefined); // The connection breaks on purpose.
    await client.set('key', 'value');
    server.freeze();
    await expect(client.get('key')).rejects.toThrow(/timed out/i);
    server.thaw();
    server.kill();
    await server.restart();
    const again = new Redis(server.address, impatient);
    expect(await again.get('key')).toBeNull();
    again.disconnect();
    client.disconnect();
    await server.drop();
    await expect(new Redis(server.address, { ...impatient, lazyConnect: true }).connect()).rejects.toThrow();
  });
});

describe('testRedisCluster', () => {
  it('spreads keys over three masters', async () => {
    const { nodes, prefix } = await testRedisCluster();
    expect(nodes).toHaveLength(6);
    const cluster = new Cluster(nodes, { keyPrefix: prefix });
    await Promise.all(Array.from({ length: 50 }, (_, n) => cluster.set(`key-${n}`, n)));
    const sizes = await Promise.all(cluster.nodes('master').map((node) => node.dbsize()));
    expect(sizes.filter((size) => size > 0)).toHaveLength(3);
    expect(await cluster.get('key-49')).toBe('49');
    cluster.disconnect();
  });
});
