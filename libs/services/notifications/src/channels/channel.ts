import type { ChannelRecord, ChannelType } from '@gateway/contracts';
import type { Channel } from '../generated/prisma/client.js';

/** `host` of a mailbox: what sends mail is one place. */
const MAIL_HOST = 'mail';

/** Returns a destination as it is kept and called: of a webhook what the URL parser makes of it. */
export function keptAs(type: ChannelType, destination: string): string {
  return type === 'webhook' && URL.canParse(destination) ? new URL(destination).href : destination;
}

export function hostOf(type: ChannelType, destination: string): string {
  return type === 'email' ? MAIL_HOST : new URL(destination).hostname;
}

export function channelType({ channel_type }: Pick<Channel, 'channel_type'>): ChannelType {
  return channel_type === 'email' ? 'email' : 'webhook';
}

export function toWire(row: Channel): ChannelRecord {
  const reason = row.disabled_reason;
  return {
    id: row.id,
    org_id: row.org_id,
    channel_type: channelType(row),
    destination: row.destination,
    is_enabled: row.is_enabled,
    verified_at: row.verified_at?.toISOString() ?? null,
    disabled_reason: reason === 'failing' || reason === 'gone' ? reason : null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
