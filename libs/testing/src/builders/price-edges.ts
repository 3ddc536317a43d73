import type { PriceRecord } from '@gateway/contracts';

const at = (prompt: string, completion: string): PriceRecord => ({
  prompt_usd_per_1m: prompt,
  completion_usd_per_1m: completion,
});

/** A price over the turn of a year, a leap day, nights past midnight and weekdays; the first that holds is in force. */
export const HOURLY_PRICE: PriceRecord = {
  ...at('1', '2'),
  windows: [
    {
      name: 'new-year',
      ...{ from: '2026-12-31T23:00:00Z', until: '2027-01-01T01:00:00Z' },
      prices: at('0.1', '0.2'),
    },
    {
      name: 'leap-day',
      ...{ from: '2028-02-29T00:00:00Z', until: '2028-03-01T00:00:00Z' },
      prices: at('5', '7'),
    },
    { name: 'night', hours_utc: ['22:00-02:00'], weekdays: ['fri'], prices: at('3', '4') },
    {
      name: 'peak',
      hours_utc: ['01:00-04:00'],
      weekdays: ['mon', 'tue', 'wed', 'thu', 'fri'],
      prices: at('10', '20'),
    },
  ],
};

/** The usage that `PRICE_EDGES` bills. */
export const EDGE_USAGE = { prompt_tokens: 10, completion_tokens: 10 };

const COSTS = {
  standard: '0.00003',
  'new-year': '0.000003',
  'leap-day': '0.00012',
  night: '0.00007',
  peak: '0.0003',
};

export interface PriceEdge {
  at: string;
  /** Name of the window; null for the standard price. */
  window: string | null;
  costUsd: string;
}
const edge = (instant: string, name: keyof typeof COSTS): PriceEdge => ({
  at: instant,
  window: name === 'standard' ? null : name,
  costUsd: COSTS[name],
});

/** Instants at each edge of `HOURLY_PRICE` and a millisecond before it, with what a calendar on the wall says. */
export const PRICE_EDGES: readonly PriceEdge[] = [
  // The last day of 2026 is a Thursday.
  edge('2026-12-31T00:59:59.999Z', 'standard'),
  edge('2026-12-31T01:00:00.000Z', 'peak'),
  edge('2026-12-31T03:59:59.999Z', 'peak'),
  edge('2026-12-31T04:00:00.000Z', 'standard'),
  edge('2026-12-31T22:59:59.999Z', 'standard'),
  edge('2026-12-31T23:00:00.000Z', 'new-year'),
  edge('2026-12-31T23:59:59.999Z', 'new-year'),
  edge('2027-01-01T00:00:00.000Z', 'new-year'),
  edge('2027-01-01T00:59:59.999Z', 'new-year'),
  edge('2027-01-01T01:00:00.000Z', 'peak'),
  // The night of Friday ends on Saturday, which has no peak.
  edge('2027-01-01T21:59:59.999Z', 'standard'),
  edge('2027-01-01T22:00:00.000Z', 'night'),
  edge('2027-01-01T23:59:59.999Z', 'night'),
  edge('2027-01-02T00:00:00.000Z', 'night'),
  edge('2027-01-02T01:59:59.999Z', 'night'),
  edge('2027-01-02T02:00:00.000Z', 'standard'),
  edge('2027-01-02T22:00:00.000Z', 'standard'),
  edge('2027-01-03T01:00:00.000Z', 'standard'),
  edge('2027-01-04T00:59:59.999Z', 'standard'),
  edge('2027-01-04T01:00:00.000Z', 'peak'),
  // The leap day of 2028 is a Tuesday.
  edge('2028-02-28T23:59:59.999Z', 'standard'),
  edge('2028-02-29T00:00:00.000Z', 'leap-day'),
  edge('2028-02-29T01:00:00.000Z', 'leap-day'),
  edge('2028-02-29T23:59:59.999Z', 'leap-day'),
  edge('2028-03-01T00:00:00.000Z', 'standard'),
  edge('2028-03-01T01:00:00.000Z', 'peak'),
];
