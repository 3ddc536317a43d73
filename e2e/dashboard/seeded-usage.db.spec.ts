import { join } from 'node:path';
import { applyMigrations } from '@gateway/database';
import { testDatabase } from '@gateway/testing';
import pg from 'pg';
import { seedUsage } from './seeded-usage.js';

const schemaDir = join(import.meta.dirname, '../../libs/services/usage/prisma');

it('what is noted of tags is noted again behind events that were seeded', async () => {
  const database = await testDatabase({
    schemaDir,
    migrate: async (url) => void (await applyMigrations({ url, schema: 'usage', schemaDir })),
  });
  const client = new pg.Client({ connectionString: database.url, options: '-c search_path=usage' });
  await client.connect();
  try {
    await client.query(`INSERT INTO account (id, kind, org_id) VALUES ('acct_1', 'customer', 'org_1')`);
    const noted = async (): Promise<unknown[]> =>
      (await client.query<{ tags_from: Date }>('SELECT tags_from FROM spend_window')).rows.map((row) =>
        row.tags_from.toISOString(),
      );
    await client.query(
      `UPDATE spend_window SET tags_from = '2026-10-01T00:00:00Z', tags_to = '2026-10-09T00:00:00Z'`,
    );
    const seed = {
      databaseUrl: database.url,
      orgId: 'org_1',
      memberId: 'usr_1',
      keyIds: ['key_1'],
      secondsApart: 60,
    };
    await seedUsage({ ...seed, from: '2026-10-02T00:00:00Z', events: 40 });
    expect(await noted()).toEqual(['2026-10-02T00:45:00.000Z']);
    await seedUsage({ ...seed, from: '2026-10-01T00:00:00Z', events: 4 });
    expect(await noted()).toEqual(['2026-10-02T00:45:00.000Z']);
    await seedUsage({ ...seed, from: '2026-10-08T23:00:00Z', events: 90 });
    expect(await noted()).toEqual(['2026-10-09T00:00:00.000Z']);
  } finally {
    await client.end();
    await database.drop();
  }
});
