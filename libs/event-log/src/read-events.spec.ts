import { TOPIC, type ConsumedRecord, type NewAccountEvent } from '@gateway/contracts';
import { SystemClock } from '@gateway/platform';
import { seededRandom } from '@gateway/testing/plain';
import { accountEventRow } from './outbox/account-event-row.js';
import { readEvents } from './read-events.js';

function record(value: unknown): ConsumedRecord {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return { topic: TOPIC.account, partition: 2, offset: '41', key: 'acct_1', value: text };
}

const SOURCES = { clock: new SystemClock(), random: seededRandom(1) };
const event: NewAccountEvent = {
  type: 'api_key.revoked',
  account_id: 'acct_1',
  org_id: null,
  data: { key_id: 'key_1', label: null, masked_key: 'rsk_...abcd' },
};
const sent = accountEventRow(event, '/keys', SOURCES).value;
const envelope = JSON.parse(sent) as { data: Record<string, unknown> };

describe('readEvents', () => {
  it('reads what a producer has written', () => {
    const { events, dead } = readEvents(TOPIC.account, [record(sent)]);
    expect(dead).toEqual([]);
    expect(events[0].data).toMatchObject({ ...event, id: expect.stringMatching(/^evt_/) });
  });

  it.each([
    ['no json', 'not a CloudEvent'],
    ['null', 'not a CloudEvent'],
    ['[]', 'not a CloudEvent'],
    [{ ...envelope, specversion: '0.3' }, 'not a CloudEvent'],
    [{ ...envelope, data: null }, 'not a CloudEvent'],
    [{ ...envelope, type: TOPIC.usage }, 'not a CloudEvent'],
    [{ ...envelope, data: { ...envelope.data, account_id: 7 } }, 'account_id'],
    [{ ...envelope, data: { ...envelope.data, type: 'api_key.eaten' } }, 'type'],
    [{ ...envelope, data: { ...envelope.data, data: { key_id: 'key_1' } } }, 'data.masked_key'],
    [{ ...envelope, data: { ...envelope.data, type: 'balance.low' } }, 'data.balance_usd'],
  ])('answers %j as dead', (value, reason) => {
    const { events, dead } = readEvents(TOPIC.account, [record(value), record(sent)]);
    expect(events).toHaveLength(1);
    expect(dead).toHaveLength(1);
    expect(dead[0].reason).toContain(reason);
  });

  it.each([
    ['a type', { type: 'api_key.eaten' }, 'type'],
    [
      'a value of an enum',
      { type: 'member.added', data: { user_id: 'usr_1', role: 'auditor' } },
      'data.role',
    ],
  ])(
    'OPS %s of a newer release is marked unknown, so that it is no fault of the record',
    (_what, change, field) => {
      const { dead } = readEvents(TOPIC.account, [
        record({ ...envelope, data: { ...envelope.data, ...change } }),
      ]);
      expect(dead).toMatchObject([
        { isUnknown: true, reason: `the value of the field ${field} is not known to this release` },
      ]);
    },
  );

  it('OPS a text in a field that is always null is a dead letter, whichever release wrote it', () => {
    const failed = { task_id: 't', model: 'm', provider: 'p', status: 'failed', video_url: 'https://v.test' };
    const data = { ...failed, error_code: 'e', error_message: 'm' };
    const { dead } = readEvents(TOPIC.account, [
      record({ ...envelope, data: { ...envelope.data, type: 'video.failed', data } }),
    ]);
    expect(dead).toMatchObject([{ reason: 'the field data.video_url is not what the contract says' }]);
    expect(dead[0].isUnknown).toBeUndefined();
  });

  it('does not compile with a field that the event does not have', () => {
    const other: NewAccountEvent = {
      type: 'balance.movement',
      account_id: 'acct_1',
      org_id: null,
      // @ts-expect-error: it is balance_after.
      data: { balance_before: '1', balance_after: '2', balance_now: '2' },
    };
    expect(other.type).toBe('balance.movement');
  });
});
