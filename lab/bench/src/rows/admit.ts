import type { AdmitRequest } from '@gateway/contracts';
import { unitScopes } from '@gateway/limits';
import { ConnectedLimitStore, connectRedis } from '@gateway/fleet';
import { SystemClock, SystemRandom } from '@gateway/platform';
import { EXACT, percentile, row, verdictOf, type Row } from '../figures.js';
import { start } from '../processes.js';

const WARM_UP = 5_000;
const SAMPLES = 10_000;
const PARALLEL = 16;
const SETTLE_EVERY = 64;
const NANO = 10n ** 15n;
const TWELVE_MS = { p50: 0.5, p99: 3 };

const ACCOUNT = 'acct_01890000-0000-7000-8000-000000000000';
const KINDS = ['key', 'team_member', 'member', 'team', 'org'] as const;
/** Every scope with limits and a cap: the dearest request there is. */
const SCOPES = KINDS.map((kind, at) => ({
  kind,
  id: `01890000-0000-7000-8000-00000000000${at}`,
  rpm: 1e9,
  rpd: 1e9,
  tpm: null,
  capNano: NANO,
}));

/** Pool of free models beside the minutes and days of five scopes: twelve counters that can refuse. */
const POOL: AdmitRequest['extra'] = [{ name: 'free', rpm: 1e9, rpd: 1e9, tpm: null }];

let units = 0;
function request(extra: AdmitRequest['extra'] = []): AdmitRequest {
  units += 1;
  return {
    accountId: ACCOUNT,
    accountVersion: 1,
    unitId: `req_01890000-0000-7000-8000-${String(units).padStart(12, '0')}/0`,
    scopes: SCOPES,
    extra,
    creditLimitNano: 0n,
    reservationNano: 10n,
    tokenEstimate: 5,
    leaseMs: 90_000,
  };
}

/** Admission over all five scopes on a Redis of its own, one after the other and 16 at a time. */
export async function admitRows(): Promise<Row[]> {
  const infra = await start({
    args: ['--no-warnings', '--import', './tools/infra/run-ts.mjs', 'tools/infra/src/cli.ts', 'up', 'redis'],
    readyWhen: /"REDIS_URL":"([^"]+)"/,
  });
  const url = infra.ready[1];
  const clock = new SystemClock();
  const store = new ConnectedLimitStore({ url, clock, random: new SystemRandom(), clientName: 'bench' });
  const admin = connectRedis({ url, clientName: 'bench-admin', clock });
  try {
    await prepare(store);
    return await measure(store, admin.client);
  } finally {
    admin.close();
    await store.close();
    await infra.stop();
  }
}

type Store = ConnectedLimitStore;

async function prepare(store: Store): Promise<void> {
  const first = await whenConnected(() => store.admit(request()));
  if (first.kind !== 'stale') throw new Error(`a fresh Redis answered ${first.kind}`);
  await store.stamp(ACCOUNT, 1, first.gen);
  const scopes = SCOPES.map(({ kind, id }) => ({ kind, id, postedNano: 0n }));
  await store.mirror({
    accountId: ACCOUNT,
    gen: first.gen,
    version: 1,
    balanceNano: NANO,
    scopes,
    units: [],
  });
  await admitAndSettle(store, WARM_UP, []);
}

/** The client connects by itself and refuses until it has. */
async function whenConnected<T>(call: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await call();
    } catch (error) {
      if (attempt === 100) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

async function admitAndSettle(
  store: Store,
  count: number,
  latencies: number[],
  extra: AdmitRequest['extra'] = [],
): Promise<void> {
  let admitted: AdmitRequest[] = [];
  for (let at = 0; at < count; at += 1) {
    const one = request(extra);
    const startedMs = performance.now();
    const { kind } = await store.admit(one);
    latencies.push(performance.now() - startedMs);
    if (kind !== 'ok') throw new Error(`admission answered ${kind}`);
    admitted.push(one);
    if (admitted.length === SETTLE_EVERY) {
      await store.put(admitted.map(settled));
      admitted = [];
    }
  }
}

function settled(one: AdmitRequest): Parameters<Store['put']>[0][number] {
  const { accountId, unitId: unit, tokenEstimate } = one;
  const rest = { nano: 8n, tokens: 4, tokenEstimate, minute: 0, leaseMs: 1 };
  return { accountId, unit, action: 'settle', scopes: unitScopes(one), ...rest };
}

type Admin = ReturnType<typeof connectRedis>['client'];

async function measure(store: Store, admin: Admin): Promise<Row[]> {
  await admin.config('RESETSTAT');
  const latencies: number[] = [];
  await admitAndSettle(store, SAMPLES, latencies);
  latencies.sort((a, b) => a - b);
  const inRedis = await scriptMicroseconds(admin);
  const ofTwelve: number[] = [];
  await admitAndSettle(store, SAMPLES, ofTwelve, POOL);
  ofTwelve.sort((a, b) => a - b);
  let left = SAMPLES * 2;
  const startedMs = performance.now();
  await Promise.all(
    Array.from({ length: PARALLEL }, async () => {
      while ((left -= SETTLE_EVERY) >= 0) await admitAndSettle(store, SETTLE_EVERY, []);
    }),
  );
  const perSecond = (SAMPLES * 2) / ((performance.now() - startedMs) / 1_000);
  const of = (id: string, figure: string, unit: string, value: number): Row =>
    row({ id, figure, unit, gateway: EXACT(value) });
  return [
    of('admit-p50', 'admit alone, five scopes, p50', 'ms', percentile(latencies, 0.5)),
    of('admit-p99', 'admit alone, five scopes, p99', 'ms', percentile(latencies, 0.99)),
    gated('admit-12-p50', 'admit alone, twelve counters, p50', percentile(ofTwelve, 0.5), TWELVE_MS.p50),
    gated('admit-12-p99', 'admit alone, twelve counters, p99', percentile(ofTwelve, 0.99), TWELVE_MS.p99),
    of('admit-redis', 'scripts in Redis, admissions and batches of 64 settled', 'µs/call', inRedis),
    of('admit-rate', 'admissions settled in batches, 16 at a time', 'admissions/s', perSecond),
  ];
}

function gated(id: string, figure: string, ms: number, gateMs: number): Row {
  const verdict = verdictOf(ms <= gateMs);
  return row({ id, figure, unit: 'ms', gateway: EXACT(ms), gate: `≤ ${gateMs}`, verdict });
}

async function scriptMicroseconds(admin: Admin): Promise<number> {
  const found = /cmdstat_evalsha:calls=\d+,usec=\d+,usec_per_call=([\d.]+)/.exec(
    await admin.info('commandstats'),
  );
  return found ? Number(found[1]) : Number.NaN;
}
