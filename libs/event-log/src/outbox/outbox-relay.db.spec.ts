import pg from 'pg';
import type { LogRecord } from '@gateway/contracts';
import { eventually, seededRandom, testPostgres, type TestDatabase } from '@gateway/testing';
import { SystemClock } from '@gateway/platform';
import { OutboxRelay, type OutboxRelayOptions } from './outbox-relay.js';
import { outboxRow } from './outbox-row.js';

const TABLE = `CREATE TABLE outbox (id uuid PRIMARY KEY, topic text NOT NULL, key text NOT NULL, value text NOT NULL,
  created_at timestamptz(3) NOT NULL, sent_at timestamptz(3))`;

const clock = new SystemClock();
const random = seededRandom(1);
let database: TestDatabase;
let pool: pg.Pool;
let taken: { topic: string; record: LogRecord }[];
let relays: OutboxRelay[];
let faults: unknown[];

beforeEach(async () => {
  database = await testPostgres();
  pool = new pg.Pool({ connectionString: database.url, max: 8 });
  pool.on('error', () => undefined); // Tests end connections on purpose.
  await pool.query(TABLE);
  [taken, relays, faults] = [[], [], []];
});

afterEach(async () => {
  await Promise.all(relays.map((relay) => relay.stop()));
  await pool.end();
  await database.drop();
});

async function take(topic: string, records: LogRecord[]): Promise<void> {
  taken.push(...records.map((record) => ({ topic, record })));
}

function relay(
  append = take,
  options: Partial<
    Pick<OutboxRelayOptions, 'pool' | 'pollMs' | 'batch' | 'appendTimeoutMs' | 'onBacklog'>
  > = {},
): OutboxRelay {
  const made = new OutboxRelay({
    pool,
    eventLog: { append, kept: () => null },
    clock,
    onFault: (error) => faults.push(error),
    pollMs: 5,
    ...options,
  });
  relays.push(made);
  made.start();
  return made;
}

async function insert(count: number, topic = 'gateway.account.v1', keys = 3): Promise<void> {
  const rows = Array.from({ length: count }, (_, n) =>
    outboxRow(
      { topic, key: `acct_${n % keys}`, source: '/spec', id: `evt_${n}`, data: { n } },
      { clock, random },
    ),
  );
  await pool.query(
    `INSERT INTO outbox (id, topic, key, value, created_at)
     SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::timestamptz[]) ORDER BY random()`,
    [
      rows.map((row) => row.id),
      rows.map((row) => row.topic),
      rows.map((row) => row.key),
      rows.map((row) => row.value),
      rows.map((row) => row.created_at),
    ],
  );
}

async function left(): Promise<number> {
  const { rows } = await pool.query<{ count: string }>('SELECT count(*) FROM outbox');
  return Number(rows[0].count);
}

const isEmpty = async (): Promise<boolean> => (await left()) === 0;

function numbers(key?: string): number[] {
  return taken
    .filter(({ record }) => key === undefined || record.key === key)
    .map(({ record }) => (JSON.parse(record.value) as { data: { n: number } }).data.n);
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

describe('OutboxRelay', () => {
  it('sends every committed row in order, in CloudEvents, and deletes it', async () => {
    await insert(1_000);
    relay();
    await eventually(isEmpty);
    expect(numbers()).toEqual(upTo(1_000));
    expect(JSON.parse(taken[7].record.value)).toMatchObject({
      specversion: '1.0',
      id: 'evt_7',
      source: '/spec',
      type: 'gateway.account.v1',
      data: { n: 7 },
    });
  });

  it('sends a row again, and never loses one, when it dies between append and delete', async () => {
    await insert(300);
    let deaths = 0;
    relay(async (topic, records) => {
      await take(topic, records);
      deaths += 1;
      if (deaths > 2) return;
      await pool.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND state = 'idle in transaction'`,
      );
    });
    await eventually(isEmpty);
    const sent = numbers();
    expect([...new Set(sent)]).toEqual(upTo(300));
    expect(sent.length).toBe(300 + 2 * 200);
  });

  it('keeps the rows of a topic that fails and their order, while another topic goes on', async () => {
    let isDown = true;
    await insert(20, 'gateway.account.v1');
    await insert(10, 'gateway.catalogue.v1');
    relay(async (topic, records) => {
      if (isDown && topic === 'gateway.account.v1') throw new Error('no broker');
      await take(topic, records);
    });
    await eventually(() => taken.length === 10 && faults.length > 1);
    expect(await left()).toBe(20);
    isDown = false;
    taken = [];
    await eventually(isEmpty);
    expect(numbers()).toEqual(upTo(20));
  });

  it('does not let an event log that never answers hold its transaction', async () => {
    await insert(1);
    let calls = 0;
    relay(() => (++calls === 1 ? new Promise(() => undefined) : Promise.resolve()), { appendTimeoutMs: 30 });
    await eventually(isEmpty);
    expect(faults).toHaveLength(1);
  });

  it('keeps order per key when four replicas relay', async () => {
    const slow = async (topic: string, records: LogRecord[]): Promise<void> => {
      await clock.sleep(random.fraction() * 4);
      await take(topic, records);
    };
    for (let replica = 0; replica < 4; replica += 1) relay(slow, { batch: 10, pollMs: 1 });
    await insert(300);
    await eventually(isEmpty);
    expect(numbers('acct_1')).toEqual(upTo(300).filter((n) => n % 3 === 1));
    expect(taken).toHaveLength(300);
  });

  it('asks one statement at rest, and begins a transaction only for rows', async () => {
    const counts = { polls: 0, transactions: 0 };
    const counted = {
      query: (text: string) => {
        counts.polls += 1;
        return pool.query(text);
      },
      connect: () => {
        counts.transactions += 1;
        return pool.connect();
      },
    };
    relay(take, { pool: counted as typeof pool });
    await eventually(() => counts.polls > 3);
    expect(counts.transactions).toBe(0);
    await insert(2);
    await eventually(isEmpty);
    expect(counts.transactions).toBeGreaterThan(0);
  });

  it('leaves at once on a nudge', async () => {
    const slowly = relay(take, { pollMs: 60_000 });
    const resting =
      "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'SELECT EXISTS%'";
    await eventually(async () => (await pool.query(resting)).rowCount);
    await insert(2);
    slowly.wake();
    await eventually(isEmpty);
  });

  it('reports what waits while the event log is away', async () => {
    await insert(3);
    const reported: { rows: number; oldestSeconds: number }[] = [];
    relay(() => Promise.reject(new Error('away')), { onBacklog: (backlog) => reported.push(backlog) });
    await eventually(() => reported.length > 0);
    expect(reported[0].rows).toBe(3);
    expect(reported[0].oldestSeconds).toBeGreaterThanOrEqual(0);
  });
});

describe('outboxRow', () => {
  it('gives ids that rise within a process, also when the clock stands still', () => {
    const still = {
      ...clock,
      now: () => 1,
      setTimer: clock.setTimer,
      sleep: clock.sleep,
      monotonic: clock.monotonic,
    };
    const ids = upTo(10_000).map(
      (n) =>
        outboxRow({ topic: 't', key: 'k', source: '/s', id: `${n}`, data: {} }, { clock: still, random }).id,
    );
    expect([...ids].sort()).toEqual(ids);
    expect(new Set(ids).size).toBe(10_000);
  });

  it('refuses an event that no broker would take', () => {
    const data = { text: 'x'.repeat(300_000) };
    expect(() =>
      outboxRow({ topic: 't', key: 'k', source: '/s', id: 'evt_1', data }, { clock, random }),
    ).toThrow('evt_1');
  });
});
