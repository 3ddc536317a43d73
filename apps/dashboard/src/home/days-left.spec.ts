import { daysLeft } from './days-left.js';

const trend = (...averages: string[]): Parameters<typeof daysLeft>[1] =>
  averages.map((average) => ({
    start: '2026-11-22T00:00:00.000Z',
    spend_usd: '0',
    requests: 0,
    moving_average_usd: average,
  }));

describe('the days that a balance lasts', () => {
  it.each([
    ['nothing was spent', '10', ['0', '0'], ''],
    ['nothing is known', '10', [], ''],
    ['the day is not over', '10', ['1', '0.4'], 'About 10 days left at the 3-day average'],
    ['more goes today', '10', ['1', '2.6'], 'About 3 days left at the 3-day average'],
    ['the first spend is of today', '10', ['0', '4'], 'About 2 days left at the 3-day average'],
    ['only the last two averages count', '10', ['100', '1', '1'], 'About 10 days left at the 3-day average'],
    ['it is one day', '1.99', ['1', '0'], 'About 1 day left at the 3-day average'],
    ['it is less than one', '0.000001', ['1', '0'], 'Less than a day left at the 3-day average'],
    ['it is a year', '365', ['1', '0'], 'About 365 days left at the 3-day average'],
    ['it is more', '99999999999.123456789012', ['0.000001'], 'More than a year left at the 3-day average'],
    ['it is used up', '0', ['1'], 'Nothing is left'],
    ['it is overdrawn', '-0.5', ['1'], 'Nothing is left'],
  ])('where %s', (_, available, averages, words) => {
    expect(daysLeft(available, trend(...averages))).toBe(words);
  });
});
