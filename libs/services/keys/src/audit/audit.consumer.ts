import { Controller } from '@nestjs/common';
import { EventPattern, Payload } from '@nestjs/microservices';
import { TOPIC, type AuditEntry, type ConsumedRecord } from '@gateway/contracts';
import { readEvents, type DeadRecord } from '@gateway/event-log';
import type { Prisma } from '../generated/prisma/client.js';
import { KeysDatabase } from '../postgres/keys-database.js';

/** Changes that other services have made, into the one log that people read. */
@Controller()
export class AuditConsumer {
  constructor(private readonly database: KeysDatabase) {}

  /** An entry that comes again is there already. Throws where the database is away: the batch comes again. */
  @EventPattern({ topic: TOPIC.audit, group: 'keys' })
  async entries(@Payload() batch: ConsumedRecord[]): Promise<DeadRecord[]> {
    const { events, dead } = readEvents(TOPIC.audit, batch);
    const data = events.map(({ data: entry }) => rowOf(entry));
    if (data.length > 0) await this.database.prisma.auditLog.createMany({ data, skipDuplicates: true });
    return dead;
  }
}

/** Returns the row of an entry; members of a later release have no column yet. */
function rowOf(entry: AuditEntry): Prisma.AuditLogCreateManyInput {
  return {
    id: entry.id,
    created_at: new Date(entry.created_at),
    org_id: entry.org_id,
    actor_kind: entry.actor_kind,
    actor_id: entry.actor_id,
    ip: entry.ip,
    action: entry.action,
    target_type: entry.target_type,
    target_id: entry.target_id,
    changed_fields: entry.changed_fields,
    request_id: entry.request_id,
  };
}
