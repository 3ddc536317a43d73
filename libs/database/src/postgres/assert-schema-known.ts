import pg from 'pg';
import { connectClient } from './connect-client.js';
import { readMigrations } from './migration-files.js';
import { appliedMigrations, compareHistory, unknownSentence } from './migration-history.js';

const TIMEOUT_MS = 10_000;

/**
 * Checks at a service's start that its PostgreSQL schema has every migration of this release, and no other but those
 * that this release runs with. @throws Error with one sentence that says what differs and what to do.
 */
export async function assertSchemaKnown(options: {
  url: string;
  schemaDir: string;
  schema: string;
  /** Version of this release. Without it every migration that it lacks is refused. */
  release?: string;
}): Promise<void> {
  const client = new pg.Client({
    connectionString: options.url,
    connectionTimeoutMillis: TIMEOUT_MS,
    query_timeout: TIMEOUT_MS,
  });
  client.on('error', () => undefined); // The query under way rejects.
  await connectClient(client);
  try {
    const applied = await appliedMigrations(client, options.schema);
    const { missing, unknown, edited } = compareHistory(
      readMigrations(options.schemaDir),
      applied,
      options.release,
    );
    const name = `The PostgreSQL schema "${options.schema}"`;
    if (unknown.length > 0) throw new Error(unknownSentence(options.schema, unknown[0], options.release));
    if (edited.length > 0) throw new Error(`${name} was migrated by another text of ${edited[0]}.`);
    if (missing.length > 0) {
      throw new Error(
        `${name} lacks ${missing.length} migrations from ${missing[0]} on: run the migrate job first.`,
      );
    }
  } finally {
    await client.end();
  }
}
