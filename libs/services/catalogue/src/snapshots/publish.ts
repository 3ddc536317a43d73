import { newId, TOPIC, type CatalogueEvent, type Clock, type Random } from '@gateway/contracts';
import { outboxRow } from '@gateway/event-log';
import type { CatalogueDatabase, Tx } from '../postgres/catalogue-database.js';
import { importSeed } from '../seed/seed-import.js';
import type { Seed } from '../seed/seed-record.js';
import type { Release } from './catalogue-model.js';
import { buildContent, digestOf, insertSnapshot, newestSnapshot } from './snapshot.store.js';

const SOURCE = '/catalogue';
/** The topic is compacted: one key, so that only the newest event needs to be kept. */
const EVENT_KEY = 'catalogue';

interface PublishDeps {
  /** Adapters that this release can call. */
  adapters: Release['adapters'];
  paths: Release['paths'];
  clock: Clock;
  random: Random;
  /** Time to wait for the lock that all processes share; absent: as long as a statement may take. */
  lockTimeoutMs?: number;
}

/**
 * Imports the seed where it is new and publishes a snapshot where what would be served has changed, with its event, in
 * one transaction. Processes that start together wait for each other; the second one finds nothing to do.
 * @returns the id of the new snapshot; null where nothing has changed.
 */
export function publish(
  database: CatalogueDatabase,
  { seedOf, ...deps }: PublishDeps & { seedOf: (tx: Tx) => Promise<Seed> },
): Promise<string | null> {
  return publishAfter(database, deps, async (tx, now) => importSeed(tx, await seedOf(tx), now));
}

/** The same after any change of the tables, which is undone where no snapshot can be made of it. */
export function publishAfter(
  database: CatalogueDatabase,
  deps: PublishDeps,
  change: (tx: Tx, now: Date) => Promise<unknown>,
): Promise<string | null> {
  return database.transaction(async (tx) => {
    const { lockTimeoutMs = 0 } = deps;
    await tx.$executeRaw`SELECT set_config('lock_timeout', ${String(lockTimeoutMs)}, true)`;
    await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtext('gateway-catalogue-publish'))`;
    await change(tx, new Date(deps.clock.now()));
    return publishChanges(tx, deps);
  });
}

async function publishChanges(
  tx: Tx,
  { adapters, paths, clock, random }: PublishDeps,
): Promise<string | null> {
  const content = await buildContent(tx, { adapters, paths, nowMs: clock.now() });
  const newest = await newestSnapshot(tx);
  if (newest?.digest === digestOf(content)) return null;
  const id = newId('snap', clock, random);
  const createdAt = new Date(clock.now());
  await insertSnapshot(tx, { id, createdAt, content });
  const event: CatalogueEvent = { snapshot_id: id, created_at: createdAt.toISOString() };
  const row = outboxRow(
    { topic: TOPIC.catalogue, key: EVENT_KEY, source: SOURCE, id, data: event },
    { clock, random },
  );
  await tx.outbox.create({ data: row });
  return id;
}
