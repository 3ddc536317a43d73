import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MIGRATED_SCHEMA, migrationDiff } from './migration-diff.js';

const schema = (fields: string) => `datasource db {
  provider = "postgresql"
}

model Plan {
  id String @id @db.Uuid
${fields}
  @@map("plan")
}
`;

describe('migrationDiff', () => {
  const schemaDir = mkdtempSync(join(tmpdir(), 'schema-'));
  afterAll(() => rmSync(schemaDir, { recursive: true }));

  it('writes the first migration, then only what changed, then nothing, all without a database', async () => {
    writeFileSync(join(schemaDir, 'schema.prisma'), schema(''));
    expect(await migrationDiff({ schemaDir })).toMatch(/^-- CreateTable\nCREATE TABLE "plan" \(/);

    mkdirSync(join(schemaDir, 'migrations'));
    writeFileSync(join(schemaDir, MIGRATED_SCHEMA), schema(''));
    expect(await migrationDiff({ schemaDir })).toBeNull();

    writeFileSync(join(schemaDir, 'schema.prisma'), schema('  amount Decimal @db.Decimal(38, 12)'));
    expect(await migrationDiff({ schemaDir })).toContain('ADD COLUMN     "amount" DECIMAL(38,12) NOT NULL');
  });

  it('names what is wrong with a schema that cannot be read', async () => {
    writeFileSync(join(schemaDir, 'schema.prisma'), schema('  amount Money'));
    await expect(migrationDiff({ schemaDir })).rejects.toThrow('Money');
  });
});
