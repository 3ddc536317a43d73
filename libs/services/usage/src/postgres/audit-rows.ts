import type { AuditRow } from '@gateway/database';
import { auditEntryRow } from '@gateway/event-log';
import type pg from 'pg';
import { insertOutbox } from './outbox-rows.js';

/** Inserts in the transaction of the change: the row of this service, and its way to the log that people read. */
export async function insertAudit(client: pg.PoolClient, audit: AuditRow): Promise<void> {
  await client.query(
    'INSERT INTO audit_log SELECT * FROM jsonb_populate_record(null::audit_log, $1::jsonb)',
    [JSON.stringify(audit)],
  );
  const entry = auditEntryRow(audit, '/usage');
  if (entry !== null) await insertOutbox(client, [entry]);
}
