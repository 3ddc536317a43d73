import { applyMigrations } from '@gateway/database';
import { toApiError } from '@gateway/platform';
import { ownPostgres, usageRecord, type OwnServer } from '@gateway/testing';
import { LedgerStore } from './ledger/ledger.store.js';
import { SCHEMA, SCHEMA_DIR, UsageDatabase } from './postgres/usage-database.js';
import { FLEET_TOKEN, startUsageApp, type UsageApp } from './usage.fixture.js';

let server: OwnServer;
let usage: UsageApp;

beforeAll(async () => {
  server = await ownPostgres();
  await applyMigrations({ url: server.address, schemaDir: SCHEMA_DIR, schema: SCHEMA });
  usage = await startUsageApp(server.address);
});

afterAll(async () => {
  await usage?.close();
  await server?.drop();
});

const metrics = async (): Promise<string> => (await fetch(`${usage.url}/metrics`)).text();
const status = async (path: string): Promise<number> => (await fetch(`${usage.url}${path}`)).status;

describe('usage while PostgreSQL is away', () => {
  it('stays ready and alive, tells its metrics, takes no offset, and posts all of it afterwards', async () => {
    const producer = { producer: 'edge-outage', epoch: 'epoch-1' };
    await usage.post(usageRecord({ ...producer, seq: 1 }));
    server.kill();
    // The rejection is what keeps the offsets of the batch uncommitted.
    await expect(usage.post(usageRecord({ ...producer, seq: 2 }))).rejects.toThrow();
    expect([await status('/readyz'), await status('/healthz')]).toEqual([200, 200]);
    expect(await metrics()).toContain('gateway_usage_events_posted_total 1');
    const gate = await usage.call('POST', '/internal/gate/acct_1', FLEET_TOKEN, {
      gen: 'g',
      scopes: [{ kind: 'key', id: 'key_1' }],
    });
    expect([gate.status, gate.body.error.code]).toEqual([503, 'service_unavailable']);

    await server.restart();
    await usage.post(usageRecord({ ...producer, seq: 2 }));
    expect(await usage.funds.watermark(producer.producer, producer.epoch)).toBe(2);
  });

  it('answers 503 where a statement passes its time limit, over Prisma and over the pool', async () => {
    const database = new UsageDatabase({
      ...{ url: server.address, maxConnections: 1, statementTimeoutMs: 50 },
      onIdleError: () => undefined,
    });
    try {
      for (const slow of [
        () => database.prisma.$queryRaw`SELECT 1 FROM pg_sleep(20)`,
        () => database.pool.query('SELECT pg_sleep(20)'),
      ]) {
        const failure: unknown = await slow().catch((error: unknown) => error);
        expect(toApiError(failure).code).toBe('service_unavailable');
      }
    } finally {
      await database.onApplicationShutdown();
    }
  });

  it('counts a record that newer ones have passed as missing, until it comes', async () => {
    const ledger = usage.app.get(LedgerStore, { strict: false });
    const producer = { producer: 'edge-gap', epoch: 'epoch-1' };
    await usage.post(usageRecord({ ...producer, seq: 2 }), usageRecord({ ...producer, seq: 5 }));
    expect(await ledger.missingRecords()).toBe(3);
    await usage.post(...[1, 3, 4].map((seq) => usageRecord({ ...producer, seq })));
    expect(await ledger.missingRecords()).toBe(0);
  });
});
