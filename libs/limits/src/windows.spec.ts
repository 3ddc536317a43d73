import { dayOf, dayResetSeconds, minuteOf, minuteResetSeconds } from './windows.js';

const DAY = 86_400_000;

describe('fixed windows of UTC', () => {
  it.each([
    // now, minute, seconds to its end, day, seconds to its end
    [0, 0, 60, 0, 86_400],
    [1, 0, 60, 0, 86_400],
    [999, 0, 60, 0, 86_400],
    [1_000, 0, 59, 0, 86_399],
    [59_000, 0, 1, 0, 86_341],
    [59_999, 0, 1, 0, 86_341],
    [60_000, 1, 60, 0, 86_340],
    [DAY - 1, 1_439, 1, 0, 1],
    [DAY, 1_440, 60, 1, 86_400],
    [Date.parse('2026-11-23T12:34:56.001Z'), 29_923_954, 4, 20_780, 41_104],
  ])('R04 %s: minute %s for %s s, day %s for %s s', (now, minute, minuteEnd, day, dayEnd) => {
    expect([minuteOf(now), minuteResetSeconds(now), dayOf(now), dayResetSeconds(now)]).toEqual([
      minute,
      minuteEnd,
      day,
      dayEnd,
    ]);
  });
});
