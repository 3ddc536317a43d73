import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PrismaPg } from '@prisma/adapter-pg';
import {
  ColumnTypeEnum,
  type SqlDriverAdapter,
  type SqlMigrationAwareDriverAdapterFactory,
} from '@prisma/driver-adapter-utils';
import type { DiffTarget, SchemaEngine } from '@prisma/schema-engine-wasm';
import { postgresPool } from '@gateway/database';
import pg from 'pg';
import { NO_FILTER, withSchemaEngine } from './schema-engine.js';

/** The schema that the migrations of a folder lead to; written with each of them. */
export const MIGRATED_SCHEMA = join('migrations', 'schema.prisma');
const CHAR_OID = 18;
const TEXT_OID = 25;
const TIMEOUT_MS = 10_000;
const EMPTY_SCHEMA = 'datasource db {\n  provider = "postgresql"\n}\n';

/**
 * The SQL that leads from the migrations of a folder to its schema.prisma; null where nothing is left to do.
 * Needs no database.
 */
export async function migrationDiff(options: { schemaDir: string }): Promise<string | null> {
  const migrated = join(options.schemaDir, MIGRATED_SCHEMA);
  const from = existsSync(migrated) ? readFileSync(migrated, 'utf8') : EMPTY_SCHEMA;
  const to = readFileSync(join(options.schemaDir, 'schema.prisma'), 'utf8');
  const files = { tag: 'schemaDatamodel' as const, files: [{ path: 'from.prisma', content: from }] };
  return withSchemaEngine(noDatabase, (engine) => difference(engine, files, to));
}

/**
 * The SQL that leads from a migrated database to schema.prisma; null where they agree. Proves that the scripts do what
 * the schema says. What Prisma cannot express (checks, partial indexes) may appear as a DROP.
 */
export async function databaseDiff(options: {
  url: string;
  schema: string;
  schemaDir: string;
}): Promise<string | null> {
  const to = readFileSync(join(options.schemaDir, 'schema.prisma'), 'utf8');
  const { url, schema } = options;
  const pool = postgresPool({ url, schema, maxConnections: 1, statementTimeoutMs: TIMEOUT_MS });
  try {
    return await withSchemaEngine(new LiveSchema(readingChars(pool), { schema: options.schema }), (engine) =>
      difference(
        engine,
        { tag: 'schemaDatasource', files: [{ path: 'to.prisma', content: to }], configDir: '' },
        to,
      ),
    );
  } finally {
    await pool.end();
  }
}

async function difference(engine: SchemaEngine, from: DiffTarget, to: string): Promise<string | null> {
  const { exitCode, stdout } = await engine.diff({
    from,
    to: { tag: 'schemaDatamodel', files: [{ path: 'to.prisma', content: to }] },
    script: true,
    exitCode: true,
    filters: NO_FILTER,
  });
  return exitCode === 0 ? null : stdout;
}

/** The engine reads PostgreSQL's catalogue, whose one-byte type "char" the adapter does not know. */
function readingChars(pool: pg.Pool): pg.Pool {
  const query = (config: pg.QueryArrayConfig): Promise<pg.QueryArrayResult> =>
    pg.Pool.prototype.query.call<pg.Pool, [pg.QueryArrayConfig], Promise<pg.QueryArrayResult>>(pool, config);
  return Object.assign(pool, {
    query: async (config: pg.QueryArrayConfig) => {
      const answer = await query(config);
      for (const field of answer.fields) if (field.dataTypeID === CHAR_OID) field.dataTypeID = TEXT_OID;
      return answer;
    },
  });
}

class LiveSchema extends PrismaPg {
  override async connect(): ReturnType<PrismaPg['connect']> {
    const adapter = await super.connect();
    const query = adapter.queryRaw.bind(adapter);
    adapter.queryRaw = async (asked) => {
      const answer = await query(asked);
      const columnTypes = answer.columnTypes.map((type, index) =>
        answer.columnNames[index] === 'constraint_type' ? ColumnTypeEnum.Character : type,
      );
      return { ...answer, columnTypes };
    };
    return adapter;
  }
}

/** The engine asks any database for its version before it compares two files: this one has only that answer. */
const answers: SqlDriverAdapter = {
  provider: 'postgres',
  adapterName: 'no-database',
  queryRaw: async () => ({
    columnNames: ['exists', 'version', 'numeric_version'],
    columnTypes: [ColumnTypeEnum.Boolean, ColumnTypeEnum.Text, ColumnTypeEnum.Int32],
    rows: [[true, 'PostgreSQL 18.0', 180_000]],
  }),
  executeRaw: () => refuse(),
  executeScript: () => refuse(),
  startTransaction: () => refuse(),
  getConnectionInfo: () => ({ schemaName: 'public', supportsRelationJoins: true }),
  dispose: async () => undefined,
};

const noDatabase: SqlMigrationAwareDriverAdapterFactory = {
  provider: 'postgres',
  adapterName: 'no-database',
  connect: async () => answers,
  connectToShadowDb: async () => answers,
};

function refuse(): Promise<never> {
  return Promise.reject(new Error('Comparing two schemas needs no database.'));
}
