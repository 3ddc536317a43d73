import { TOPIC, type ConsumedRecord, type Random } from '@gateway/contracts';
import { SystemClock } from '@gateway/platform';
import { eventually, seededRandom, testPostgres, type TestDatabase } from '@gateway/testing';
import pg from 'pg';
import { InProcessEventLog } from '../in-process-event-log.js';
import { OutboxRelay } from './outbox-relay.js';
import { outboxRow } from './outbox-row.js';

const TABLE = `CREATE TABLE outbox (id uuid PRIMARY KEY, topic text NOT NULL, key text NOT NULL, value text NOT NULL,
  created_at timestamptz(3) NOT NULL, sent_at timestamptz(3))`;

/** Groups of the one process and their topics; nobody reads the catalogue's announcements there. */
const GROUPS: readonly (readonly [string, string])[] = [
  ['usage', TOPIC.usage],
  ['notifications', TOPIC.usage],
  ['usage', TOPIC.usageV2],
  ['notifications', TOPIC.usageV2],
  ['usage', TOPIC.rejections],
  ['notifications', TOPIC.rejections],
  ['notifications', TOPIC.account],
  ['workers', TOPIC.account],
  ['keys', TOPIC.audit],
];

const clock = new SystemClock();
let database: TestDatabase;
let pool: pg.Pool;

beforeAll(async () => {
  database = await testPostgres();
  pool = new pg.Pool({ connectionString: database.url, max: 8 });
  pool.on('error', () => undefined);
  await pool.query(TABLE);
});

afterAll(async () => {
  await pool.end();
  await database.drop();
});

async function insert(topics: readonly string[], perTopic: number): Promise<string[]> {
  const random = seededRandom(perTopic);
  const ids: string[] = [];
  for (let n = 0; n < perTopic; n += 1) {
    for (const topic of topics) {
      const id = `${topic}/${n}`;
      ids.push(id);
      const row = outboxRow(
        { topic, key: `acct_${n % 3}`, source: '/spec', id, data: {} },
        { clock, random },
      );
      await pool.query('INSERT INTO outbox (id, topic, key, value, created_at) VALUES ($1, $2, $3, $4, $5)', [
        row.id,
        row.topic,
        row.key,
        row.value,
        row.created_at,
      ]);
    }
  }
  return ids;
}

async function left(): Promise<number> {
  const { rows } = await pool.query<{ count: string }>('SELECT count(*) FROM outbox');
  return Number(rows[0].count);
}

const idOf = ({ value }: ConsumedRecord): string => (JSON.parse(value) as { id: string }).id;

/** Work that each group has done, which the end of the process does not undo. */
type Done = Map<string, Set<string>>;

/**
 * One life of the process, which ends at its n-th step, wherever that is: before or after a statement, an append, or the work of
 * a consumer. From then on nothing that it does has an effect.
 */
class Life {
  private readonly log: InProcessEventLog;
  private readonly relay: OutboxRelay;
  private readonly random: Random;
  private stepsLeft: number;

  constructor(
    private readonly done: Done,
    seed: number,
    steps: number,
  ) {
    this.stepsLeft = steps;
    this.random = seededRandom(seed);
    this.log = new InProcessEventLog({ clock, random: this.random, stopTimeoutMs: 5 });
    this.relay = new OutboxRelay({
      pool: this.mortal(),
      eventLog: {
        append: (topic, records) => this.step(() => this.log.append(topic, records)),
        kept: (topic) => this.log.kept(topic),
      },
      clock,
      onFault: () => undefined,
      pollMs: 1,
      batch: 7,
    });
  }

  get isDead(): boolean {
    return this.stepsLeft <= 0;
  }

  async start(): Promise<void> {
    this.relay.start();
    for (const [group, topic] of GROUPS) {
      const handler = (batch: ConsumedRecord[]): Promise<void> =>
        this.step(async () => {
          // A consumer's database takes longer than the relay's.
          await clock.sleep(this.random.fraction() * 10);
          this.live();
          const done = this.done.get(`${group}.${topic}`);
          for (const record of batch) done?.add(idOf(record));
        });
      await this.log.consume({
        topics: [topic],
        group: `${group}.${topic}`,
        maxBatch: 5,
        lingerMs: 0,
        handler,
      });
    }
    this.log.consumersBegan();
  }

