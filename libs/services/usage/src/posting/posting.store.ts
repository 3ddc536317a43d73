import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, RANDOM } from '@gateway/platform';
import { uuidv7, type Clock, type Random, type UsageRecord } from '@gateway/contracts';
import type pg from 'pg';
import { insertOutbox } from '../postgres/outbox-rows.js';
import { UsageDatabase } from '../postgres/usage-database.js';
import { yieldToEventLoop } from '../yield-to-event-loop.js';
import { isCharged } from './charged.js';
import { insertDeadLetters } from './dead-letters.js';
import { budgetMovements, ofCustomers, ofProviders } from './budget-movements.js';
import { addCarriedHours } from './carried-hours.js';
import { eventValues, type EventForm } from './event-columns.js';
import { eventForm } from './event-form.js';
import { movements } from './movements.js';
import { planPosting } from './posting.js';
import {
  addHours,
  addTotals,
  holdWindow,
  insertEvents,
  insertRejections,
  insertTransfers,
  moveAccounts,
  raiseWatermarks,
  type Balance,
  type Total,
} from './posting-rows.js';
import { addedByPostings, addProviderSlots, providerAccounts, providerSlots } from './provider-slots.js';
import { addShadows } from './shadow-units.js';
import { noteRowless } from './rowless-numbers.js';
import { noteLateTags } from './slot-tags.js';
import { addSums } from './sums.js';
import { CRASH_CODE, type ReadBatch, type Stamp } from './read-batch.js';

/** The result of a batch. */
export interface Posted {
  /** The units that are new. */
  fresh: UsageRecord[];
  /** Accounts and totals as the commit left them: their rows were locked, so together they are one snapshot. */
  balances: Balance[];
  totals: Total[];
}

/** Posts a batch in one transaction. */
@Injectable()
export class PostingStore {
  /** The form of its events, until this process ends: others may write the other one, and each reads both. */
  private form: EventForm | undefined;

  constructor(
    private readonly database: UsageDatabase,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  /**
   * Events are written part by part, money is summed over all of them: with many accounts a large batch moves few rows
   * per event. While PostgreSQL writes one part the next is taken from `parts`, so read them there. A redelivered batch
   * changes nothing. Throws what PostgreSQL says.
   */
  async post(parts: Iterable<ReadBatch>): Promise<Posted> {
    const at = new Date(this.clock.now()).toISOString();
    const work = async (client: pg.PoolClient): Promise<Posted> => {
      const form = (this.form ??= await eventForm(client));
      const transferIds = new Map<string, string>();
      const batches: ReadBatch[] = [];
      const fresh: UsageRecord[] = [];
      let writing: Promise<UsageRecord[]> = Promise.resolve([]);
      for (const part of parts) {
        batches.push(part);
        const units = onePerUnit(part);
        this.drawTransfers(units, transferIds);
        const values = eventValues(units, transferIds, form);
        fresh.push(...(await writing));
        writing = insertEvents(client, units, values, form);
        writing.catch(() => undefined); // It is awaited after the next part was read.
        // The driver writes to its socket before the next part takes the processor.
        await yieldToEventLoop();
      }
      fresh.push(...(await writing));
      const moved = await this.move(client, { fresh, transferIds, batches, at });
      return { fresh, ...moved };
    };
    // Its parts can be read but once: the consumer brings them again.
    return this.database.transaction(work, { mayRepeat: false });
  }

  private drawTransfers(units: readonly UsageRecord[], ids: Map<string, string>): void {
    for (const unit of units) {
      if (!ids.has(unit.account_id) && isCharged(unit)) ids.set(unit.account_id, this.uuid());
    }
  }

  /** Everything that other batches may move as well, in the one order of locks. */
  private async move(
    client: pg.PoolClient,
    { fresh, transferIds, batches, at }: Written,
  ): Promise<Omit<Posted, 'fresh'>> {
    const { clock, random } = this;
    const { lapsedTo, tagsClaimedTo, owedFrom, ...addedUp } = await holdWindow(client);
    const drawId = (): string => this.uuid();
    const posting = planPosting(fresh, { transferIds, platformTransferId: drawId(), drawId, lapsedTo });
    const balances = await moveAccounts(client, posting.accounts, at);
    await insertTransfers(client, posting, at);
    await addHours(client, posting);
    await addCarriedHours(client, fresh);
    await addShadows(client, fresh);
    await addSums(client, fresh, addedUp);
    await noteLateTags(client, fresh, tagsClaimedTo);
    const totals = await addTotals(client, posting);
    const moved = movements({ fresh, posting, balances, totals }, { clock, random });
    await insertOutbox(client, [
      ...moved,
      ...(await budgetMovements(client, fresh, { clock, random }, ofCustomers)),
    ]);
    const rejections = batches.flatMap((batch) => batch.rejections.map(({ rejection }) => rejection));
    await insertRejections(client, rejections);
    await insertDeadLetters(
      client,
      batches.flatMap(({ unusable }) => unusable),
      { clock, random },
    );
    await raiseWatermarks(client, batches.flatMap(stampsOf));
    await noteRowless(client, batches, fresh);
    const owed = providerSlots(fresh);
    const added = owedFrom === '' ? owed : providerSlots(await addedByPostings(client, fresh, owedFrom));
    await moveAccounts(client, [...providerAccounts(owed), ...posting.system], at);
    await addProviderSlots(client, added);
    await insertOutbox(client, await budgetMovements(client, fresh, { clock, random }, ofProviders));
    return { balances, totals };
  }

  private uuid(): string {
    return uuidv7(this.clock, this.random);
  }
}

interface Written {
  fresh: readonly UsageRecord[];
  transferIds: ReadonlyMap<string, string>;
  batches: readonly ReadBatch[];
  at: string;
}

/** A part may hold a unit several times; a real outcome goes before one for a died process. In key order. */
function onePerUnit(batch: ReadBatch): UsageRecord[] {
  const units = new Map<string, UsageRecord>();
  for (const { usage } of batch.usage) {
    const name = `${usage.request_id}/${usage.unit}`;
    const known = units.get(name);
    if (known === undefined || known.error_code === CRASH_CODE) units.set(name, usage);
  }
  return [...units].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, unit]) => unit);
}

function stampsOf(batch: ReadBatch): Stamp[] {
  return [
    ...batch.usage.map(({ usage }) => usage),
    ...batch.rejections.map(({ rejection }) => rejection),
    ...batch.unusable.flatMap(({ stamp }) => stamp ?? []),
  ];
}
