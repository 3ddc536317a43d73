import { Inject, Injectable } from '@nestjs/common';
import { newId, type ChannelType, type Clock, type Random } from '@gateway/contracts';
import { CLOCK, RANDOM } from '@gateway/platform';
import type pg from 'pg';
import { NotificationsDatabase } from '../postgres/notifications-database.js';
import type { Claimed } from './delivery.js';

/** Longer than an attempt may take: past it the process that holds it is gone. */
const LEASE_MS = 60_000;
const PER_CHANNEL = 5;
const PER_HOST = 10;
/** One claimer at a time in the fleet: the bounds hold exactly, and it takes a millisecond. */
const CLAIM_LOCK = 0x6e6f7469;

interface Row {
  id: string;
  attempt_id: string;
  attempts: number;
  failures: number;
  is_by_hand: boolean;
  channel_id: string;
  channel_type: ChannelType;
  destination: string;
  is_open: boolean;
  event_id: string;
  event_type: string;
  body: string;
}

/** Takes due deliveries for this process. */
@Injectable()
export class ClaimsStore {
  constructor(
    private readonly database: NotificationsDatabase,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  /** Claims at most so many, the longest due first. Those whose channel has closed are cancelled. */
  claim(capacity: number): Promise<Claimed[]> {
    return this.database.batch(async (client) => {
      const locked = await client.query<{ ok: boolean }>('SELECT pg_try_advisory_xact_lock($1) AS ok', [
        CLAIM_LOCK,
      ]);
      // Who holds it claims what there is.
      if (!locked.rows[0].ok) return [];
      const now = new Date(this.clock.now());
      const ids = await dueIds(client, now, capacity);
      if (ids.length === 0) return [];
      const taken = await this.take(client, ids, now);
      const open = taken.filter(({ is_open }) => is_open);
      await cancel(client, taken, now);
      await logAttempts(client, open, now);
      return open.map(toClaimed);
    });
  }

  private async take(client: pg.PoolClient, ids: readonly string[], now: Date): Promise<Row[]> {
    const { rows } = await client.query<Row>({
      name: 'take-deliveries',
      text: `UPDATE delivery d SET status = 'sending', attempts = d.attempts + 1, attempt_id = t.attempt_id,
          next_at = $4::timestamptz, updated_at = $3::timestamptz
        FROM unnest($1::text[], $2::text[]) AS t(id, attempt_id), channel c, event e
        WHERE d.id = t.id AND c.id = d.channel_id AND e.id = d.event_id
        RETURNING d.id, d.attempt_id, d.attempts, d.failures, d.redelivery_of IS NOT NULL OR e.type = 'channel.test' AS is_by_hand,
          d.channel_id, c.channel_type, c.destination, e.id AS event_id, e.type AS event_type, e.body,
          c.is_enabled AND (c.channel_type <> 'email' OR c.verified_at IS NOT NULL) AS is_open`,
      values: [
        ids,
        ids.map(() => newId('att', this.clock, this.random)),
        now.toISOString(),
        new Date(now.getTime() + LEASE_MS).toISOString(),
      ],
    });
    return rows;
  }
}

/**
 * Returns due ids by channel, through an index of open deliveries: a backlog of one channel is neither read nor in the
 * way of others.
 */
async function dueIds(client: pg.PoolClient, now: Date, capacity: number): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>({
    name: 'due-deliveries',
    text: `WITH RECURSIVE open_channel AS (
        (SELECT channel_id FROM delivery WHERE next_at IS NOT NULL ORDER BY channel_id LIMIT 1)
        UNION ALL
        SELECT (SELECT d.channel_id FROM delivery d WHERE d.next_at IS NOT NULL AND d.channel_id > o.channel_id
          ORDER BY d.channel_id LIMIT 1)
        FROM open_channel o WHERE o.channel_id IS NOT NULL
      ), busy AS (
        SELECT b.channel_id, c.host, count(*)::int AS n FROM delivery b JOIN channel c ON c.id = b.channel_id
        WHERE b.status = 'sending' AND b.next_at > $1 GROUP BY b.channel_id, c.host
      ), candidate AS (
        SELECT d.id, d.next_at, c.host FROM open_channel o JOIN channel c ON c.id = o.channel_id
        CROSS JOIN LATERAL (SELECT id, next_at FROM delivery WHERE channel_id = c.id AND next_at <= $1
          ORDER BY next_at LIMIT greatest(0, $2::int - coalesce((SELECT n FROM busy WHERE busy.channel_id = c.id), 0))) d
      ), ranked AS (
        SELECT id, next_at, row_number() OVER (PARTITION BY host ORDER BY next_at, id)
          + coalesce((SELECT sum(n) FROM busy WHERE busy.host = candidate.host), 0) AS place FROM candidate
      )
      SELECT id FROM ranked WHERE place <= $3::int ORDER BY next_at, id LIMIT $4::int`,
    values: [now.toISOString(), PER_CHANNEL, PER_HOST, capacity],
  });
  return rows.map(({ id }) => id);
}

async function cancel(client: pg.PoolClient, taken: readonly Row[], now: Date): Promise<void> {
  const closed = taken.filter(({ is_open }) => !is_open);
  if (closed.length === 0) return;
  await client.query(
    `UPDATE delivery SET status = 'cancelled', attempts = attempts - 1, attempt_id = NULL, next_at = NULL,
      updated_at = $2::timestamptz WHERE id = ANY($1::text[])`,
    [closed.map(({ id }) => id), now.toISOString()],
  );
}

/**
 * Logs attempts before anything is sent, so that an attempt whose process dies is in the log; an open one before it was
 * lost so.
 */
async function logAttempts(client: pg.PoolClient, open: readonly Row[], now: Date): Promise<void> {
  if (open.length === 0) return;
  const ids = open.map(({ id }) => id);
  await client.query({
    name: 'lose-attempts',
    text: `UPDATE attempt SET outcome = 'lost', ended_at = $2::timestamptz
      WHERE delivery_id = ANY($1::text[]) AND outcome IS NULL`,
    values: [ids, now.toISOString()],
  });
  await client.query({
    name: 'begin-attempts',
    text: `INSERT INTO attempt (id, delivery_id, n, destination, started_at)
      SELECT id, delivery_id, n, destination, $5::timestamptz
      FROM unnest($1::text[], $2::text[], $3::int[], $4::text[]) AS a(id, delivery_id, n, destination)`,
    values: [
      open.map(({ attempt_id }) => attempt_id),
      ids,
      open.map(({ attempts }) => attempts),
      open.map(({ destination }) => destination),
      now.toISOString(),
    ],
  });
}

function toClaimed(row: Row): Claimed {
  return {
    id: row.id,
    attemptId: row.attempt_id,
    n: row.attempts,
    failures: row.failures,
    isByHand: row.is_by_hand,
    channelId: row.channel_id,
    channelType: row.channel_type,
    destination: row.destination,
    eventId: row.event_id,
    eventType: row.event_type,
    body: row.body,
  };
}
