import { TOPIC, type CloudEvent, type AuditEntry } from '@gateway/contracts';
import { readEvents } from '../read-events.js';
import { auditEntryRow } from './audit-entry-row.js';

const UUID = '01890a5d-ac96-774b-bcce-b302099a8057';
const AUDIT = {
  id: `aud_${UUID}`,
  created_at: new Date('2026-11-23T01:02:03.004Z'),
  org_id: 'org_1',
  actor_kind: 'session',
  actor_id: 'usr_1',
  ip: '127.0.0.1',
  action: 'alert_channel.create',
  target_type: 'alert_channel',
  target_id: 'ch_1',
  changed_fields: ['destination'],
  request_id: 'req_1',
};

describe('an audit row on its way', () => {
  it('is an event of its organization under its own id, which the reader takes', () => {
    const row = auditEntryRow(AUDIT, '/notifications');
    expect(row).toMatchObject({ id: UUID, topic: TOPIC.audit, key: 'org_1', created_at: AUDIT.created_at });
    const value = row?.value ?? '';
    expect((JSON.parse(value) as CloudEvent<AuditEntry>).source).toBe('/notifications');
    const record = { topic: TOPIC.audit, partition: 0, offset: '0', key: 'org_1', value };
    const { events, dead } = readEvents(TOPIC.audit, [record]);
    expect(dead).toEqual([]);
    expect(events.map(({ data }) => data)).toEqual([{ ...AUDIT, created_at: '2026-11-23T01:02:03.004Z' }]);
  });

  it('stays where no organization reads it', () => {
    expect(auditEntryRow({ ...AUDIT, org_id: null }, '/usage')).toBeNull();
  });
});
