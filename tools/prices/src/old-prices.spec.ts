import { readSeed } from '@gateway/catalogue';
import { listedPrices, oldPrices, report } from './old-prices.js';

const seed = readSeed({ simulated: true });
const routes = seed.models.flatMap((model) => model.routes);

describe('prices by the age of their source', () => {
  it('lists a price past its days and no younger one, the oldest first', () => {
    const route = { ...routes[0], source: 'https://prices.example', dialect: 'chat' };
    const models = [
      ['a/young', '2026-11-02'],
      ['a/old', '2026-11-01'],
      ['a/older', '2026-10-01'],
    ].map(([id, source_date]) => ({ ...seed.models[0], id, routes: [{ ...route, source_date }] }));
    const found = oldPrices({ models }, Date.parse('2026-12-31T12:00:00Z'), 59);
    expect(found.map(({ model, age_days: age }) => [model, age])).toEqual([
      ['a/older', 91],
      ['a/old', 60],
    ]);
    expect(report(found, { prices: 3, days: 59 })).toMatch(
      /^ {3}91 days {2}2026-10-01 {2}a\/older on [\w-]+ {2}https:\/\/prices\.example {2}\(nobody .*\n(?:.*\n)2 of 3 prices .* 0 of them/,
    );
  });

  it('issue 37 no source is more than 60 days older than the newest but those that the data lists with why', () => {
    const days = routes.flatMap(({ source_date: day }) => (day === 'built in' ? [] : [Date.parse(day)]));
    const newest = Math.max(...days.filter(Number.isFinite));
    const named = (age: number) =>
      oldPrices(seed, newest, age).map(({ model, provider }) => `${model} on ${provider}`);
    const listed = listedPrices();
    expect(named(60).filter((price) => !(price in listed))).toEqual([]);
    // One that is renewed leaves the list; one that grows old soon may stand in it.
    expect(Object.keys(listed).filter((price) => !named(50).includes(price))).toEqual([]);
    expect(new Set(Object.values(listed))).toEqual(new Set(['differs', 'part', 'unread']));
  });

  it('knows the date of every price but those of the simulator', () => {
    const later = Date.parse('2099-01-01T00:00:00Z');
    const dated = routes.filter(({ source }) => source !== 'built in');
    expect(dated.length).toBeGreaterThan(150);
    expect(oldPrices(seed, later, 60)).toHaveLength(dated.length);
    expect(oldPrices(seed, later, 60).every(({ age_days: age }) => Number.isInteger(age))).toBe(true);
  });
});
