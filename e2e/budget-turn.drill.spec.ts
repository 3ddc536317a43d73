import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { providerAccount } from '@gateway/contracts';
import { RedisLimitStore } from '@gateway/limits';
import { SystemRandom } from '@gateway/platform';
import { eventually, redisScripts } from '@gateway/testing';
import pg from 'pg';
import { startFleet, type Fleet } from './harness/fleet.js';
import { START_MS } from './harness/modes.js';
import { askOnce, pico } from './harness/requests.js';
import { logIn } from './harness/session.js';

const [MINUTE_MS, HOUR_MS] = [60_000, 3_600_000];
/** Sequence of kills of the usage service while the records of both periods come in. */
const KILLS = 3;
const chat = { model: 'simulator/chat', messages: [{ role: 'user', content: 'Hello' }] };

/**
 * Time from the edge's clock to the turn, and from the turn to its clock. Kafka takes no record that is an hour ahead. A unit of
 * an edge more than ten minutes behind gets a later time than the edge's.
 */
const [BEFORE_MS, AFTER_MS] = [7 * MINUTE_MS, MINUTE_MS];

/** Returns a full hour that both fit around. */
function nextTurn(): number {
  return Math.floor((Date.now() + 58 * MINUTE_MS) / HOUR_MS) * HOUR_MS;
}

/** Returns a zone in which it is midnight at a full hour. */
function zoneOf(turnMs: number): string {
  const hour = new Date(turnMs).getUTCHours();
  return hour === 0 ? 'UTC' : hour <= 12 ? `Etc/GMT+${hour}` : `Etc/GMT-${24 - hour}`;
}

/** Moves the clock of a process by the milliseconds in a file, which it reads again all the time. */
function movedBy(file: string): string {
  const code = `
import { readFileSync } from 'node:fs';
const now = Date.now;
let shift = 0;
const read = () => { try { shift = Number(readFileSync(${JSON.stringify(file)}, 'utf8')); } catch {} };
read();
setInterval(read, 20).unref();
Date.now = () => now() + shift;
globalThis.Date = new Proxy(Date, {
  construct: (target, given, as) => Reflect.construct(target, given.length === 0 ? [now() + shift] : given, as),
});`;
  return `--import=data:text/javascript,${encodeURIComponent(code)}`;
}

interface Row {
  scope: 'org' | 'provider';
  scope_id: string;
  account_id: string;
  events: number;
  /** Costs for the customer, and at list. */
  cost: string;
  list: string;
  earliest: Date;
  latest: Date;
}

