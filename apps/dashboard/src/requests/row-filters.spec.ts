import { bodyOfRows, rowFiltersOf, rowFilterWords } from './row-filters.js';

it('the order and the filters of the list are read from the address and sent as the gateway takes them', () => {
  const rows = rowFiltersOf({
    ...{ range: '24h', model: 'a/b', sort: '-cost_usd', min_cost_usd: '0.5' },
    ...{ min_latency_ms: '2500', stream: 'no' },
  });
  expect(bodyOfRows(rows)).toEqual({
    sort: '-cost_usd',
    min_cost_usd: '0.5',
    min_latency_ms: 2_500,
    stream: false,
  });
  expect(bodyOfRows(rowFiltersOf({ range: '24h', stream: 'yes' }))).toEqual({ stream: true });
});

it.each([
  ['sort', '-cost_usd', { kind: 'Sorted by', value: 'Cost, largest first' }],
  ['sort', 'latency_ms', { kind: 'Sorted by', value: 'Latency, smallest first' }],
  ['sort', 'created_at', { kind: 'Sorted by', value: 'Time, oldest first' }],
  ['min_cost_usd', '0.5', { kind: 'Cost from', value: '$0.50' }],
  ['min_latency_ms', '2500', { kind: 'Latency from', value: '2.5 s' }],
  ['stream', 'no', { kind: undefined, value: 'In one piece' }],
])('%s %s is said in words', (name, value, words) => expect(rowFilterWords(name, value)).toEqual(words));
