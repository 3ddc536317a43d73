import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { applyMigrations, readMigrations } from '@gateway/database';
import { testPostgres, type TestDatabase } from '@gateway/testing';
import { databaseDiff, migrationDiff } from './migration-diff.js';
import { newMigration } from './new-migration.js';

const services = join(process.cwd(), 'libs', 'services');
const withSchema = readdirSync(services).filter((service) =>
  existsSync(join(services, service, 'prisma', 'schema.prisma')),
);

/** Prisma's schema has no words for checks and partial indexes: they exist in migrations alone. */
const ONLY_IN_MIGRATIONS = /^(--.*|DROP INDEX .*;)?$/;

let database: TestDatabase;
beforeAll(async () => {
  database = await testPostgres();
});
afterAll(() => database.drop());

async function drift(schema: string, schemaDir: string): Promise<string[]> {
  await applyMigrations({ url: database.url, schemaDir, schema });
  const difference = (await databaseDiff({ url: database.url, schemaDir, schema })) ?? '';
  return difference.split('\n').filter((line) => !ONLY_IN_MIGRATIONS.test(line));
}

describe('the migrations of the services', () => {
  it('lead to each schema.prisma, by their own note and in PostgreSQL', async () => {
    const found: Record<string, unknown> = {};
    for (const service of withSchema) {
      const schemaDir = join(services, service, 'prisma');
      found[service] = [await migrationDiff({ schemaDir }), await drift(service, schemaDir)];
    }
    expect(found).toEqual(Object.fromEntries(withSchema.map((service) => [service, [null, []]])));
  });
});

describe('newMigration', () => {
  const schemaDir = mkdtempSync(join(tmpdir(), 'schema-'));
  afterAll(() => rmSync(schemaDir, { recursive: true }));
  const write = (fields: string): void =>
    writeFileSync(
      join(schemaDir, 'schema.prisma'),
      `datasource db {\n  provider = "postgresql"\n}\nmodel Plan {\n  id Int @id\n${fields}\n}\n`,
    );
  const make = (name: string) =>
    newMigration({ schemaDir, name, now: Date.parse('2026-01-31T23:59:58Z'), release: '0.2.0' });

  it('writes scripts that PostgreSQL takes and that lead to the schema', async () => {
    write('');
    expect(await make('first')).toBe(join(schemaDir, 'migrations', '20260131235958_first', 'migration.sql'));
    write('  cost Decimal? @db.Decimal(38, 12)\n  kind Kind\n}\nenum Kind {\n  batch\n  video');
    expect(readMigrations(schemaDir)[0].compatibleWith).toBe('0.2.0');
    expect(await drift('written', schemaDir)).toContainEqual(
      expect.stringContaining('"cost" DECIMAL(38,12)'),
    );
    expect(await make('more')).toContain('20260131235958_more');
    expect(await drift('written', schemaDir)).toEqual([]);
    expect(await make('nothing')).toBeNull();
  });

  it('refuses a name that no folder should have', async () => {
    await expect(make('../more')).rejects.toThrow('add_key_label');
  });
});
