import { isDeepStrictEqual } from 'node:util';
import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import {
  CatalogueReader,
  newId,
  TOPIC,
  type CatalogueEvent,
  type Clock,
  type Random,
} from '@gateway/contracts';
import { outboxRow } from '@gateway/event-log';
import { CLOCK, RANDOM } from '@gateway/platform';
import type { OwnAlias } from '@gateway/providers';
import { storedShadow } from '../aliases/aliases.service.js';
import { ALIASES_KEY, FILE, SOURCE, StoredAliases } from '../aliases/stored-aliases.js';
import type { Alias as AliasRow } from '../generated/prisma/client.js';
import { CatalogueDatabase, type Tx } from '../postgres/catalogue-database.js';
import { OwnEntries } from './own-entries.js';

/** Brings the stored aliases of gateway.yaml to what it says, before anything listens. */
@Injectable()
export class FileAliases implements OnApplicationBootstrap {
  constructor(
    private readonly own: OwnEntries,
    private readonly database: CatalogueDatabase,
    private readonly stored: StoredAliases,
    private readonly catalogue: CatalogueReader,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const wanted = this.own.aliases();
    await this.database.transaction(async (tx) => {
      // Processes that start together wait for each other; the second one finds nothing to do.
      await tx.$queryRaw`SELECT 1 FROM alias_version FOR UPDATE`;
      const rows = await tx.alias.findMany({ where: { owner: FILE } });
      if (!(await this.store(tx, rows, wanted))) return;
      await tx.aliasVersion.updateMany({ data: { version: { increment: 1 } } });
      await this.announce(tx);
    });
    // What another process has stored is as new to this one.
    await this.stored.refresh();
  }

  private async store(tx: Tx, rows: readonly AliasRow[], wanted: readonly OwnAlias[]): Promise<boolean> {
    const { clock, random } = this;
    const known = new Map(rows.map((row) => [row.name, row]));
    const names = new Set(wanted.map(({ name }) => name));
    const gone = rows.filter(({ name }) => !names.has(name));
    const added = wanted.filter(({ name }) => !known.has(name));
    const moved = wanted.flatMap(({ name, targets, shadow = null }) => {
      const row = known.get(name);
      if (row === undefined || isDeepStrictEqual([row.targets, row.shadow], [targets, shadow])) return [];
      return [{ id: row.id, targets, shadow: storedShadow(shadow) }];
    });
    const now = new Date(clock.now());
    await tx.alias.deleteMany({ where: { id: { in: gone.map(({ id }) => id) } } });
    await tx.alias.createMany({
      data: added.map(({ name, targets, shadow }) => ({
        ...{ id: newId('alias', clock, random), owner: FILE, name, targets, is_enabled: true },
        shadow: storedShadow(shadow),
        ...{ created_by: FILE, created_at: now, updated_at: now },
      })),
    });
    for (const { id, targets, shadow } of moved)
      await tx.alias.update({ where: { id }, data: { targets, shadow, updated_at: now } });
    return gone.length + added.length + moved.length > 0;
  }

  private async announce(tx: Tx): Promise<void> {
    const { clock, random } = this;
    const created_at = new Date(clock.now()).toISOString();
    const data: CatalogueEvent = { snapshot_id: this.catalogue.snapshot().id, created_at };
    const id = newId('evt', clock, random);
    const event = { topic: TOPIC.catalogue, key: ALIASES_KEY, source: SOURCE, id, data };
    await tx.outbox.create({ data: outboxRow(event, { clock, random }) });
  }
}
