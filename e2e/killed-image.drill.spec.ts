import { eventually } from '@gateway/testing';
import pg from 'pg';
import { startFleet, type Fleet } from './harness/fleet.js';
import { START_MS } from './harness/modes.js';
import { askOnce, pico, type Answered, type Body } from './harness/requests.js';
import { logIn } from './harness/session.js';

const IMAGE = { model: 'simulator/image', prompt: 'A fox', size: '1024x1024', quality: 'low' };
/** Number of the lock that a test holds. */
const GATE = 4_711;
/** The server has the databases of other tests, too. */
const WAITING = `FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
const SETTLED = { timeoutMs: 60_000, intervalMs: 100 };

describe('an edge that is killed while it answers an image under an Idempotency-Key', () => {
  let fleet: Fleet;
  let database: pg.Client;
  beforeAll(async () => {
    fleet = await startFleet();
    database = new pg.Client({ connectionString: fleet.databaseUrl });
    await database.connect();
    // Whoever keeps that a request was answered waits for the lock, when a test holds it.
    await database.query(`
      CREATE FUNCTION workers.gate() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM pg_advisory_xact_lock(${GATE}); RETURN new; END $$;
      CREATE TRIGGER gate BEFORE UPDATE ON workers.idempotency FOR EACH ROW WHEN (new.status IS NOT NULL)
        EXECUTE FUNCTION workers.gate()`);
  }, START_MS);
  afterAll(async () => {
    await database?.end();
    await fleet?.stop();
  }, START_MS);

  const make = (key: string): Promise<Answered> =>
    askOnce(fleet, 'POST', '/v1/images/generations', {
      key,
      body: IMAGE,
      headers: { 'idempotency-key': 'fox' },
    });
  const rows = async (text: string): Promise<Body[]> => (await database.query<Body>(text)).rows;

  /** An image whose edge is killed when the image is made and its answer is about to be kept. */
  async function killedBeforeItsEnd(key: string): Promise<void> {
    await database.query(`SELECT pg_advisory_lock(${GATE})`);
    const first = make(key).then(
      () => 'answered',
      () => 'lost',
    );
    await eventually(async () => (await rows(`SELECT 1 ${WAITING}`)).length > 0, SETTLED);
    await fleet.process('edge').kill();
    expect(await first).toBe('lost');
  }

  const balance = async (key: string): Promise<bigint> => {
    const { body } = await eventually(async () => {
      const read = await askOnce(fleet, 'GET', '/v1/balance', { key });
      return read.status === 200 && read.body.reserved_usd === '0' ? read : null;
    }, SETTLED);
    return pico(body.balance_usd);
  };

  /** The units of a key, the newest first, once there are so many and the balance has paid for just these. */
  async function booked(key: string, count: number, before: bigint): Promise<Body[]> {
    const events = await eventually(async () => {
      const read = await askOnce(fleet, 'POST', '/v1/usage/events', { key, body: { org_id: 'mine' } });
      const found = read.body.events as Body[];
      return found.length >= count ? found : null;
    }, SETTLED);
    const cost = events.map(({ cost_usd }) => pico(cost_usd ?? '0')).reduce((sum, one) => sum + one, 0n);
    await eventually(async () => (await balance(key)) === before - cost, SETTLED);
    return events;
  }

  it('EDGE-08 after its answer was kept: a repeat gets that answer, and nothing is charged twice', async () => {
    const { key } = await (await logIn(fleet)).createKey('kept');
    const before = await balance(key);
    await killedBeforeItsEnd(key);
    await database.query(`SELECT pg_advisory_unlock(${GATE})`);
    await eventually(
      async () => (await rows('SELECT 1 FROM workers.idempotency WHERE status = 200')).length === 1,
      SETTLED,
    );
    await fleet.process('edge').restart();
    const [again, once] = [await make(key), await make(key)];
    expect([again.status, again.body.data[0].b64_json]).toEqual([200, expect.any(String)]);
    expect(once.text).toBe(again.text);
    expect(await booked(key, 1, before)).toEqual([
      expect.objectContaining({ status: 'error', cost_usd: null }),
    ]);
  });

  it('EDGE-08 before its answer was kept: 409 for two minutes, then a repeat is made, and it alone is charged', async () => {
    const { key } = await (await logIn(fleet)).createKey('not kept');
    const before = await balance(key);
    await killedBeforeItsEnd(key);
    await database.query(`SELECT pg_terminate_backend(pid) ${WAITING}`);
    await database.query(`SELECT pg_advisory_unlock(${GATE})`);
    await fleet.process('edge').restart();
    expect((await make(key)).status).toBe(409);
    await database.query(
      `UPDATE workers.idempotency SET created_at = created_at - interval '2 minutes' WHERE status IS NULL`,
    );
    const [again, once] = [await make(key), await make(key)];
    expect(again.status).toBe(200);
    expect(once.text).toBe(again.text);
    expect(await booked(key, 2, before)).toEqual([
      expect.objectContaining({ status: 'success', cost_usd: '0.011', request_id: again.requestId }),
      expect.objectContaining({ status: 'error', cost_usd: null }),
    ]);
  });
});
