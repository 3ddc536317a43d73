// A process that admits over a connection of its own, many requests at once: `<plan as JSON>`. It prints a line when it is
// connected, begins at the first line of its standard input, and prints what was admitted, by account and minute.
import 'reflect-metadata';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { RedisLimitStore } from '@gateway/limits';
import { SystemClock } from '@gateway/platform';
import { connectRedis, type RedisAddress } from './connect-redis.js';

interface AdmitPlan {
  address: RedisAddress;
  accounts: string[];
  rpm: number;
  /** Requests at once of each account. */
  lanes: number;
  name: string;
}

/** Units that were admitted, by account and minute. */
type AdmitReport = Record<string, Record<string, number>>;

const plan = JSON.parse(process.argv[2]) as AdmitPlan;
const clock = new SystemClock();
const random = { bytes: (size: number) => randomBytes(size), fraction: () => 0.5 };
const connection = connectRedis({
  ...plan.address,
  clientName: plan.name,
  clock,
  commandTimeoutMs: 10_000,
  onNotice: () => undefined,
});
const store = new RedisLimitStore({ pipe: connection.pipe, random });
const report: AdmitReport = Object.fromEntries(plan.accounts.map((accountId) => [accountId, {}]));
let units = 0;

async function untilRefused(
  accountId: string,
  scopes: Parameters<typeof store.admit>[0]['scopes'],
): Promise<void> {
  for (;;) {
    units += 1;
    const result = await store.admit({
      accountId,
      accountVersion: 1,
      unitId: `${plan.name}_${units}/0`,
      scopes,
      extra: [],
      creditLimitNano: null,
      reservationNano: 0n,
      tokenEstimate: 1,
      leaseMs: 90_000,
    });
    if (result.kind === 'refused') return;
    if (result.kind !== 'ok') throw new Error(`${accountId}: ${result.kind}`);
    report[accountId][result.minute] = (report[accountId][result.minute] ?? 0) + 1;
  }
}

while (plan.accounts.some((accountId) => store.isUnavailable(accountId))) await clock.sleep(20);
process.stdout.write('connected\n');
await once(process.stdin, 'data');
await Promise.all(
  plan.accounts.flatMap((accountId) => {
    const scopes = [{ kind: 'key' as const, id: 'k1', rpm: plan.rpm, rpd: null, tpm: null, capNano: null }];
    return Array.from({ length: plan.lanes }, () => untilRefused(accountId, scopes));
  }),
);
process.stdout.write(`${JSON.stringify(report)}\n`);
connection.close();
process.exit(0);