  async stop(): Promise<void> {
    await this.relay.stop();
    await this.log.close();
  }

  /** Dies before the work, or after it and before anybody hears of it. */
  private async step<T>(work: () => Promise<T>): Promise<T> {
    this.live();
    const result = await work();
    this.live();
    return result;
  }

  private live(): void {
    if (this.isDead) throw new Error('The process is gone.');
    this.stepsLeft -= 1;
    if (this.isDead) throw new Error('The process has died.');
  }

  private mortal(): pg.Pool {
    const connect = async (): Promise<object> => {
      this.live();
      const client = await pool.connect();
      const query = (...statement: [string, unknown[]]): Promise<unknown> =>
        this.step(() => client.query(...statement));
      return {
        query,
        on: client.on.bind(client),
        off: client.off.bind(client),
        // What a dead process had open is rolled back.
        release: (fault?: Error) => client.release(this.isDead ? true : fault),
      };
    };
    const query = (...statement: [string]): Promise<unknown> => this.step(() => pool.query(...statement));
    return { connect, query } as unknown as pg.Pool;
  }
}

function nothingDone(): Done {
  return new Map(GROUPS.map(([group, topic]) => [`${group}.${topic}`, new Set<string>()]));
}

describe('a row of the outbox, where the event log is in memory', () => {
  it('stays until the last consumer group has committed it', async () => {
    await insert([TOPIC.account], 20);
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    const log = new InProcessEventLog({ clock, random: seededRandom(1) });
    const handled = { quick: 0, slow: 0 };
    const group = (name: 'quick' | 'slow', before: Promise<void>) =>
      log.consume({
        topics: [TOPIC.account],
        group: name,
        maxBatch: 100,
        lingerMs: 0,
        handler: async (batch) => {
          await before;
          handled[name] += batch.length;
        },
      });
    const relay = new OutboxRelay({ pool, eventLog: log, clock, onFault: () => undefined, pollMs: 1 });
    relay.start();
    await group('quick', Promise.resolve());
    await group('slow', gate);
    log.consumersBegan();
    await eventually(() => handled.quick === 20);
    expect(await left()).toBe(20);
    release();
    await eventually(async () => (await left()) === 0);
    expect(handled).toEqual({ quick: 20, slow: 20 });
    await relay.stop();
    await log.close();
  });

  it('goes where no group reads its topic, once the consumers of the process have begun', async () => {
    await insert([TOPIC.catalogue], 3);
    const log = new InProcessEventLog({ clock, random: seededRandom(1) });
    const appended: string[] = [];
    const append = async (topic: string, records: { key: string; value: string }[]): Promise<void> => {
      await log.append(topic, records);
      appended.push(...records.map(({ key }) => key));
    };
    const eventLog = { append, kept: (topic: string) => log.kept(topic) };
    const relay = new OutboxRelay({ pool, eventLog, clock, onFault: () => undefined, pollMs: 1 });
    relay.start();
    await eventually(() => appended.length === 3);
    expect(await left()).toBe(3);
    log.consumersBegan();
    await eventually(async () => (await left()) === 0);
    expect(appended).toHaveLength(3);
    await relay.stop();
    await log.close();
  });

  it('is done by every group of its topic, wherever and however often the process dies, with 20 seeds', async () => {
    const topics = Object.values(TOPIC);
    for (let seed = 1; seed <= 20; seed += 1) {
      const done = nothingDone();
      const ids = await insert(topics, 3);
      const random = seededRandom(seed);
      for (let isOver = false; !isOver;) {
        const life = new Life(done, seed, 5 + Math.floor(random.fraction() * 150));
        await life.start();
        await eventually(async () => (isOver = !life.isDead && (await left()) === 0) || life.isDead);
        await life.stop().catch(() => undefined);
      }
      for (const [group, topic] of GROUPS)
        expect({ seed, group, topic, done: [...(done.get(`${group}.${topic}`) ?? [])].sort() }).toEqual({
          seed,
          group,
          topic,
          done: ids.filter((id) => id.startsWith(`${topic}/`)).sort(),
        });
    }
  });
});
