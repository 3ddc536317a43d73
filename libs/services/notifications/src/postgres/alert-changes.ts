import { Inject, Injectable } from '@nestjs/common';
import type { Clock, Random, CreateAnswer } from '@gateway/contracts';
import { auditRow, IdempotencyTable, type AuditedWrite, type AuditRow } from '@gateway/database';
import { CLOCK, RANDOM, idempotent, isRepeat, type Created } from '@gateway/platform';
import { auditEntryRow } from '@gateway/event-log';
import type { FastifyRequest } from 'fastify';
import { NotificationsDatabase, type Tx } from './notifications-database.js';

export interface Changed<T> {
  answer: T;
  /** null = nothing has changed. */
  audit: AuditedWrite | null;
}

/** The one way of a management write here: the change and its audit row in one transaction. */
@Injectable()
export class AlertChanges {
  constructor(
    private readonly database: NotificationsDatabase,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  run<T>(request: FastifyRequest, make: (tx: Tx) => Promise<Changed<T>>): Promise<T> {
    return this.database.transaction((tx) => this.apply(tx, request, make));
  }

  /**
   * The same once per Idempotency-Key, whose row is of the same transaction. `ask` is what is asked elsewhere before it, which a
   * repeat does not depend on. Throws ApiError `conflict` as `idempotent`.
   */
  async create<T extends object>(
    request: FastifyRequest,
    make: (tx: Tx) => Promise<Changed<Created<T>>>,
    ask: () => Promise<void> = async () => undefined,
  ): Promise<CreateAnswer<T> & { isReplay: boolean }> {
    const { clock } = this;
    const isTaken = await isRepeat({ store: new IdempotencyTable(this.database.prisma), clock }, request);
    if (!isTaken) await ask();
    return this.database.transaction((tx) =>
      idempotent({ store: IdempotencyTable.within(tx), clock }, request, async () => {
        // The key was given back since.
        if (isTaken) await ask();
        return this.apply(tx, request, make);
      }),
    );
  }

  private async apply<T>(tx: Tx, request: FastifyRequest, make: (tx: Tx) => Promise<Changed<T>>): Promise<T> {
    const { answer, audit } = await make(tx);
    const sources = { clock: this.clock, random: this.random };
    if (audit !== null) await this.write(tx, auditRow(request, audit, sources));
    return answer;
  }

  /** The row of this service, and its way to the log that people read. */
  private async write(tx: Tx, row: AuditRow): Promise<void> {
    await tx.auditLog.create({ data: row });
    const entry = auditEntryRow(row, '/notifications');
    if (entry !== null) await tx.outbox.create({ data: entry });
  }
}
