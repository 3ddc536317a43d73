import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TOPIC, type UsageRecord } from '@gateway/contracts';
import { RedisLimitStore } from '@gateway/limits';
import { applyMigrations } from '@gateway/database';
import { SystemClock, SystemRandom } from '@gateway/platform';
import {
  ownPostgres,
  redisScripts,
  seededRandom,
  startProgram,
  testRedis,
  type OwnServer,
  type Program,
  type TestRedis,
} from '@gateway/testing';
import { LedgerOperator, USAGE_SCHEMA, USAGE_SCHEMA_DIR } from '@gateway/usage';
import pg from 'pg';
import { pino } from 'pino';

/** The long form: EVENTS=10000 SEEDS=20. */
const EVENTS = Number(process.env['EVENTS'] ?? 600);
const SEEDS = Array.from({ length: Number(process.env['SEEDS'] ?? 2) }, (_, n) => n + 1);
const DELIVERIES = 3;
const KILLS_MAX = EVENTS / 200;
const ACCOUNTS = 7;
const ROOT = join(import.meta.dirname, '..');
const clock = new SystemClock();
const DAY_MS = 86_400_000;
const SPREAD_MS = 3 * 3_600_000;
/** The turn of two periods, within an hour of UTC as in Kathmandu. Half of the units come before it. */
const TURN_MS = (Math.floor(clock.now() / DAY_MS) - 3) * DAY_MS + 18.25 * 3_600_000;
const PERIODS = [
  { start_ms: TURN_MS - DAY_MS, end_ms: TURN_MS },
  { start_ms: TURN_MS, end_ms: TURN_MS + DAY_MS },
];

let server: OwnServer;
let redis: TestRedis;
let folder: string;

beforeAll(async () => {
  [server, redis] = await Promise.all([ownPostgres(), testRedis()]);
  folder = mkdtempSync(join(tmpdir(), 'killed-ledger-'));
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await Promise.all([server?.drop(), redis?.drop()]);
});

describe('the ledger that is killed while it posts', () => {
  it.each(SEEDS)(
    'B02 loses and doubles nothing: kill -9 every 120 to 370 ms, each record three times, seed %i',
    (seed) => prove(seed, false),
    300_000,
  );
  it.each(SEEDS)(
    'B03 loses and doubles nothing when PostgreSQL is killed as well, seed %i',
    (seed) => prove(seed + 1_000, true),
    300_000,
  );
});

async function prove(seed: number, isPostgresKilled: boolean): Promise<void> {
  const random = seededRandom(seed);
  await freshSchema();
  const { file, expected, ofPeriods } = records(seed, random);
  const cursor = `${file}.cursor`;
  let kills = 0;
  for (let code: number | string = ''; code !== 0;) {
    const program = await posting(file, cursor);
    if (kills >= KILLS_MAX) {
      code = await program.ended;
      if (code !== 0) throw new Error(program.output());
      break;
    }
    kills += 1;
    const isOver = await Promise.race([program.ended, clock.sleep(120 + random.fraction() * 250)]);
    if (isPostgresKilled && kills % 2 === 0) {
      server.kill();
      await server.restart();
    }
    if (isOver === undefined) await program.kill();
    else code = isOver;
  }
  expect(kills).toBeGreaterThan(0);
  await expectBooks(expected, ofPeriods);
}

/** Runs until its first batch is in, or it has ended because nothing was left. */
function posting(file: string, cursor: string): Promise<Program> {
  return startProgram({
    command: process.execPath,
    args: ['--no-warnings', 'dist/tools/ledger/src/main.js', 'replay', file, '--cursor', cursor],
    env: { DATABASE_URL: server.address, REDIS_URL: redis.url },
    cwd: ROOT,
    readyWhen: /(?:applied \d+|done)\n/,
    timeoutMs: 60_000,
  });
}

async function freshSchema(): Promise<void> {
  const client = new pg.Client({ connectionString: server.address });
  await client.connect();
  await client.query(`DROP SCHEMA IF EXISTS ${USAGE_SCHEMA} CASCADE`);
  await client.end();
  const scripts = await redisScripts(redis.url);
  await scripts.client.flushdb();
  scripts.close();
  await applyMigrations({ url: server.address, schemaDir: USAGE_SCHEMA_DIR, schema: USAGE_SCHEMA });
}

/** Sums in pico-USD: of all, and by the record of each period of a budget. */
interface Expected {
  expected: bigint;
  ofPeriods: Map<string, bigint>;
}

function records(seed: number, random: ReturnType<typeof seededRandom>): Expected & { file: string } {
  const ofPeriods = new Map<string, bigint>();
  const lines: { order: number; text: string }[] = [];
  let expected = 0n;
  for (let seq = 1; seq <= EVENTS; seq += 1) {
    const pico = BigInt(1 + Math.floor(random.fraction() * 1e9));
    expected += pico;
    const atMs = Math.floor(TURN_MS + (random.fraction() * 2 - 1) * SPREAD_MS);
    const data = unit(seed, seq, { cost: `0.${String(pico).padStart(12, '0')}`, atMs });
    const { scope_id } = data.limits[0];
    ofPeriods.set(scope_id, (ofPeriods.get(scope_id) ?? 0n) + pico);
    const event = {
      specversion: '1.0',
      id: `${seed}-${seq}`,
      source: '/edge',
      type: TOPIC.usage,
      time: data.created_at,
    };
    const text = JSON.stringify({ ...event, datacontenttype: 'application/json', data });
    for (let times = 0; times < DELIVERIES; times += 1)
      lines.push({ order: seq + random.fraction() * 400 * (times + 1), text });
  }
  const file = join(folder, `records-${seed}`);
  writeFileSync(
    file,
    lines
      .toSorted((a, b) => a.order - b.order)
      .map(({ text }) => text)
      .join('\n'),
  );
  return { file, expected, ofPeriods };
}

