import { eventually } from '@gateway/testing';
import pg from 'pg';
import { startFleet, type Fleet } from './harness/fleet.js';
import { START_MS } from './harness/modes.js';
import { ask, type Body } from './harness/requests.js';
import { logIn, type PersonSession } from './harness/session.js';

const REQUESTS = Number(process.env.DRILL_REQUESTS ?? '20');
const HANG_MS = 300_000;
const chat = { model: 'simulator/chat', max_tokens: 20, messages: [{ role: 'user', content: 'Hello' }] };

describe('an edge that moves between the two formats of usage records', () => {
  let fleet: Fleet;
  let database: pg.Client;
  let person: PersonSession;
  beforeAll(async () => {
    fleet = await startFleet();
    database = new pg.Client({ connectionString: fleet.databaseUrl });
    await database.connect();
    person = await logIn(fleet);
  }, START_MS);
  afterAll(async () => {
    await database?.end();
    await fleet?.stop();
  }, START_MS);

  /** Kills the edge under way and starts it with another version. */
  async function move(version: string): Promise<void> {
    const edge = fleet.process('edge');
    await edge.kill();
    edge.change({ USAGE_TOPIC_VERSION: version });
    await edge.restart();
  }

  it(
    'operations 3: loses and doubles no unit by kill -9 on the way there and back, and lookups show the same',
    async () => {
      const { key } = await person.createKey('formats', { rpm: 1_000 });
      const asked: string[][] = [];
      for (const version of ['1', '2', '1']) {
        if (asked.length > 0) await move(version);
        const ids: string[] = [];
        for (let n = 0; n < REQUESTS; n += 1) {
          const answer = await ask({ url: fleet.url, key }, 'POST', '/v1/chat/completions', { body: chat });
          expect(answer.status).toBe(200);
          ids.push(answer.requestId);
        }
        asked.push(ids);
      }
      const all = asked.flat();
      const events = async (): Promise<{ units: number; cost: string }> => {
        const text = `select count(*)::int as units, coalesce(sum(cost), 0)::text as cost from usage.usage_event where request_id = any($1)`;
        return (await database.query<{ units: number; cost: string }>(text, [all])).rows[0];
      };
      await eventually(async () => (await events()).units === all.length, { timeoutMs: 120_000 });
      const { rows } = await database.query('select digest from usage.dead_letter');
      expect(rows).toEqual([]);
      const looked = async (id: string): Promise<Body> =>
        (await ask({ url: fleet.url, key }, 'GET', `/v1/usage/requests/${id}`)).body;
      const shown = await Promise.all(asked.map(([, second]) => looked(second)));
      // Times and counters differ from request to request; what is shown, and of what, does not.
      const [before, compact, after] = shown.map((lookup) => ({
        members: Object.keys(lookup),
        limits: (lookup.limits_seen as Body[]).map(({ scope, counter }) => ({ scope, counter })),
        attempts: (lookup.attempts as Body[]).map((attempt) => Object.keys(attempt)),
        ...{ cost: lookup.cost_usd, tokens: lookup.total_tokens, status: lookup.http_status },
      }));
      expect(before.limits.length).toBeGreaterThan(0);
      expect(compact).toEqual(before);
      expect(after).toEqual(before);
    },
    HANG_MS,
  );
});
