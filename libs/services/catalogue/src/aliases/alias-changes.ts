import { Inject, Injectable } from '@nestjs/common';
import {
  CatalogueReader,
  newId,
  TOPIC,
  type CatalogueEvent,
  type Clock,
  type CreateAnswer,
  type Random,
} from '@gateway/contracts';
import { auditRow, IdempotencyTable, type AuditedWrite } from '@gateway/database';
import { auditEntryRow, OutboxRelay, outboxRow } from '@gateway/event-log';
import { CLOCK, IDEMPOTENCY_KEPT_MS, idempotent, isRepeat, RANDOM, type Created } from '@gateway/platform';
import type { FastifyRequest } from 'fastify';
import { CatalogueDatabase, type Tx } from '../postgres/catalogue-database.js';
import { ALIASES_KEY, SOURCE, StoredAliases } from './stored-aliases.js';

export interface Changed<T> {
  answer: T;
  /** null = nothing has changed. */
  audit: AuditedWrite | null;
}

type Make<T> = (tx: Tx) => Promise<Changed<T>>;

/**
 * The one way of a write of aliases: the change, its audit row, the next version and its announcement in one
 * transaction. Changes run one after the other, so that what they count holds.
 */
@Injectable()
export class AliasChanges {
  constructor(
    private readonly database: CatalogueDatabase,
    private readonly stored: StoredAliases,
    private readonly catalogue: CatalogueReader,
    private readonly relay: OutboxRelay,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  run<T>(request: FastifyRequest, make: Make<T>): Promise<T> {
    return this.commit((tx) => this.apply(tx, request, make));
  }

  /** The same once per Idempotency-Key. `check` runs before it; a repeat does not depend on it. Throws ApiError `conflict`. */
  async create<T extends object>(
    request: FastifyRequest,
    make: Make<Created<T>>,
    check: () => void,
  ): Promise<CreateAnswer<T>> {
    const { clock } = this;
    const isTaken = await isRepeat({ store: new IdempotencyTable(this.database.prisma), clock }, request);
    if (!isTaken) check();
    return this.commit(async (tx) => {
      const store = IdempotencyTable.within(tx);
      // Only creates add rows, so they remove the old ones, too.
      await new IdempotencyTable(tx).forgetBefore(new Date(clock.now() - IDEMPOTENCY_KEPT_MS));
      const { status, body } = await idempotent({ store, clock }, request, () => {
        // The key was given back since.
        if (isTaken) check();
        return this.apply(tx, request, make);
      });
      return { status, body };
    });
  }

  private async commit<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const answer = await this.database.transaction(work);
    await this.stored.refresh();
    this.relay.wake();
    return answer;
  }

  private async apply<T>(tx: Tx, request: FastifyRequest, make: Make<T>): Promise<T> {
    const sources = { clock: this.clock, random: this.random };
    await tx.$queryRaw`SELECT 1 FROM alias_version FOR UPDATE`;
    const { answer, audit } = await make(tx);
    if (audit === null) return answer;
    const row = auditRow(request, audit, sources);
    await tx.auditLog.create({ data: row });
    const entry = auditEntryRow(row, SOURCE);
    if (entry !== null) await tx.outbox.create({ data: entry });
    await tx.aliasVersion.updateMany({ data: { version: { increment: 1 } } });
    await tx.outbox.create({ data: outboxRow(this.announcement(), sources) });
    return answer;
  }

  /** Returns the event after which readers of the catalogue ask again. */
  private announcement(): Parameters<typeof outboxRow<CatalogueEvent>>[0] {
    const data = {
      snapshot_id: this.catalogue.snapshot().id,
      created_at: new Date(this.clock.now()).toISOString(),
    };
    const id = newId('evt', this.clock, this.random);
    return { topic: TOPIC.catalogue, key: ALIASES_KEY, source: SOURCE, id, data };
  }
}