function unit(seed: number, seq: number, { cost, atMs }: { cost: string; atMs: number }): UsageRecord {
  const n = seq % ACCOUNTS;
  const createdAt = new Date(atMs).toISOString();
  const period = PERIODS[atMs < TURN_MS ? 0 : 1];
  const scope = { scope: 'org' as const, scope_id: `org_${n}` };
  const counter = { ...scope, scope_id: periodOf(n, period) };
  const none = { rpm: 0, rpm_limit: null, rpd: 0, rpd_limit: null };
  const budget = { budget_id: `bud_${n}`, name: 'Ours', ...scope, amount_usd: '0.000001', ...period };
  return {
    ...{ id: `use_${seed}_${seq}`, request_id: `req_${seed}_${seq}`, unit: 0, account_id: `acct_${n}` },
    ...{ org_id: `org_${n}`, team_id: null, member_id: `usr_${n}`, key_id: `key_${n}`, provider: 'hosty' },
    ...{ endpoint: '/v1/chat/completions', model: 'acme/swift', requested_model: 'acme/swift' },
    ...{ status: 'success', outcome: 'served', http_status: 200, error_code: null, stream: false },
    ...{ usage: { prompt_tokens: 1, completion_tokens: 1 }, usage_estimated: false, priced_from: null },
    ...{
      cost_usd: cost,
      list_cost_usd: cost,
      attempts: [],
      latency_ms: 1,
      ttft_ms: null,
      created_at: createdAt,
    },
    ...{ routing_fallback: false, byok_used: false, cache_hit: false, request_tags: {}, end_user_hash: null },
    ...{ limits: [{ ...counter, ...none }], budgets: [{ ...budget, thresholds_pct: [1] }] },
    ...{ api_version: '2026-08', producer: 'edge-killed', epoch: `e${seed}`, seq },
  };
}

function periodOf(n: number, { start_ms, end_ms }: (typeof PERIODS)[number]): string {
  return `org_${n}/b:${start_ms}-${end_ms}`;
}

/** Each period is in the limit store as its units add up, and the last movement of its thresholds told that sum. */
async function expectPeriods(
  ofPeriods: ReadonlyMap<string, bigint>,
  limits: RedisLimitStore,
  database: pg.Client,
): Promise<void> {
  const { rows } = await database.query<{ id: string; spent: string }>(`
    SELECT data->>'scope_id' || '/b:' || (extract(epoch FROM (data->>'period_start')::timestamptz) * 1000)::bigint
        || '-' || (extract(epoch FROM (data->>'period_end')::timestamptz) * 1000)::bigint AS id,
      max((data->>'spent_usd')::numeric)::text AS spent
    FROM (SELECT value::jsonb->'data'->'data' AS data FROM ${USAGE_SCHEMA}.outbox
      WHERE value::jsonb->'data'->>'type' = 'budget.movement') AS o GROUP BY 1`);
  const told = new Map(rows.map(({ id, spent }) => [id, pico(spent)]));
  expect(told).toEqual(ofPeriods);
  for (let n = 0; n < ACCOUNTS; n += 1) {
    const scopes = PERIODS.map((period) => ({ kind: 'org' as const, id: periodOf(n, period) }));
    const { posted = [] } = await limits.read(`acct_${n}`, scopes);
    for (const { id } of scopes) {
      const nano = ((ofPeriods.get(id) ?? 0n) + 500n) / 1_000n;
      expect([id, posted.find((one) => one.id === id)?.nano]).toEqual([id, nano]);
    }
  }
}

async function expectBooks(expected: bigint, ofPeriods: ReadonlyMap<string, bigint>): Promise<void> {
  const scripts = await redisScripts(redis.url);
  const limits = new RedisLimitStore({ pipe: scripts.pipe, random: new SystemRandom() });
  const random = new SystemRandom();
  const logger = pino({ level: 'silent' });
  const operator = new LedgerOperator({
    databaseUrl: server.address,
    limits,
    catalogue: null,
    clock,
    random,
    logger,
  });
  const database = new pg.Client({ connectionString: server.address });
  await database.connect();
  try {
    const { findings, sums } = await operator.reconcile({ journals: [], isRepair: false });
    expect(findings).toEqual([]);
    expect(new Set(Object.values(sums).map(pico))).toEqual(new Set([expected]));
    const { rows } =
      await database.query(`SELECT (SELECT count(*)::int FROM ${USAGE_SCHEMA}.usage_event) AS events,
      (SELECT applied::text FROM ${USAGE_SCHEMA}.producer) AS applied`);
    await expectPeriods(ofPeriods, limits, database);
    expect(rows).toEqual([{ events: EVENTS, applied: `{[1,${EVENTS + 1})}` }]);
  } finally {
    await database.end();
    await operator.close();
    scripts.close();
  }
}

function pico(usd: string): bigint {
  const [whole, part = ''] = usd.split('.');
  return BigInt(whole + part.padEnd(12, '0'));
}
