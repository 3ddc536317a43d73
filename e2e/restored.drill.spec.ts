import { TOPIC } from '@gateway/contracts';
import { kafkaClient } from '@gateway/event-log';
import { eventually } from '@gateway/testing';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { startFleet, type Fleet } from './harness/fleet.js';
import { START_MS } from './harness/modes.js';
import { findingsOf } from './harness/reconcile.js';
import { ask, askOnce, pico, usd, type Body } from './harness/requests.js';
import { logIn, type PersonSession } from './harness/session.js';

const chat = { model: 'simulator/chat', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 16 };
const TEST_MS = 900_000;
const SOON = { timeoutMs: 60_000, intervalMs: 200 };
/** The cap, in requests; how many of them the backup has. */
const CAP = 30;
const IN_BACKUP = 10;
const ATTACK = 120;

describe('a PostgreSQL that is put back to a backup while Redis knows more', () => {
  let fleet: Fleet;
  let person: PersonSession;
  let admin: Client;
  let redis: Redis;
  const name = (): string => new URL(fleet.databaseUrl).pathname.slice(1);
  const backup = (): string => `${name()}_backup`;

  beforeAll(async () => {
    fleet = await startFleet();
    person = await logIn(fleet);
    const url = new URL(fleet.databaseUrl);
    url.pathname = '/postgres';
    admin = new Client({ connectionString: url.href });
    await admin.connect();
    redis = new Redis(fleet.redisUrl);
  }, START_MS);
  afterAll(async () => {
    redis?.disconnect();
    await fleet?.stop();
    await admin?.query(`DROP DATABASE IF EXISTS "${backup()}" WITH (FORCE)`);
    await admin?.end();
  }, START_MS);

  /** Runs statements while nobody is connected to the fleet's database; the services connect again afterwards. */
  async function alone(...statements: string[]): Promise<void> {
    await admin.query(`ALTER DATABASE "${name()}" ALLOW_CONNECTIONS false`);
    await admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name()]);
    const gone = async (): Promise<boolean> => {
      const text = 'SELECT 1 FROM pg_stat_activity WHERE datname = $1';
      return (await admin.query(text, [name()])).rowCount === 0;
    };
    await eventually(gone, SOON);
    for (const statement of statements) await admin.query(statement);
    await admin.query(`ALTER DATABASE "${name()}" ALLOW_CONNECTIONS true`);
  }

  /** Returns the status of one try; 503 decides nothing. */
  const statusOf = async (key: string): Promise<number> =>
    (await askOnce(fleet, 'POST', '/v1/chat/completions', { body: chat, key })).status;

  async function send(key: string, count: number): Promise<void> {
    for (let n = 0; n < count; n += 1)
      expect((await ask(fleet, 'POST', '/v1/chat/completions', { body: chat, key })).status).toBe(200);
  }

  /** Returns how many of so many requests are served; an undecided one is 503, and nothing else but 402 is answered. */
  async function served(key: string, count: number): Promise<number> {
    let passed = 0;
    for (let n = 0; n < count; n += 1) {
      const status = await statusOf(key);
      expect([200, 402, 503]).toContain(status);
      if (status === 200) passed += 1;
    }
    return passed;
  }

  async function eventsOf(key: string): Promise<Body[]> {
    const body = { org_id: 'mine', limit: 200 };
    const answer = await ask(fleet, 'POST', '/v1/usage/events', { body, key });
    return (answer.body.events as Body[]).filter(({ status }) => status === 'success');
  }

  /** Posts again as docs/operations/postgresql-gone.md says, step 4. */
  async function postAgain(): Promise<void> {
    const usage = fleet.process('usage');
    await usage.end();
    const kafka = kafkaClient({ brokers: fleet.kafka.brokers, clientId: 'e2e' }).admin();
    await kafka.connect();
    for (const topic of [TOPIC.usage, TOPIC.rejections]) {
      const groupId = `usage.${topic}`;
      await eventually(() => kafka.resetOffsets({ groupId, topic, earliest: true }).then(() => true), SOON);
    }
    await kafka.disconnect();
    await usage.restart();
  }

  it(
    'LIM-31 a cap lets no more through than the backup lacks, and nothing once the topic is posted again',
    async () => {
      const { id, key } = await person.createKey('restored', { rpm: 1_000 });
      await send(key, 1);
      const [{ cost_usd }] = await eventually(async () => {
        const events = await eventsOf(key);
        return events.length === 1 ? events : null;
      }, SOON);
      const spend_cap_usd = usd(pico(cost_usd) * BigInt(CAP));
      expect((await person.call('PATCH', `/v1/keys/${id}`, { spend_cap_usd })).status).toBe(200);
      await send(key, IN_BACKUP - 1);
      await eventually(async () => (await eventsOf(key)).length === IN_BACKUP, SOON);
      await alone(`CREATE DATABASE "${backup()}" TEMPLATE "${name()}"`);

      // One at a time: the last ones of a cap are admitted by their worst case.
      let before = IN_BACKUP;
      await eventually(async () => {
        const passed = await served(key, CAP);
        before += passed;
        return passed === 0 && (await statusOf(key)) === 402;
      }, SOON);
      expect(before).toBeGreaterThan(IN_BACKUP + 5);
      expect(before).toBeLessThanOrEqual(CAP);
      await eventually(async () => (await eventsOf(key)).length === before, SOON);

      await alone(
        `ALTER DATABASE "${name()}" RENAME TO "${name()}_lost"`,
        `DROP DATABASE "${name()}_lost"`,
        `ALTER DATABASE "${backup()}" RENAME TO "${name()}"`,
      );
      let passed = await served(key, ATTACK);
      // The account is posted to, and so reported to Redis, from the backup's lower version.
      await send(fleet.key, 1);
      await eventually(async () => (await eventsOf(fleet.key)).length === 1, SOON);
      passed += await served(key, ATTACK);
      // All that Redis knew is gone, too.
      await redis.flushdb();
      passed += await served(key, ATTACK);
      await eventually(async () => (await statusOf(key)) === 402, SOON);
      expect(passed).toBeLessThanOrEqual(before - IN_BACKUP);

      await postAgain();
      await eventually(async () => (await eventsOf(key)).length === before + passed, SOON);
      await eventually(async () => (await statusOf(key)) === 402, SOON);
      expect(await served(key, CAP)).toBe(0);
      const isRight = async (): Promise<boolean> =>
        (await findingsOf(fleet, { REDIS_URL: fleet.redisUrl })).length === 0;
      await eventually(isRight, { timeoutMs: 120_000, intervalMs: 2_000 });
    },
    TEST_MS,
  );
});
