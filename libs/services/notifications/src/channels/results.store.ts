import { Injectable } from '@nestjs/common';
import type { ChannelResult } from '@gateway/contracts';
import { NotificationsDatabase } from '../postgres/notifications-database.js';

/** Deliveries of a channel that are looked at: an older one that is still retried tells nothing new. */
const NEWEST = 20;

interface Row {
  channel_id: string;
  id: string;
  status: string;
  http_status: number | null;
  error: string | null;
  updated_at: Date;
}

/** Reads how the newest attempts of channels ended. */
@Injectable()
export class ResultsStore {
  constructor(private readonly database: NotificationsDatabase) {}

  /** Returns results by channel; one that nothing was sent to has none. */
  async newest(channelIds: readonly string[]): Promise<Map<string, ChannelResult>> {
    if (channelIds.length === 0) return new Map();
    const rows = await this.database.prisma.$queryRaw<Row[]>`
      SELECT channel.id AS channel_id, ended.id, ended.status, ended.http_status, ended.error, ended.updated_at
      FROM unnest(${[...channelIds]}::text[]) AS channel (id)
      CROSS JOIN LATERAL (
        SELECT * FROM (
          SELECT * FROM delivery WHERE channel_id = channel.id ORDER BY created_at DESC LIMIT ${NEWEST}
        ) AS newest
        WHERE status = 'delivered' OR (failures > 0 AND status <> 'cancelled')
        ORDER BY updated_at DESC, id DESC
        LIMIT 1
      ) AS ended`;
    return new Map(rows.map((row) => [row.channel_id, toWire(row)]));
  }
}

function toWire({ id, status, http_status, error, updated_at }: Row): ChannelResult {
  const is_delivered = status === 'delivered';
  return { delivery_id: id, is_delivered, http_status, error, at: updated_at.toISOString() };
}
