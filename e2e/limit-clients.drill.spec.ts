import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { RedisLimitStore } from '@gateway/limits';
import { eventually, seededRandom, testRedis, testRedisCluster } from '@gateway/testing';
import { connectRedis, type RedisAddress } from '@gateway/fleet';

/** A program of the build, so that each client is a process of its own. */
const PROGRAM = fileURLToPath(
  new URL('../dist/libs/fleet/src/redis/admit-client.fixture.js', import.meta.url),
);
const PROCESSES = 4;
const LANES = 16;

interface AdmitPlan {
  address: RedisAddress;
  accounts: string[];
  rpm: number;
  lanes: number;
  name: string;
}

/** Units that were admitted, by account and minute. */
type AdmitReport = Record<string, Record<string, number>>;

interface Client {
  child: ChildProcess;
  lines: AsyncIterator<string>;
}

function start(plan: AdmitPlan): Client {
  const child = spawn(process.execPath, [PROGRAM, JSON.stringify(plan)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  return { child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() };
}

async function line({ lines }: Client): Promise<string> {
  const next = await lines.next();
  if (next.done === true) throw new Error('the process ended without a word');
  return next.value;
}

/** Lets four processes admit until each of their lanes is refused; answers what all admitted, by account and minute. */
async function race(address: RedisAddress, accounts: string[], rpm: number): Promise<Map<string, number>[]> {
  await open(address, accounts);
  const clients = Array.from({ length: PROCESSES }, (_, n) =>
    start({ address, accounts, rpm, lanes: LANES, name: `client-${n}` }),
  );
  try {
    for (const client of clients) expect(await line(client)).toBe('connected');
    for (const { child } of clients) child.stdin?.write('go\n');
    const reports = await Promise.all(
      clients.map(async (client) => JSON.parse(await line(client)) as AdmitReport),
    );
    return accounts.map((accountId) => {
      const byMinute = new Map<string, number>();
      for (const report of reports)
        for (const [minute, count] of Object.entries(report[accountId]))
          byMinute.set(minute, (byMinute.get(minute) ?? 0) + count);
      return byMinute;
    });
  } finally {
    for (const { child } of clients) child.kill('SIGKILL');
  }
}

/** The accounts' principals are known to the store. */
async function open(address: RedisAddress, accounts: string[]): Promise<void> {
  const connection = connectRedis({ ...address, clientName: 'spec', commandTimeoutMs: 10_000 });
  const store = new RedisLimitStore({ pipe: connection.pipe, random: seededRandom(1) });
  for (const accountId of accounts) {
    await eventually(() => !store.isUnavailable(accountId));
    const stale = await store.admit({
      accountId,
      accountVersion: 1,
      unitId: 'first/0',
      scopes: [{ kind: 'key', id: 'k1', rpm: null, rpd: null, tpm: null, capNano: null }],
      extra: [],
      creditLimitNano: null,
      reservationNano: 0n,
      tokenEstimate: 0,
      leaseMs: 1,
    });
    if (stale.kind !== 'stale') throw new Error(stale.kind);
    await store.stamp(accountId, 1, stale.gen);
  }
  connection.close();
}

/** The window that refused admitted exactly so many; one that rolled away before admitted no more. */
function expectExactly(byMinute: Map<string, number>, limit: number): void {
  const minutes = [...byMinute.keys()].sort();
  expect(byMinute.get(minutes.at(-1) ?? '')).toBe(limit);
  for (const count of byMinute.values()) expect(count).toBeLessThanOrEqual(limit);
}

describe('R01 four processes with 16 requests at once each', () => {
  it('LIM-01 admit exactly 20,000 in one window of 20,000 a minute', async () => {
    const { url, drop } = await testRedis();
    const [byMinute] = await race({ url }, ['acct_1'], 20_000);
    expectExactly(byMinute, 20_000);
    await drop();
  }, 600_000);

  it('admit exactly the limit of each account over a Redis Cluster of six processes', async () => {
    const { nodes, prefix } = await testRedisCluster();
    const accounts = Array.from({ length: 6 }, (_, n) => `acct_${prefix}${n}`);
    for (const byMinute of await race({ clusterNodes: nodes }, accounts, 300)) expectExactly(byMinute, 300);
  }, 600_000);
});
