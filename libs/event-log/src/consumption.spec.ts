import type { ConsumedRecord } from '@gateway/contracts';
import { Metrics } from '@gateway/platform';
import { Consumption, eventOf } from './consumption.js';

function record(value: unknown, more: Partial<ConsumedRecord> = {}): ConsumedRecord {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return { topic: 'gateway.account.v1', partition: 2, offset: '41', key: 'acct_1', value: text, ...more };
}

const event = { specversion: '1.0', id: 'evt_1', source: '/keys', type: 'gateway.account.v1', data: {} };

describe('Consumption', () => {
  it('counts by service, topic and outcome, and two services share one registry', async () => {
    const metrics = new Metrics();
    const [one, other] = [new Consumption(metrics, 'one'), new Consumption(metrics, 'other')];
    one.handled(record(event), 'handled');
    one.handled(record(event, { offset: '42' }), 'handled');
    other.handled(record('?'), 'unreadable');
    const text = await metrics.registry.metrics();
    expect(text).toContain(
      'gateway_consumed_records_total{service="one",topic="gateway.account.v1",outcome="handled"} 2',
    );
    expect(text).toContain(
      'gateway_consumed_records_total{service="other",topic="gateway.account.v1",outcome="unreadable"} 1',
    );
    expect(text).toContain(
      'gateway_consumed_offset{service="one",topic="gateway.account.v1",partition="2"} 42',
    );
    metrics.onApplicationShutdown();
  });
});

describe('eventOf', () => {
  it('answers the event of its own topic', () => {
    expect(eventOf(record(event))).toEqual(event);
  });

  it.each([
    'no json',
    'null',
    '[]',
    { ...event, specversion: '0.3' },
    { ...event, id: 1 },
    { ...event, data: null },
    { ...event, type: 'gateway.usage.v1' },
  ])('answers null for %j', (value) => {
    expect(eventOf(record(value))).toBeNull();
  });
});
