import {
  TOPIC,
  type AttemptRecordV2,
  type ConsumedRecord,
  type UsageRecord,
  type UsageRecordV2,
} from '@gateway/contracts';
import { compactRecord, usageRecord } from '@gateway/testing';
import { readBatch } from './read-batch.js';

describe('the records of a batch', () => {
  it('OPS a usage record with a value of a newer release is unusable, not left uncounted', () => {
    const data = { ...usageRecord(), status: 'paused' };
    const value = JSON.stringify({ specversion: '1.0', type: TOPIC.usage, data });
    const record = { topic: TOPIC.usage, partition: 0, offset: '1', key: data.account_id, value };
    const { usage, unusable } = readBatch([record]);
    expect(usage).toEqual([]);
    expect(unusable).toEqual([
      {
        record,
        reason: 'the value of the field status is not known to this release',
        accountId: data.account_id,
        unit: { requestId: data.request_id, unit: data.unit },
        stamp: { producer: data.producer, epoch: data.epoch, seq: data.seq },
      },
    ]);
  });

  it('a record of gateway.usage.v2 is the unit that gateway.usage.v1 has', () => {
    const reading = {
      scope: 'key' as const,
      scope_id: 'key_1',
      rpm: 0,
      rpm_limit: null,
      rpd: 3,
      rpd_limit: 9,
    };
    const data = usageRecord({ limits: [reading] });
    const batch = [TOPIC.usage, TOPIC.usageV2].map((topic) => recordOn(topic, data));
    const [v1, v2] = readBatch(batch).usage.map(({ usage }) => usage);
    expect(v2).toEqual(v1);
  });

  it('an unusable record of gateway.usage.v2 is known by its unit and its stamp, as one of gateway.usage.v1', () => {
    const hostile: [Partial<UsageRecordV2>, string][] = [
      [{ attempts: {} as [] }, 'the field attempts'],
      [{ attempts: [null as unknown as AttemptRecordV2] }, 'the field attempts'],
      // Of no team, so that the scope has no id.
      [{ team_id: null, limits: [{ scope: 'team' }] }, 'the field limits'],
      [{ usage: 7 as unknown as object }, 'the field usage'],
      [{ cost_usd: '1e9' }, 'the field cost_usd'],
      [{ created_at: 'soon' }, 'created_at is no time'],
      [{ request_tags: { tag: '\0' } }, 'a text holds the character NUL'],
      [{ outcome: 'paused' as 'served' }, 'the value of the field outcome is not known'],
    ];
    for (const [change, reason] of hostile) {
      const { unit: _, ...data } = { ...compactRecord(usageRecord()), ...change };
      const value = JSON.stringify({ specversion: '1.0', type: TOPIC.usageV2, data });
      const record = { topic: TOPIC.usageV2, partition: 0, offset: '1', key: data.account_id, value };
      const { usage, unusable } = readBatch([record]);
      expect(usage).toEqual([]);
      expect(unusable).toMatchObject([
        {
          reason: expect.stringContaining(reason) as string,
          unit: { requestId: data.request_id, unit: 0 },
          stamp: { producer: data.producer, epoch: data.epoch, seq: data.seq },
        },
      ]);
    }
  });
});

function recordOn(topic: string, data: UsageRecord): ConsumedRecord {
  const written = topic === TOPIC.usage ? data : compactRecord(data);
  const value = JSON.stringify({ specversion: '1.0', type: topic, data: written });
  return { topic, partition: 0, offset: '1', key: data.account_id, value };
}
