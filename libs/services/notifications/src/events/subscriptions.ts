import type pg from 'pg';
import type { AccountEventType, ChannelType } from '@gateway/contracts';

/** A policy whose channel may be sent to. */
export interface Subscription {
  orgId: string;
  type: AccountEventType;
  channelId: string;
  /** Repetition, as `Notice.threshold`. */
  threshold: string | null;
  /** Start of the subscription. Earlier events are not sent: they would come with a replay of the topic. */
  sinceMs: number;
}

interface Row {
  org_id: string;
  alert_type: AccountEventType;
  channel_id: string;
  threshold: string | null;
  since: Date;
}

const EMAIL: ChannelType = 'email';

/** Returns the subscriptions of these organizations, in one statement a batch. */
export async function subscriptionsOf(
  client: pg.Pool | pg.PoolClient,
  orgIds: readonly string[],
): Promise<Subscription[]> {
  if (orgIds.length === 0) return [];
  const { rows } = await client.query<Row>({
    name: 'subscriptions',
    text: `SELECT p.org_id, p.alert_type, p.channel_id,
        trim_scale(coalesce(p.threshold_usd, p.threshold_pct))::text AS threshold,
        greatest(p.effective_from, c.enabled_at, c.verified_at) AS since
      FROM policy p JOIN channel c ON c.id = p.channel_id
      WHERE p.org_id = ANY($1::text[]) AND p.is_enabled AND c.is_enabled
        AND (c.channel_type <> $2 OR c.verified_at IS NOT NULL)`,
    values: [[...new Set(orgIds)], EMAIL],
  });
  return rows.map(({ org_id, alert_type, channel_id, threshold, since }) => ({
    orgId: org_id,
    type: alert_type,
    channelId: channel_id,
    threshold,
    sinceMs: since.getTime(),
  }));
}
