import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HOLD_UNIT, providerAccount, TOPIC, type UsageRecord } from '@gateway/contracts';
import { encodeFrame } from '@gateway/journal';
import { RedisLimitStore } from '@gateway/limits';
import { SystemClock, SystemRandom } from '@gateway/platform';
import {
  redisScripts,
  testDatabase,
  testRedis,
  usageRecord,
  type RedisScripts,
  type TestDatabase,
  type TestRedis,
} from '@gateway/testing';
import { ScheduledJobs } from '../background/scheduled-jobs.js';
import { emptyLedger } from '../posting/books.fixture.js';
import { MIGRATED, startUsageApp, type UsageApp } from '../usage.fixture.js';
import type { Finding } from './finding.js';
import { reconciliationOf } from './full-reconciliation.fixture.js';
import type { FullReconciliation } from './full-reconciliation.js';

const clock = new SystemClock();
const FROM = { producer: 'edge-r', epoch: 'e' };
const SCOPES = [{ kind: 'key' as const, id: 'key_1' }];
/** A unit of long ago, by the time in its id. */
const OLD_UNIT = 'req_019a0000-0000-7000-8000-000000000000/0';

let place: TestDatabase;
let redisPlace: TestRedis;
let redis: RedisScripts;
let store: RedisLimitStore;
let laterMs: number;
let app: UsageApp;
let reconciliation: FullReconciliation;
let folder: string;
let posted: UsageRecord;

