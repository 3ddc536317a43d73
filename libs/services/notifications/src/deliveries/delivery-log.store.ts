import { Injectable } from '@nestjs/common';
import type {
  ChannelType,
  DeliveriesQuery,
  DeliveryAttemptRecord,
  DeliveryDetail,
  DeliveryRecord,
  DeliveryState,
} from '@gateway/contracts';
import { createdWithin, timesOf } from '@gateway/platform';
import { Prisma } from '../generated/prisma/client.js';
import { NotificationsDatabase } from '../postgres/notifications-database.js';

const WITH_ENDS = {
  event: { select: { type: true, body: true } },
  channel: { select: { channel_type: true, destination: true } },
} as const;

type Row = Prisma.DeliveryGetPayload<{ include: typeof WITH_ENDS }>;
type AttemptRow = Prisma.AttemptGetPayload<object>;

/** Log of what was sent, to whom, and the answers. */
@Injectable()
export class DeliveryLogStore {
  constructor(private readonly database: NotificationsDatabase) {}

  /** Newest first. Throws ApiError `validation_error` and `bad_request` as `timesOf` does. */
  async page(orgId: string, query: DeliveriesQuery): Promise<{ rows: DeliveryRecord[]; total: number }> {
    const { channel_id, event_type, status, limit, offset } = query;
    const where: Prisma.DeliveryWhereInput = {
      org_id: orgId,
      channel_id,
      status,
      ...(event_type === undefined ? {} : { event: { type: event_type } }),
      ...createdWithin(timesOf(query)),
    };
    const orderBy: Prisma.DeliveryOrderByWithRelationInput[] = [{ created_at: 'desc' }, { id: 'desc' }];
    const [rows, total] = await Promise.all([
      this.database.prisma.delivery.findMany({
        where,
        include: WITH_ENDS,
        orderBy,
        take: limit,
        skip: offset,
      }),
      this.database.prisma.delivery.count({ where }),
    ]);
    return { rows: rows.map(toWire), total };
  }

  /** Finds a delivery by its own id, or by that of one of its attempts: receivers know only the latter. */
  find(orgIds: readonly string[], id: string): Promise<Row | null> {
    return this.database.prisma.delivery.findFirst({
      where: { org_id: { in: [...orgIds] }, OR: [{ id }, { log: { some: { id } } }] },
      include: WITH_ENDS,
    });
  }

  async detail(row: Row): Promise<DeliveryDetail> {
    const attempts = await this.database.prisma.attempt.findMany({
      where: { delivery_id: row.id },
      orderBy: [{ started_at: 'asc' }, { id: 'asc' }],
    });
    return { ...toWire(row), request_body: row.event.body, attempt_log: attempts.map(attemptToWire) };
  }
}

export function toWire(row: Row): DeliveryRecord {
  return {
    id: row.id,
    event_id: row.event_id,
    event_type: row.event.type,
    channel_id: row.channel_id,
    channel_type: row.channel.channel_type as ChannelType,
    destination: row.channel.destination,
    status: row.status as DeliveryState,
    attempts: row.attempts,
    // While it is sent this is the end of its lease, which is nobody's business.
    next_attempt_at: row.status === 'sending' ? null : (row.next_at?.toISOString() ?? null),
    http_status: row.http_status,
    error: row.error,
    redelivery_of: row.redelivery_of,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

function attemptToWire(row: AttemptRow): DeliveryAttemptRecord {
  const response =
    row.response_body === null
      ? null
      : {
          headers: (row.response_headers ?? {}) as Record<string, string>,
          body: row.response_body,
          is_cut: row.is_cut,
        };
  return {
    id: row.id,
    n: row.n,
    status: (row.outcome ?? 'sending') as DeliveryAttemptRecord['status'],
    started_at: row.started_at.toISOString(),
    ended_at: row.ended_at?.toISOString() ?? null,
    destination: row.destination,
    http_status: row.http_status,
    error: row.error,
    request: row.request_headers === null ? null : { headers: row.request_headers as Record<string, string> },
    response,
  };
}
