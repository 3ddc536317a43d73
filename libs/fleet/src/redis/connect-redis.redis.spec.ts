import { createHash } from 'node:crypto';
import { eventually, ownRedis, seededRandom, testRedis, testRedisCluster } from '@gateway/testing';
import type { PutUnit } from '@gateway/contracts';
import type { Cluster } from 'ioredis';
import { SystemClock } from '@gateway/platform';
import { ConnectedLimitStore, connectRedis, type RedisConnection } from './connect-redis.js';
import { hashSlot } from './hash-slot.js';

const clock = new SystemClock();
const ECHO = script("return redis.call('SET', KEYS[1], ARGV[1]) and ARGV[1]");

function script(lua: string) {
  return { name: 'test', sha: createHash('sha1').update(lua).digest('hex'), lua };
}

/** Runs ECHO. */
function echo({ pipe }: RedisConnection, key: string, value: string): Promise<string> {
  return new Promise((resolve, reject) => {
    pipe.send(pipe.prepare(ECHO, [key], []), [value], (failure, answer) =>
      failure === null ? resolve(answer.toString()) : reject(failure),
    );
  });
}

const isConnected = (connection: RedisConnection): boolean => connection.pipe.nodeOf('k') !== null;

async function fails(connection: RedisConnection): Promise<{ ms: number; message: string }> {
  const began = clock.monotonic();
  const message = await echo(connection, 'k', 'v').then(
    () => 'answered',
    (error: Error) => error.message,
  );
  return { ms: clock.monotonic() - began, message };
}

describe('connectRedis', () => {
  it('R05 fails a call within its bound while Redis hangs, opens the breaker, and recovers by itself', async () => {
    const server = await ownRedis();
    const notices: string[] = [];
    const connection = connectRedis({
      url: server.address,
      clientName: 'spec',
      clock,
      onNotice: ({ message }) => notices.push(message),
    });
    await eventually(() => isConnected(connection));
    expect(await echo(connection, 'k', 'v')).toBe('v');

    server.freeze();
    await eventually(async () => (await fails(connection)).message.includes('not asked'));
    expect((await fails(connection)).ms).toBeLessThan(20);
    server.thaw();
    await eventually(async () => (await fails(connection)).message === 'answered');
    expect(notices.map((notice) => notice.replace(/.* is /, ''))).toEqual(['open.', 'closed.']);
    connection.close();
    await server.drop();
  });

  it('keeps an answer that arrived while this process was busy for longer than the bound', async () => {
    const { url, drop } = await testRedis();
    const connection = connectRedis({ url, clientName: 'spec', clock });
    await eventually(() => isConnected(connection));
    for (let n = 0; n < 5; n += 1) {
      const answers = Promise.all(Array.from({ length: 20 }, () => fails(connection)));
      const busyUntil = clock.monotonic() + 100;
      while (clock.monotonic() < busyUntil);
      expect(new Set((await answers).map(({ message }) => message))).toEqual(new Set(['answered']));
    }
    connection.close();
    await drop();
  });

  it('R05 fails at once while Redis is gone, and works again once it is back', async () => {
    const server = await ownRedis();
    const connection = connectRedis({ url: server.address, clientName: 'spec', clock });
    await eventually(() => isConnected(connection));
    server.kill();
    await eventually(() => !isConnected(connection));
    expect((await fails(connection)).ms).toBeLessThan(200);
    await server.restart();
    await eventually(() => isConnected(connection));
    expect((await fails(connection)).message).toBe('answered');
    connection.close();
    await server.drop();
  });

  it('answers service_unavailable through the limit store while Redis is away', async () => {
    const limits = new ConnectedLimitStore({
      url: 'redis://127.0.0.1:1',
      clientName: 'spec',
      clock,
      random: seededRandom(1),
    });
    await expect(limits.version('acct_1')).rejects.toMatchObject({ code: 'service_unavailable' });
    await limits.close();
  });

  it('sends each key of a cluster to its own master, with that node’s run id', async () => {
    const { nodes, prefix } = await testRedisCluster();
    const connection = connectRedis({
      clusterNodes: nodes,
      clientName: 'spec',
      clock,
    });
    const keys = Array.from({ length: 30 }, (_, n) => `scope:{${prefix}acct_${n}}:org`);
    for (const key of keys) {
      await eventually(() => connection.pipe.nodeOf(key));
      expect(await eventually(() => echo(connection, key, key))).toBe(key);
    }
    expect(new Set(keys.map((key) => connection.pipe.nodeOf(key))).size).toBe(3);
    const cluster = connection.client as Cluster;
    for (const key of keys.slice(0, 5)) expect(hashSlot(key)).toBe(await cluster.cluster('KEYSLOT', key));
    connection.close();
  });

  it('operations 2: lists the accounts with units of every master, and those with names of lapsed ones', async () => {
    const { nodes, prefix } = await testRedisCluster();
    const store = new ConnectedLimitStore({
      clusterNodes: nodes,
      clientName: 'spec',
      clock,
      random: seededRandom(1),
    });
    const accounts = Array.from({ length: 30 }, (_, n) => `${prefix}acct_${n}`).sort();
    for (const accountId of accounts) {
      await eventually(() => !store.isUnavailable(accountId));
      const unit: PutUnit = {
        ...{ accountId, unit: 'req_1/0', action: 'renew', nano: 1n, scopes: [], tokens: 0 },
        ...{ tokenEstimate: 0, minute: 0, leaseMs: 1 },
      };
      await store.put([unit]);
    }
    expect(await listed(store, prefix)).toEqual(accounts);
    for (const accountId of accounts)
      await eventually(async () => (await store.read(accountId, [])).reservedUnits === 0);
    expect(await listed(store, prefix)).toEqual(accounts);
    for (const accountId of accounts) {
      const units = [{ unit: 'req_1/0', crash: true }];
      await store.mirror({ accountId, gen: null, version: 0, balanceNano: 0n, scopes: [], units });
    }
    expect(await listed(store, prefix)).toEqual([]);
    await store.close();
  });
});

/** The accounts of this spec alone: others use the cluster, too. */
async function listed(store: ConnectedLimitStore, prefix: string): Promise<string[]> {
  const accounts = new Set<string>();
  for (let cursor: string | null = '0'; cursor !== null;) {
    const page = await store.accountsWithUnits(cursor);
    for (const account of page.accounts) if (account.startsWith(prefix)) accounts.add(account);
    cursor = page.next;
  }
  return [...accounts].sort();
}