beforeAll(async () => {
  [place, redisPlace] = await Promise.all([testDatabase(MIGRATED), testRedis()]);
  redis = await redisScripts(redisPlace.url);
  const testNow = (): number => clock.now() + laterMs;
  store = new RedisLimitStore({ pipe: redis.pipe, random: new SystemRandom(), testNow });
  app = await startUsageApp(place.url, { limits: store });
  reconciliation = reconciliationOf(app, store);
  await app.app.get(ScheduledJobs, { strict: false }).stop();
});
afterAll(async () => {
  await app?.close();
  redis?.close();
  await Promise.all([place?.drop(), redisPlace?.drop()]);
});
beforeEach(async () => {
  laterMs = 0;
  folder = mkdtempSync(join(tmpdir(), 'lost-units-'));
  await redis.client.flushdb();
  await emptyLedger(app.database);
  posted = usageRecord({ ...FROM, seq: 1, cost_usd: '0.25' });
  await app.post(posted);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function put(
  action: 'renew' | 'settle',
  unit: string,
  nano: bigint,
  accountId = 'acct_1',
): Promise<void> {
  const rest = { scopes: SCOPES, tokens: 0, tokenEstimate: 0, minute: 0, leaseMs: 1 };
  await store.put([{ accountId, unit, action, nano, ...rest }]);
}

async function lapse(unit: string, nano: bigint, accountId?: string): Promise<void> {
  await put('renew', unit, nano, accountId);
  laterMs += 2;
}

async function found(isRepair = false, journals: string[] = []): Promise<Finding[]> {
  const { findings } = await reconciliation.run({ journals, isRepair });
  return findings.filter(({ kind }) => kind === 'unit_lost' || kind === 'units_unnamed');
}

function lost(unit: string, amount: string): Finding {
  return { kind: 'unit_lost', account: 'acct_1', scope: unit, expected: amount, found: '0' };
}

/** A journal of one epoch with this outcome. */
function journal(record: UsageRecord): void {
  const dir = join(folder, 'edge-r', 'e');
  mkdirSync(dir, { recursive: true });
  const head = {
    topic: TOPIC.usage,
    key: record.account_id,
    at: 0,
    unit: null,
    isCrash: false,
    settle: null,
  };
  const frame = { outcome: { seq: record.seq, ...head }, value: record };
  writeFileSync(join(dir, '1.log'), encodeFrame(JSON.stringify(frame)));
}

describe('units whose records went with an edge', () => {
  it('operations 2: names each that lapsed, before and after the account has gone on, and each that was settled', async () => {
    await lapse('req_gone/0', 70n);
    await store.read('acct_1', SCOPES);
    await lapse('req_lapsed/0', 30n);
    await put('settle', OLD_UNIT, 40n);
    const named = [
      lost('req_gone/0', '0.00000007'),
      lost('req_lapsed/0', '0.00000003'),
      lost(OLD_UNIT, '0.00000004'),
    ];
    const byName = (findings: Finding[]): Finding[] =>
      findings.toSorted((a, b) => (`${a.scope}` < `${b.scope}` ? -1 : 1));
    expect(byName(await found())).toEqual(byName(named));
    expect(byName(await found(true))).toEqual(byName(named));
    const after = await reconciliation.run({ journals: [], isRepair: false });
    expect(after.findings).toEqual([]);
    expect(await store.read('acct_1', [])).toMatchObject({ reservedNano: 0n, unpostedNano: 0n });
    const { rows } = await app.database.pool.query('SELECT sum(amount)::float8 AS sum FROM lost_unit');
    expect(rows).toEqual([{ sum: 0.000_000_14 }]);
  });

  it('operations 2: names those of an account that the ledger has never heard of and that never goes on, and closes them', async () => {
    await lapse('req_first/0', 70n, 'acct_new');
    await put('settle', OLD_UNIT, 40n, 'acct_newer');
    // More keys than one look at a node takes.
    await redis.client.mset(Array.from({ length: 5_000 }, (_, n) => [`scope:{acct_${n}}:org`, '']).flat());
    const ofNew = [
      { ...lost('req_first/0', '0.00000007'), account: 'acct_new' },
      { ...lost(OLD_UNIT, '0.00000004'), account: 'acct_newer' },
    ];
    const byName = (findings: Finding[]): Finding[] =>
      findings.toSorted((a, b) => (`${a.account}` < `${b.account}` ? -1 : 1));
    expect(byName(await found())).toEqual(ofNew);
    expect(byName(await found(true))).toEqual(ofNew);
    const after = await reconciliation.run({ journals: [], isRepair: false });
    expect(after.findings).toEqual([]);
    expect(await store.read('acct_new', [])).toMatchObject({ reservedNano: 0n, reservedUnits: 0 });
    expect(await store.read('acct_newer', [])).toMatchObject({ unpostedNano: 0n, unpostedUnits: 0 });
  });

  it("leaves the account of a provider out: its customers' accounts have the same units", async () => {
    await lapse('req_first/0', 70n, providerAccount('openai'));
    expect(await found()).toEqual([]);
  });

  it('names none that has an event, that a journal has, that was settled just now or that holds money for a batch', async () => {
    const tail = usageRecord({ ...FROM, seq: 2, cost_usd: '0.000000125' });
    journal(tail);
    await lapse(`${tail.request_id}/0`, 125n);
    await lapse(`${posted.request_id}/0`, 9n);
    await lapse(`req_batch/${HOLD_UNIT}`, 9n);
    await put('settle', 'req_of_now/0', 9n);
    expect(await found(false, [folder])).toEqual([]);
    expect(await found()).toEqual([lost(`${tail.request_id}/0`, '0.000000125')]);
  });

  it('posts one that was closed and whose record comes after all', async () => {
    const late = usageRecord({ ...FROM, seq: 2, cost_usd: '0.125' });
    await lapse(`${late.request_id}/0`, 125_000_000n);
    expect(await found(true)).toHaveLength(1);
    await app.post(late);
    const { findings, sums } = await reconciliation.run({ journals: [], isRepair: false });
    expect(findings).toEqual([]);
    expect(sums.costs).toBe('0.375');
  });

  it('counts those without a name until a repair', async () => {
    await redis.client.hset('lost:{acct_1}', 'unnamed', 3);
    const unnamed = { kind: 'units_unnamed', account: 'acct_1', scope: null, expected: '3', found: '0' };
    expect(await found(true)).toEqual([unnamed]);
    expect(await found()).toEqual([]);
  });
});
