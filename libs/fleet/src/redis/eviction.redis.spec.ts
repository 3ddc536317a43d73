import { SystemClock } from '@gateway/platform';
import { ownRedis, testRedisCluster } from '@gateway/testing';
import { Redis } from 'ioredis';
import { evictionPolicies, refuseEviction } from './eviction.js';

const clock = new SystemClock();

it('OPS a Redis that may evict keys is refused with its address, its policy and the right one', async () => {
  const server = await ownRedis();
  await refuseEviction({ url: server.address }, clock);
  const client = new Redis(server.address);
  await client.config('SET', 'maxmemory-policy', 'allkeys-lru');
  client.disconnect();
  const { host } = new URL(server.address);
  await expect(refuseEviction({ url: server.address }, clock)).rejects.toMatchObject({
    name: 'ConfigError',
    faults: [
      expect.stringContaining(
        `Redis ${host} has the maxmemory-policy "allkeys-lru" and has to have "noeviction"`,
      ),
    ],
  });
  await server.drop();
});

it('OPS each master of a cluster is asked, and one whose masters keep all keys is taken', async () => {
  const { nodes } = await testRedisCluster();
  const policies = await evictionPolicies({ clusterNodes: nodes }, clock);
  expect(policies.map(({ policy }) => policy)).toEqual(['noeviction', 'noeviction', 'noeviction']);
  expect(new Set(policies.map(({ node }) => node)).size).toBe(3);
  await expect(refuseEviction({ clusterNodes: nodes }, clock)).resolves.toBeUndefined();
});

it('OPS a Redis that is away, or forbids INFO, refuses no start', async () => {
  await expect(refuseEviction({ url: 'redis://127.0.0.1:1' }, clock)).resolves.toBeUndefined();
  const server = await ownRedis();
  const client = new Redis(server.address);
  await client.config('SET', 'maxmemory-policy', 'allkeys-lru');
  await client.acl('SETUSER', 'default', '-info');
  await expect(refuseEviction({ url: server.address }, clock)).resolves.toBeUndefined();
  client.disconnect();
  await server.drop();
});
