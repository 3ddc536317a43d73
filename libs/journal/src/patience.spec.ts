import { faultOf } from './alarm.js';
import { seededRandom, TestClock } from './journal.fixture.js';
import { backOffMs, within } from './patience.js';

describe('patience with what the journal waits for', () => {
  const never = new Promise<string>(() => undefined);

  it('B06 ends where no answer comes in time, and where the journal stops', async () => {
    const clock = new TestClock();
    const { signal } = new AbortController();
    const late = within(never, { clock, timeoutMs: 1_000, signal });
    clock.advance(999);
    await expect(Promise.race([late, Promise.resolve('waits')])).resolves.toBe('waits');
    clock.advance(1);
    await expect(late).rejects.toThrow('No answer within 1000 ms.');

    const stop = new AbortController();
    const stopped = within(never, { clock, timeoutMs: 1_000, signal: stop.signal });
    stop.abort();
    await expect(stopped).rejects.toThrow('Stopped.');
    await expect(within(never, { clock, timeoutMs: 1_000, signal: stop.signal })).rejects.toThrow('Stopped.');
  });

  it('hands on what came in time, and what failed as an error', async () => {
    const bound = { clock: new TestClock(), timeoutMs: 1_000, signal: new AbortController().signal };
    await expect(within(Promise.resolve('x'), bound)).resolves.toBe('x');
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
    await expect(within(Promise.reject('gone'), bound)).rejects.toThrow(new Error('gone'));
  });

  it('doubles from 100 ms to 5 s, less up to a half by chance', () => {
    const full = { ...seededRandom(1), fraction: () => 0 };
    expect([1, 2, 3, 6, 7, 1_000].map((attempt) => backOffMs(attempt, full))).toEqual([
      100, 200, 400, 3_200, 5_000, 5_000,
    ]);
    expect(backOffMs(2, { ...full, fraction: () => 0.5 })).toBe(150);
  });
});

describe('what an alarm says of a fault', () => {
  it.each([
    [Object.assign(new Error('no space'), { code: 'ENOSPC' }), { code: 'ENOSPC', message: 'no space' }],
    [
      { code: 5, message: 6 },
      { code: 'UNKNOWN', message: 'no message' },
    ],
    [new Error('x'), { code: 'UNKNOWN', message: 'x' }],
    ['text', { code: 'UNKNOWN', message: 'text' }],
    [null, { code: 'UNKNOWN', message: 'null' }],
  ])('is a code and a message, whatever was thrown: %j', (thrown, fault) => {
    expect(faultOf(thrown)).toEqual(fault);
  });
});
