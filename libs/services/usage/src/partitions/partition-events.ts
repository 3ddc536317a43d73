import { compatibleFrom } from '@gateway/database';
import type { Clock } from '@gateway/contracts';
import type pg from 'pg';
import { SCHEMA, type UsageDatabase } from '../postgres/usage-database.js';
import { MonthPartitions } from './month-partitions.js';
import { monthAfter } from './month.js';
import {
  DEFAULT_PARTITION,
  isPartitioned,
  literal,
  LOCK_MS,
  newTableSql,
  TAKE_TURN,
} from './partition-sql.js';

/** Partition that holds everything from before the events were parted. */
const FIRST_PARTITION = 'usage_event_before';
/** Check by which PostgreSQL knows, without a look at the rows, that the table fits into its partition. */
const CHECK = 'usage_event_before_bound';
/** Months until the first partition ends: its rows are read meanwhile, and no event may be past it. */
const UNTIL_MONTHS = 2;
const TRIES = 20;
const BETWEEN_TRIES_MS = 1_000;
const LOCK_NOT_AVAILABLE = '55P03';

export interface PartitionOptions {
  database: UsageDatabase;
  clock: Clock;
  /** Version of this release: older ones do not run on partitions. */
  release: string;
  /** False: says what would be done, and does nothing. */
  isDone: boolean;
  print: (line: string) => void;
}

/**
 * Makes partitions of usage_event: the table of today becomes the first of them as it is, without a copy of its rows. May be
 * run again after a failure at any point. Throws Error with a sentence.
 */
export async function partitionEvents(options: PartitionOptions): Promise<void> {
  const { database, clock, release, isDone, print } = options;
  if (await isPartitioned(database.pool)) {
    print('usage_event is in partitions already');
    return;
  }
  const { from: bound } = monthAfter(clock.now(), UNTIL_MONTHS);
  await requireBelow(bound, database.pool);
  const attach = await attachSql(bound, database.pool);
  const step = async (what: string, statements: readonly string[], mayWait: boolean): Promise<void> => {
    print(`-- ${what}`);
    for (const sql of statements) print(`${sql};`);
    const beganMs = clock.monotonic();
    if (!isDone) return;
    await patiently(options, (client) => run(client, statements, mayWait));
    print(`-- done in ${Math.round(clock.monotonic() - beganMs)} ms`);
  };
  await step(
    'locks usage_event for a moment',
    [
      `ALTER TABLE usage_event DROP CONSTRAINT IF EXISTS ${CHECK}`,
      `ALTER TABLE usage_event ADD CONSTRAINT ${CHECK} CHECK (request_id < ${literal(bound)}) NOT VALID`,
    ],
    false,
  );
  await step(
    'reads every row; reads and postings go on',
    [`ALTER TABLE usage_event VALIDATE CONSTRAINT ${CHECK}`],
    true,
  );
  await step(
    'locks usage_event for a moment, no row is read',
    [...attach, compatibleFrom(SCHEMA, 'usage_event_partitioned', release)],
    false,
  );
  print('-- the months ahead');
  if (isDone)
    for (const name of await new MonthPartitions(database, clock).advance()) print(`-- made ${name}`);
  else print('nothing was changed: add --yes');
}

/** Throws where events are past the end of the first partition: clocks were months ahead. */
async function requireBelow(bound: string, pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query<{ request_id: string }>(
    'SELECT request_id FROM usage_event WHERE request_id >= $1 ORDER BY request_id LIMIT 1',
    [bound],
  );
  if (rows.length > 0)
    throw new Error(
      `The event of ${rows[0].request_id} is from after ${bound}: its clock was ahead. Partition once that time has come.`,
    );
}

/** One transaction: the old table is renamed with its indexes, the parent takes their names, and the old one is attached. */
async function attachSql(bound: string, pool: pg.Pool): Promise<string[]> {
  const indexes = (await pool.query<{ name: string; definition: string; isUnique: boolean }>(INDEXES)).rows;
  const grants = (await pool.query<{ sql: string }>(GRANTS)).rows;
  const renamed = (name: string): string => `${name.slice(0, 55)}_before`;
  return [
    TAKE_TURN,
    'LOCK TABLE usage_event IN ACCESS EXCLUSIVE MODE',
    `ALTER TABLE usage_event RENAME TO ${FIRST_PARTITION}`,
    ...indexes.map(({ name }) => `ALTER INDEX "${name}" RENAME TO "${renamed(name)}"`),
    `CREATE TABLE usage_event (LIKE ${FIRST_PARTITION} INCLUDING DEFAULTS INCLUDING STORAGE) PARTITION BY RANGE (request_id)`,
    'ALTER TABLE usage_event ADD CONSTRAINT usage_event_pkey PRIMARY KEY (request_id, unit)',
    // Unique ones without request_id are of each partition by itself.
    ...indexes.filter(({ isUnique }) => !isUnique).map(({ definition }) => definition),
    ...grants.map(({ sql }) => sql),
    `ALTER TABLE usage_event ATTACH PARTITION ${FIRST_PARTITION} FOR VALUES FROM (MINVALUE) TO (${literal(bound)})`,
    ...(await newTableSql(DEFAULT_PARTITION, pool)),
    `ALTER TABLE usage_event ATTACH PARTITION ${DEFAULT_PARTITION} DEFAULT`,
    `ALTER TABLE ${FIRST_PARTITION} DROP CONSTRAINT ${CHECK}`,
  ];
}

const INDEXES = `
SELECT c.relname AS name, pg_get_indexdef(c.oid) AS definition, i.indisunique AS "isUnique"
FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE i.indrelid = 'usage_event'::regclass AND i.indisvalid ORDER BY 1`;

/** Rights of others than the owner. */
const GRANTS = `
SELECT format('GRANT %s ON usage_event TO %s', privilege_type, CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END) AS sql
FROM pg_class c CROSS JOIN LATERAL aclexplode(c.relacl) WHERE c.oid = 'usage_event'::regclass AND grantee <> c.relowner ORDER BY 1`;

async function run(client: pg.PoolClient, statements: readonly string[], mayWait: boolean): Promise<void> {
  await client.query(`SET LOCAL lock_timeout = ${mayWait ? 0 : LOCK_MS}`);
  for (const sql of statements) await client.query(sql);
}

/** Tries again where the table was in use: whoever comes meanwhile waits behind each try, less than a second. */
async function patiently(
  { database, clock }: PartitionOptions,
  work: (client: pg.PoolClient) => Promise<void>,
): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await database.transaction(work, { mayRepeat: false });
      return;
    } catch (failure) {
      const isLocked = failure instanceof Error && 'code' in failure && failure.code === LOCK_NOT_AVAILABLE;
      if (!isLocked || tries === TRIES) throw failure;
      await clock.sleep(BETWEEN_TRIES_MS);
    }
  }
}
