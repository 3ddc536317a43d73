import { TOPIC, type AuditEntry } from '@gateway/contracts';
import { outboxRowOf, type OutboxRow } from './outbox-row.js';

/** A row of a service's `audit_log`. */
interface Audited extends Omit<AuditEntry, 'created_at' | 'org_id'> {
  created_at: Date;
  org_id: string | null;
}

const PREFIX = 'aud_';

/**
 * Returns the entry of an audit row for the one audit log, in the row's transaction; null where no organization reads
 * it.
 */
export function auditEntryRow(audit: Audited, source: string): OutboxRow | null {
  const { id, created_at: at, org_id } = audit;
  if (org_id === null) return null;
  const data: AuditEntry = { ...audit, org_id, created_at: at.toISOString() };
  // Entries stand by themselves: none has to come before another, so the row's own id will do as its place.
  return outboxRowOf({ topic: TOPIC.audit, key: org_id, source, id, data }, id.slice(PREFIX.length), at);
}
