import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, RANDOM } from '@gateway/platform';
import type pg from 'pg';
import { newId, type Clock, type Random } from '@gateway/contracts';
import { NotificationsDatabase } from '../postgres/notifications-database.js';
import type { Notice, ThresholdsOf } from '../notices/notice.js';
import { climb } from './climb.js';
import { envelopeOf } from './envelope.js';
import { subscriptionsOf, type Subscription } from './subscriptions.js';

/** Largest difference of two services' clocks: an event right after its policy is the policy's. */
const SKEW_MS = 2_000;
/** Retention of events, and so of the mark that one has been sent. */
export const EVENTS_KEPT_MS = 90 * 86_400_000;

interface NewEvent {
  id: string;
  notice: Notice;
  channelIds: string[];
}

/** A notice with who asked for it. */
interface Wanted {
  notice: Notice;
  channelIds: string[];
}

/**
 * Makes events and their deliveries from a batch of records, in one transaction: repetitions, events, deliveries. It may run
 * again with the same batch, whole or in part, and adds nothing then.
 */
@Injectable()
export class Enqueue {
  constructor(
    private readonly database: NotificationsDatabase,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  /** @returns how many deliveries there are now to make. */
  async run(orgIds: readonly string[], noticesOf: (thresholds: ThresholdsOf) => Notice[]): Promise<number> {
    const { database, clock } = this;
    const subscriptions = await subscriptionsOf(database.pool, orgIds);
    if (subscriptions.length === 0) return 0;
    const oldestMs = clock.now() - EVENTS_KEPT_MS;
    const wanted = noticesOf(thresholdsOf(subscriptions))
      .filter(({ atMs }) => atMs > oldestMs)
      .map((notice) => ({ notice, channelIds: channelsOf(notice, subscriptions) }))
      .filter(({ channelIds }) => channelIds.length > 0);
    if (wanted.length === 0) return 0;
    return database.batch(async (client) => {
      const passed = await climb(client, wanted);
      const events = await this.insertEvents(client, passed);
      return this.insertDeliveries(client, events);
    });
  }

  private async insertEvents(client: pg.PoolClient, wanted: readonly Wanted[]): Promise<NewEvent[]> {
    const { clock, random } = this;
    const bySource = new Map<string, NewEvent>();
    for (const { notice, channelIds } of wanted)
      bySource.set(`${notice.orgId} ${notice.sourceKey}`, {
        id: eventIdOf(notice, clock, random),
        notice,
        channelIds,
      });
    // In one order: two consumers that write the same events in different orders would wait for each other.
    const events = [...bySource].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, event]) => event);
    const { rows } = await client.query<{ id: string }>({
      name: 'insert-events',
      text: `INSERT INTO event (id, org_id, type, source_key, created_at, body)
        SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::text[])
        ON CONFLICT DO NOTHING RETURNING id`,
      values: [
        events.map(({ id }) => id),
        events.map(({ notice }) => notice.orgId),
        events.map(({ notice }) => notice.type),
        events.map(({ notice }) => `${notice.orgId} ${notice.sourceKey}`),
        events.map(({ notice }) => new Date(notice.atMs).toISOString()),
        events.map(({ id, notice }) => envelopeOf(id, notice)),
      ],
    });
    const fresh = new Set(rows.map(({ id }) => id));
    return events.filter(({ id }) => fresh.has(id));
  }

  private async insertDeliveries(client: pg.PoolClient, events: readonly NewEvent[]): Promise<number> {
    const { clock, random } = this;
    const now = new Date(clock.now()).toISOString();
    const rows = events.flatMap(({ id, notice, channelIds }) =>
      channelIds.map((channelId) => ({
        id: newId('dlv', clock, random),
        event: id,
        channelId,
        org: notice.orgId,
      })),
    );
    if (rows.length === 0) return 0;
    await client.query({
      name: 'insert-deliveries',
      text: `INSERT INTO delivery (id, event_id, channel_id, org_id, status, next_at, created_at, updated_at)
        SELECT id, event_id, channel_id, org_id, 'pending', $5::timestamptz, $5::timestamptz, $5::timestamptz
        FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS d(id, event_id, channel_id, org_id)
        ON CONFLICT DO NOTHING`,
      values: [
        rows.map(({ id }) => id),
        rows.map(({ event }) => event),
        rows.map(({ channelId }) => channelId),
        rows.map(({ org }) => org),
        now,
      ],
    });
    return rows.length;
  }
}

/** An event that another service made keeps its id. */
function eventIdOf({ sourceKey }: Notice, clock: Clock, random: Random): string {
  return sourceKey.startsWith('evt_') ? sourceKey : newId('evt', clock, random);
}

function thresholdsOf(subscriptions: readonly Subscription[]): ThresholdsOf {
  const found = new Map<string, Set<string>>();
  for (const { orgId, type, threshold } of subscriptions) {
    if (threshold === null) continue;
    const name = `${orgId}\n${type}`;
    const known = found.get(name) ?? new Set();
    found.set(name, known.add(threshold));
  }
  return (orgId, type) => [...(found.get(`${orgId}\n${type}`) ?? [])];
}

function channelsOf(notice: Notice, subscriptions: readonly Subscription[]): string[] {
  const ids = subscriptions
    .filter(
      ({ orgId, type, threshold, sinceMs }) =>
        orgId === notice.orgId &&
        type === notice.type &&
        threshold === notice.threshold &&
        notice.atMs >= sinceMs - SKEW_MS,
    )
    .map(({ channelId }) => channelId);
  return [...new Set(ids)];
}
