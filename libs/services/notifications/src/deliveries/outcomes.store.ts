import { Inject, Injectable } from '@nestjs/common';
import type { Clock, DeliveryState, Random } from '@gateway/contracts';
import { CLOCK, RANDOM } from '@gateway/platform';
import type pg from 'pg';
import { NotificationsDatabase } from '../postgres/notifications-database.js';
import type { Claimed, Outcome } from './delivery.js';
import { pauseMs } from './schedule.js';

/** A channel that has failed for so long, without one success, is disabled. */
const FAILING_MS = 5 * 24 * 3_600_000;

interface Next {
  status: DeliveryState;
  nextAt: Date | null;
}

/** Writes how attempts have ended, and what that means for their channels. */
@Injectable()
export class OutcomesStore {
  constructor(
    private readonly database: NotificationsDatabase,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  /** Nothing is written where the lease was lost. */
  async end(claimed: Claimed, outcome: Outcome): Promise<void> {
    const now = new Date(this.clock.now());
    const next = this.next(claimed, outcome, now);
    await this.database.batch(async (client) => {
      const isOurs = await writeDelivery(client, claimed, outcome, next, now);
      if (!isOurs) return;
      await writeAttempt(client, claimed.attemptId, outcome, now);
      if (claimed.isByHand) return;
      if (outcome.kind === 'delivered') await recovered(client, claimed.channelId);
      else await failed(client, claimed.channelId, outcome, now);
    });
  }

  private next({ failures, isByHand }: Claimed, outcome: Outcome, now: Date): Next {
    switch (outcome.kind) {
      case 'delivered':
        return { status: 'delivered', nextAt: null };
      case 'blocked':
        return { status: 'blocked', nextAt: null };
      case 'failed': {
        const pause =
          isByHand || outcome.isGone ? null : pauseMs(failures + 1, outcome.retryAfterMs, this.random);
        return pause === null
          ? { status: 'exhausted', nextAt: null }
          : { status: 'retrying', nextAt: new Date(now.getTime() + pause) };
      }
    }
  }
}

async function writeDelivery(
  client: pg.PoolClient,
  { id, attemptId }: Claimed,
  outcome: Outcome,
  { status, nextAt }: Next,
  now: Date,
): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'end-delivery',
    text: `UPDATE delivery SET status = $3, next_at = $4::timestamptz, http_status = $5, error = $6,
        failures = failures + $7, attempt_id = NULL, updated_at = $8::timestamptz
      WHERE id = $1 AND attempt_id = $2`,
    values: [
      id,
      attemptId,
      status,
      nextAt?.toISOString() ?? null,
      outcome.kind === 'blocked' ? null : outcome.httpStatus,
      outcome.kind === 'delivered' ? null : outcome.error,
      outcome.kind === 'delivered' ? 0 : 1,
      now.toISOString(),
    ],
  });
  return rowCount === 1;
}

async function writeAttempt(
  client: pg.PoolClient,
  attemptId: string,
  outcome: Outcome,
  now: Date,
): Promise<void> {
  const exchange = outcome.kind === 'blocked' ? null : outcome.exchange;
  await client.query({
    name: 'end-attempt',
    text: `UPDATE attempt SET outcome = $2, ended_at = $3::timestamptz, http_status = $4, error = $5,
        request_headers = $6::jsonb, response_headers = $7::jsonb, response_body = $8, is_cut = $9 WHERE id = $1`,
    values: [
      attemptId,
      outcome.kind,
      now.toISOString(),
      outcome.kind === 'blocked' ? null : outcome.httpStatus,
      outcome.kind === 'delivered' ? null : outcome.error,
      exchange && JSON.stringify(exchange.requestHeaders),
      exchange?.responseHeaders == null ? null : JSON.stringify(exchange.responseHeaders),
      exchange?.responseBody ?? null,
      exchange?.isCut ?? false,
    ],
  });
}

async function recovered(client: pg.PoolClient, channelId: string): Promise<void> {
  await client.query({
    name: 'channel-recovered',
    text: 'UPDATE channel SET failing_since = NULL WHERE id = $1 AND failing_since IS NOT NULL',
    values: [channelId],
  });
}

/** Disables a channel that is gone, or has failed for too long. */
async function failed(
  client: pg.PoolClient,
  channelId: string,
  outcome: Exclude<Outcome, { kind: 'delivered' }>,
  now: Date,
): Promise<void> {
  const isGone = outcome.kind === 'failed' && outcome.isGone;
  const { rowCount } = await client.query({
    name: 'channel-failed',
    text: `WITH noted AS (
        UPDATE channel SET failing_since = coalesce(failing_since, $2::timestamptz) WHERE id = $1 AND is_enabled
        RETURNING id, failing_since
      ), closing AS (SELECT id FROM noted WHERE $4 OR failing_since <= $3::timestamptz)
      SELECT id FROM closing`,
    values: [channelId, now.toISOString(), new Date(now.getTime() - FAILING_MS).toISOString(), isGone],
  });
  if (rowCount !== 1) return;
  await client.query(
    `UPDATE channel SET is_enabled = false, disabled_reason = $2, updated_at = $3::timestamptz WHERE id = $1`,
    [channelId, isGone ? 'gone' : 'failing', now.toISOString()],
  );
  await client.query(
    `UPDATE delivery SET status = 'cancelled', next_at = NULL, updated_at = $2::timestamptz
      WHERE channel_id = $1 AND status IN ('pending', 'retrying')`,
    [channelId, now.toISOString()],
  );
}
