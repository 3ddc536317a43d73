import type { PriceRecord, PriceWindow } from '@gateway/contracts';
import { validatePriceRecord } from './validate-price.js';

const base: PriceRecord = {
  ...{ pricing_unit: 'per_1m_tokens', prompt_usd_per_1m: '1', completion_usd_per_1m: '2' },
  cache_read_input_usd_per_1m: '0.1',
};
const prices: PriceRecord = {
  ...{ prompt_usd_per_1m: '2', completion_usd_per_1m: '4', cache_read_input_usd_per_1m: null },
};
const sound: PriceWindow = { name: 'peak', hours_utc: ['01:00-04:00'], weekdays: ['mon'], prices };
const faults = (...windows: unknown[]): [string, string][] =>
  validatePriceRecord({ ...base, windows: windows as PriceWindow[] }, 'text').map(({ loc, msg }) => [
    loc.join('.'),
    msg,
  ]);
const places = (...windows: unknown[]): string[] => faults(...windows).map(([loc]) => loc);

describe('faults of price windows', () => {
  it('issue 37 a sound one has none, in all its forms', () => {
    expect(faults(sound)).toEqual([]);
    expect(faults({ ...sound, hours_utc: null, weekdays: null, until: '2026-12-01T00:00:00+08:00' })).toEqual(
      [],
    );
    expect(faults(sound, { ...sound, name: 'night', hours_utc: ['22:00-24:00', '23:30-01:00'] })).toEqual([]);
  });

  it.each([
    [{ name: 'Peak' }, 'windows.0.name'],
    [{ name: 'standard' }, 'windows.0.name'],
    [{ hours_utc: [] }, 'windows.0.hours_utc'],
    [{ hours_utc: Array<string>(9).fill('01:00-02:00') }, 'windows.0.hours_utc'],
    [{ hours_utc: ['1:00-2:00'] }, 'windows.0.hours_utc.0'],
    [{ hours_utc: ['24:00-02:00'] }, 'windows.0.hours_utc.0'],
    [{ weekdays: ['monday'] }, 'windows.0.weekdays.0'],
    [{ from: '2026-12-01' }, 'windows.0.from'],
    [{ until: '2026-12-01T00:00:00' }, 'windows.0.until'],
    [{ from: '2026-12-01T00:00:00Z', until: '2026-12-01T00:00:00Z' }, 'windows.0.from'],
    [{ prices: null }, 'windows.0.prices'],
    [{ zone: 'UTC' }, 'windows.0.zone'],
    // A Monday window within a Tuesday.
    [{ from: '2026-12-01T06:00:00Z', until: '2026-12-01T09:00:00Z' }, 'windows.0'],
    [{ prices: { ...prices, pricing_unit: 'per_image' } }, 'windows.0.prices.pricing_unit'],
    [{ prices: { ...prices, completion_usd_per_1m: '1e3' } }, 'windows.0.prices.completion_usd_per_1m'],
    [
      { prices: { prompt_usd_per_1m: '2', completion_usd_per_1m: '4' } },
      'windows.0.prices.cache_read_input_usd_per_1m',
    ],
  ])('issue 37 %j is a fault with its place', (more, place) => {
    expect(places({ ...sound, ...more })).toEqual([place]);
  });

  it('issue 37 two of one name, more than eight, and one behind a window that always holds', () => {
    expect(places(sound, sound)).toEqual(['windows.1.name']);
    expect(places(...Array.from({ length: 9 }, (_, n) => ({ ...sound, name: `w${n}` })))).toEqual([
      'windows',
    ]);
    expect(places({ name: 'all', prices }, sound)).toEqual(['windows.1']);
    expect(places('peak')).toEqual(['windows.0']);
  });
});
