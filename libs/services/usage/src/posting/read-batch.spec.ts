import { TOPIC } from '@gateway/contracts';
import { usageRecord } from '@gateway/testing';
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
});
