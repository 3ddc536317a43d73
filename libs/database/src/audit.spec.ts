import { FixedClock, keyPrincipal, seededRandom } from '@gateway/testing/plain';
import type { FastifyRequest } from 'fastify';
import { auditRow } from './audit.js';

const request = { principal: keyPrincipal(), clientIp: '10.0.0.1', id: 'req_1' } as unknown as FastifyRequest;

describe('auditRow', () => {
  it('EDGE-09 holds who, what and when, and names of fields only', () => {
    const clock = new FixedClock('2026-11-01T00:00:00Z');
    const write = { action: 'api_key.update', targetType: 'api_key', targetId: 'key_9', orgId: 'org_1' };
    const row = auditRow(
      request,
      { ...write, changedFields: ['rpm_limit', 'label'] },
      { clock, random: seededRandom(1) },
    );
    expect(row).toMatchObject({
      created_at: new Date('2026-11-01T00:00:00Z'),
      org_id: 'org_1',
      actor_kind: 'key',
      actor_id: 'key_1',
      ip: '10.0.0.1',
      action: 'api_key.update',
      target_id: 'key_9',
      changed_fields: ['label', 'rpm_limit'],
      request_id: 'req_1',
    });
    expect(row.id).toMatch(/^aud_/);
  });
});
