import { rmSync } from 'node:fs';
import { eventually } from '@gateway/testing';
import pg from 'pg';
import { startFleet, type Fleet } from './harness/fleet.js';
import { START_MS } from './harness/modes.js';
import { ask } from './harness/requests.js';
import { logIn, type PersonSession } from './harness/session.js';

const REQUESTS = Number(process.env.DRILL_REQUESTS ?? '300');
const HANG_MS = 300_000;
const chat = {
  model: 'simulator/chat',
  max_tokens: 20,
  stream: true,
  messages: [{ role: 'user', content: 'Hello' }],
};

describe('an organization whose answers wait for the brokers', () => {
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

  it(
    'operations 2: loses no answer with its edge and the disk, while others do not wait',
    async () => {
      const made = await person.call('POST', '/v1/orgs', { name: 'Does not wait' });
      const { id: other } = (await made.json()) as { id: string };
      const credit = { org_id: other, amount_usd: '100', reason: 'a drill' };
      expect((await person.call('POST', '/v1/admin/credits', credit)).status).toBeLessThan(300);
      const keys = {
        waits: (await person.createKey('waits', { rpm: 1_000 })).key,
        other: (await person.createKey('other', { org_id: other, rpm: 1_000 })).key,
      };
      const balance = () => ask({ url: fleet.url, key: keys.other }, 'GET', '/v1/balance');
      await eventually(async () => (await balance()).body.balance_usd === '100', { timeoutMs: 60_000 });
      const edge = fleet.process('edge');
      await edge.end();
      edge.change({ JOURNAL_ACK_ORGANIZATIONS: person.orgId, JOURNAL_ACK_MS: '10000' });
      await edge.restart();
      const waited: string[] = [];
      const ms = { waits: [] as number[], other: [] as number[] };
      for (let n = 0; n < REQUESTS; n += 1)
        for (const which of ['other', 'waits'] as const) {
          const startedAt = performance.now();
          const { url } = fleet;
          const answer = await ask({ url, key: keys[which] }, 'POST', '/v1/chat/completions', { body: chat });
          ms[which].push(performance.now() - startedAt);
          expect([answer.status, answer.text.endsWith('data: [DONE]\n\n')]).toEqual([200, true]);
          if (which === 'waits') waited.push(answer.requestId);
        }
      // At once: a moment later the record of the last answer would have shipped in any case.
      await edge.kill();
      rmSync(fleet.journalFolder, { recursive: true, force: true });
      await edge.restart();
      const p50 = (all: number[]): number => all.toSorted((one, two) => one - two)[all.length >> 1];
      process.stdout.write(
        `acked-organization: p50 of ${REQUESTS} whole streams ${p50(ms.waits).toFixed(1)} ms, of another organization ${p50(ms.other).toFixed(1)} ms\n`,
      );
      const missing = async (): Promise<string[]> => {
        const text = 'select request_id from usage.usage_event where request_id = any($1)';
        const { rows } = await database.query<{ request_id: string }>(text, [waited]);
        const known = new Set(rows.map(({ request_id }) => request_id));
        return waited.filter((id) => !known.has(id));
      };
      await eventually(async () => (await missing()).length === 0, { timeoutMs: 60_000 }).catch(() => null);
      expect(await missing()).toEqual([]);
    },
    HANG_MS,
  );
});
