import { Inject, Injectable } from '@nestjs/common';
import type { Clock, NewAccountEvent, Random, CreateAnswer } from '@gateway/contracts';
import { auditRow, IdempotencyTable, type AuditedWrite } from '@gateway/database';
import { OutboxRelay } from '@gateway/event-log';
import { CLOCK, RANDOM, idempotent, isRepeat, type Created } from '@gateway/platform';
import type { FastifyRequest } from 'fastify';
import type { ChangedValues } from '../audit/changed-values.js';
import { addAccountEvent } from '../events/account-events.js';
import { plainJson } from '../postgres/columns.js';
import { KeysDatabase, type Tx } from '../postgres/keys-database.js';
import { bumpAccount, lockAccounts } from './account.store.js';
import { VersionStamps } from './version-stamps.js';

/** A management change. Who may make it was decided before; `make` reads what it rests on again, behind the lock. */
export interface AccountChange<T> {
  /** Accounts whose principals it shows on: their rows are locked before `make` runs, their versions raised after it. */
  accounts: readonly string[];
  make: (tx: Tx) => Promise<Changed<T>>;
  /** No principal shows the change: the versions stay. */
  keepsVersions?: true;
}

export interface Changed<T> {
  answer: T;
  /** null = nothing has changed: no row, no event, no new version. */
  audit: AuditedWrite | null;
  /** Values before and after, which the audit row keeps. */
  values?: ChangedValues | null;
  events?: readonly NewAccountEvent[];
}

interface Committed<T> {
  answer: T;
  versions: readonly { accountId: string; version: number }[];
}

/**
 * The one way of a management write: lock, change, audit row, events and versions in one transaction, and the stamps
 * after its commit and before the answer. What throws inside leaves nothing behind.
 */
@Injectable()
export class AccountChanges {
  constructor(
    private readonly database: KeysDatabase,
    private readonly stamps: VersionStamps,
    private readonly relay: OutboxRelay,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  run<T>(request: FastifyRequest, change: AccountChange<T>): Promise<T> {
    return this.commit((tx) => this.apply(tx, request, change));
  }

  /**
   * The same once per Idempotency-Key, whose row is of the same transaction. `ask` is what other services are asked before
   * it, which a repeat does not depend on. Throws ApiError `conflict` as `idempotent`.
   */
  async create<T extends object>(
    request: FastifyRequest,
    { ask = async () => undefined, ...change }: AccountChange<Created<T>> & { ask?: () => Promise<void> },
  ): Promise<CreateAnswer<T>> {
    const kept = { store: new IdempotencyTable(this.database.prisma), clock: this.clock };
    const isTaken = await isRepeat(kept, request);
    if (!isTaken) await ask();
    return this.commit(async (tx) => {
      let versions: Committed<T>['versions'] = [];
      const store = IdempotencyTable.within(tx);
      const { status, body } = await idempotent({ store, clock: this.clock }, request, async () => {
        // The key was given back since.
        if (isTaken) await ask();
        const applied = await this.apply(tx, request, change);
        versions = applied.versions;
        return applied.answer;
      });
      return { answer: { status, body }, versions };
    });
  }

  private async commit<T>(work: (tx: Tx) => Promise<Committed<T>>): Promise<T> {
    const { answer, versions } = await this.database.transaction(work);
    for (const { accountId, version } of versions) await this.stamps.stamp(accountId, version);
    if (versions.length > 0) this.relay.wake();
    return answer;
  }

  private async apply<T>(
    tx: Tx,
    request: FastifyRequest,
    { accounts, make, keepsVersions }: AccountChange<T>,
  ): Promise<Committed<T>> {
    const sources = { clock: this.clock, random: this.random };
    await lockAccounts(tx, accounts);
    const { answer, audit, values, events = [] } = await make(tx);
    if (audit === null) return { answer, versions: [] };
    const kept = values ? { changed_values: plainJson(values) } : {};
    await tx.auditLog.create({ data: { ...auditRow(request, audit, sources), ...kept } });
    for (const event of events) await addAccountEvent(tx, event, sources);
    if (keepsVersions === true) return { answer, versions: [] };
    const versions = [];
    for (const accountId of accounts) versions.push({ accountId, version: await bumpAccount(tx, accountId) });
    return { answer, versions };
  }
}
