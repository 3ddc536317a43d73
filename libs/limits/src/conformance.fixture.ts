import type {
  AdmitRequest,
  AdmitResult,
  Clock,
  LimitScope,
  LimitStore,
  ProjectionRequest,
  PutUnit,
  Random,
  LimitRejection,
} from '@gateway/contracts';
import {
  clusterScripts,
  redisScripts,
  seededRandom,
  testRedis,
  testRedisCluster,
  type ClusterScripts,
  type RedisScripts,
  type TestRedis,
} from '@gateway/testing';
import { unitScopes } from './admission.js';
import { InProcessLimitStore } from './in-process/in-process-limit-store.js';
import { RedisLimitStore } from './redis/redis-limit-store.js';
import type { ScriptPipe } from './redis/script-pipe.js';

// What the specs say to a LimitStore, whichever driver it is: one suite, every driver.

export interface LimitDriver {
  name: string;
  make(clock: Clock): LimitStore;
  /** Leaves the driver with nothing stored. */
  reset(): Promise<void>;
}

/**
 * Returns the drivers over which every promise of a limit store is proven. Connects before the tests of the file, and
 * closes after them.
 */
export function limitDrivers({ isClustered = true } = {}): {
  drivers: LimitDriver[];
  redis: () => RedisScripts;
} {
  let database: TestRedis;
  let redis: RedisScripts;
  let cluster: ClusterScripts;
  beforeAll(async () => {
    database = await testRedis();
    redis = await redisScripts(database.url);
    if (isClustered) cluster = clusterScripts(await testRedisCluster());
  });
  afterAll(async () => {
    redis?.close();
    cluster?.close();
    await database?.drop();
  });
  const random = (): Random => seededRandom(1);
  const over = (name: string, pipe: () => ScriptPipe, flush: () => Promise<unknown>): LimitDriver => ({
    name,
    make: (clock) => new RedisLimitStore({ pipe: pipe(), random: random(), testNow: () => clock.now() }),
    reset: async () => void (await flush()),
  });
  const drivers = [
    {
      name: 'in process',
      make: (clock: Clock) => new InProcessLimitStore({ clock, random: random() }),
      reset: async () => undefined,
    },
    over(
      'Redis',
      () => redis.pipe,
      () => redis.client.flushdb(),
    ),
    ...(isClustered
      ? [
          over(
            'Redis Cluster',
            () => cluster.pipe,
            () => cluster.flush(),
          ),
        ]
      : []),
  ];
  return { drivers, redis: () => redis };
}

export const KEY: LimitScope = { kind: 'key', id: 'k1', rpm: null, rpd: null, tpm: null, capNano: null };
const ABOVE = (['team_member', 'member', 'team', 'org'] as const).map((kind): LimitScope => ({
  ...KEY,
  kind,
  id: `${kind}-1`,
}));
export const SCOPES = [KEY, ...ABOVE];

let units = 0;

export function request(change: Partial<AdmitRequest> = {}): AdmitRequest {
  units += 1;
  return {
    accountId: 'acct_1',
    accountVersion: 1,
    unitId: `req_${units}/0`,
    scopes: SCOPES,
    extra: [],
    creditLimitNano: 0n,
    reservationNano: 10n,
    tokenEstimate: 100,
    leaseMs: 90_000,
    ...change,
  };
}

export function put(action: PutUnit['action'], of: AdmitRequest, change: Partial<PutUnit> = {}): PutUnit {
  const { accountId, unitId: unit, tokenEstimate, leaseMs, reservationNano: nano } = of;
  const base = {
    accountId,
    unit,
    action,
    nano,
    scopes: unitScopes(of),
    tokens: tokenEstimate,
    tokenEstimate,
  };
  return { ...base, minute: 0, leaseMs, ...change };
}

export function limited(kind: LimitScope['kind'], change: Partial<LimitScope>): LimitScope[] {
  return SCOPES.map((scope) => (scope.kind === kind ? { ...scope, ...change } : scope));
}

/** Projections a balance and posted spend as the ledger would answer `missing`. */
export async function mirror(
  store: LimitStore,
  gen: string | null,
  more: Partial<ProjectionRequest>,
): Promise<void> {
  const scopes = SCOPES.map(({ kind, id }) => ({ kind, id, postedNano: 0n }));
  const base = { accountId: 'acct_1', gen, version: 1, balanceNano: 1_000_000n, scopes, units: [] };
  await store.mirror({ ...base, ...more });
}

/** Stamps and mirrors as the edge and the usage service do; answers the account's gen. */
export async function open(store: LimitStore, more: Partial<ProjectionRequest> = {}): Promise<string> {
  const stale = await store.admit(request());
  if (stale.kind !== 'stale') throw new Error(`an empty store answered ${stale.kind}`);
  await store.stamp('acct_1', 1, stale.gen);
  await mirror(store, stale.gen, more);
  return stale.gen;
}

export function rejection(result: AdmitResult): LimitRejection {
  if (result.kind !== 'refused') throw new Error(`not refused: ${result.kind}`);
  return result.rejection;
}