describe('an edge and the ledger that are killed across the turn of a period', () => {
  const folder = mkdtempSync(join(tmpdir(), 'budget-turn-'));
  const clock = join(folder, 'shift');
  let fleet: Fleet;
  let database: pg.Client;
  beforeAll(async () => {
    fleet = await startFleet({ env: { edge: { NODE_OPTIONS: movedBy(clock) } } });
    database = new pg.Client({ connectionString: fleet.databaseUrl });
    await database.connect();
  }, START_MS);
  afterAll(async () => {
    await database?.end();
    await fleet?.stop();
    rmSync(folder, { recursive: true });
  }, START_MS);

  const setClock = (atMs: number): void => writeFileSync(clock, String(atMs - Date.now()));
  /** Sums of the ledger's events by the period that admission counted them in. */
  const periods = async (): Promise<Row[]> => {
    const { rows } = await database.query<Row>(
      `SELECT l ->> 'scope' AS scope, l ->> 'scope_id' AS scope_id, min(e.account_id) AS account_id, count(*)::int AS events,
         sum(e.cost)::text AS cost, sum(e.list_cost)::text AS list, min(e.created_at) AS earliest, max(e.created_at) AS latest
       FROM usage.usage_event e, jsonb_array_elements(e.limits) AS l
       WHERE l ->> 'scope_id' LIKE '%/b:%' GROUP BY 1, 2 ORDER BY 1, 2`,
    );
    return rows;
  };
  const spent = async (accountId: string, kind: string, id: string): Promise<bigint> => {
    const answer = await fetch(`${fleet.urls.usage}/internal/spend`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-fleet-token': fleet.fleetToken },
      body: JSON.stringify({ scopes: [{ kind, id }], account_id: accountId }),
    });
    const { spent_usd } = (await answer.json()) as { spent_usd: string[] };
    return pico(spent_usd[0]);
  };

  /** The ledger knows of a period what its events cost, and so does Redis, where nothing is held any more. */
  const isExact = async (row: Row, turnMs: number, limits: RedisLimitStore): Promise<void> => {
    const { scope, scope_id, account_id, cost, list, earliest, latest } = row;
    const [start, end] = scope_id.split('/b:')[1].split(/[-.]/).map(Number);
    expect([start, end]).toContain(turnMs);
    expect([start <= earliest.getTime(), latest.getTime() < end]).toEqual([true, true]);
    const account = scope === 'org' ? account_id : providerAccount('simulated');
    const sum = pico(scope === 'org' ? cost : list);
    expect(sum).toBeGreaterThan(0n);
    const known = await spent(account, scope, scope_id);
    // What was owed before the edge knew the budget counts, too.
    if (scope === 'org') expect([scope_id, known]).toEqual([scope_id, sum]);
    else expect(known).toBeGreaterThanOrEqual(sum);
    await eventually(async () => {
      const { posted = [], scopes } = await limits.read(account, [{ kind: scope, id: scope_id }]);
      const [{ reservedNano, unpostedNano }] = scopes;
      const nano = posted.find(({ id }) => id === scope_id)?.nano;
      return reservedNano === 0n && unpostedNano === 0n && nano === (known + 500n) / 1_000n;
    });
  };

  it('lose and double nothing: both periods of a customer and of a provider are exact to the digit', async () => {
    const person = await logIn(fleet);
    const { key } = await person.createKey('turn');
    const turnMs = nextTurn();
    const of = { name: 'Turn', amount_usd: '1000', period: 'day', time_zone: zoneOf(turnMs) };
    const org = { org_id: person.orgId, scope: 'org', scope_id: person.orgId };
    expect((await person.call('POST', '/v1/budgets', { ...of, ...org })).status).toBe(201);
    const provider = { scope: 'provider', scope_id: 'simulated' };
    expect((await person.call('POST', '/v1/admin/budgets', { ...of, ...provider })).status).toBe(201);

    setClock(turnMs - BEFORE_MS);
    const send = (stream = false): Promise<number> =>
      askOnce(fleet, 'POST', '/v1/chat/completions', { key, body: { ...chat, stream } }).then(
        ({ status }) => status,
      );
    // The edge has learned the provider's budget once a unit is counted in it.
    let answered = 0;
    await eventually(async () => {
      if ((await send()) === 200) answered += 1;
      return (await periods()).length === 2;
    });
    // From here on nothing leaves the journal before the kill.
    fleet.kafka.server.freeze();
    for (const stream of [false, true, false, true]) {
      expect(await send(stream)).toBe(200);
      answered += 1;
    }
    const edge = fleet.process('edge');
    await edge.kill();
    setClock(turnMs + AFTER_MS);
    fleet.kafka.server.thaw();
    await edge.restart();
    const usage = fleet.process('usage');
    for (let kill = 0; kill < KILLS; kill += 1) {
      const statuses = Promise.all([send(), send(true)]);
      await usage.kill();
      await usage.restart();
      // Without the ledger an edge may not know what is spent: such an answer is 503 and costs nothing.
      answered += (await statuses).filter((status) => status === 200).length;
    }
    await eventually(async () => {
      if ((await send()) !== 200) return false;
      answered += 1;
      return true;
    });

    const rows = await eventually(
      async () => {
        const found = await periods();
        const events = found.filter(({ scope }) => scope === 'org').reduce((sum, row) => sum + row.events, 0);
        return found.length === 4 && events === answered ? found : null;
      },
      { timeoutMs: 60_000, intervalMs: 200 },
    );
    const { pipe, close } = await redisScripts(fleet.redisUrl);
    const limits = new RedisLimitStore({ pipe, random: new SystemRandom() });
    try {
      for (const row of rows) await isExact(row, turnMs, limits);
    } finally {
      close();
    }
    // What the provider is owed in both periods is the list cost of every event of it, counted or not.
    const owed = await database.query<{ slots: string; events: string }>(
      `SELECT (SELECT sum(amount) FROM usage.provider_slot WHERE provider = 'simulated')::text AS slots,
         (SELECT sum(list_cost) FROM usage.usage_event WHERE provider = 'simulated')::text AS events`,
    );
    expect(pico(owed.rows[0].slots)).toBe(pico(owed.rows[0].events));
  });
});
