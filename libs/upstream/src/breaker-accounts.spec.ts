import { jest } from '@jest/globals';
import { UpstreamError, type Route } from '@gateway/contracts';
import { SystemClock } from '@gateway/platform';
import { seededRandom } from '@gateway/testing/plain';
import { CircuitBreakers } from './breakers.js';

const route = { provider: 'p', upstreamModel: 'm' } as Route;
const fault = new UpstreamError({
  ...{ code: 'upstream_error', message: 'x', httpStatus: 500 },
  ...{ retryable: true, fallback: true, countsAsFault: true, fault: 'service' },
});

describe('a breaker that the requests of one account open', () => {
  let breakers: CircuitBreakers;
  beforeEach(() => {
    jest.useFakeTimers({ now: Date.parse('2026-11-21T00:00:00Z') });
    breakers = new CircuitBreakers(new SystemClock(), seededRandom(7));
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  const isOpenTo = (account: string): boolean => breakers.isOpen(route, undefined, account);
  async function call(account: string, isGood = false): Promise<boolean> {
    let isMade = false;
    const attempt = (): Promise<void> => {
      isMade = true;
      return isGood ? Promise.resolve() : Promise.reject(fault);
    };
    await breakers.run(route, attempt, undefined, account).catch(() => undefined);
    return isMade;
  }
  async function fail(account: string, times = 40): Promise<void> {
    for (let n = 0; n < times; n += 1) await call(account);
  }

  it('U02 is open to that account, and to no other', async () => {
    await fail('one');
    expect([isOpenTo('one'), isOpenTo('two')]).toEqual([true, false]);
    expect(await call('one')).toBe(false);
    for (let n = 0; n < 10; n += 1) expect(await call('two', true)).toBe(true);
    expect([isOpenTo('one'), isOpenTo('two')]).toEqual([true, false]);
  });

  it('U02 is open to all once another account has a fault, before it opens or after', async () => {
    await call('two');
    await fail('one');
    expect([isOpenTo('one'), isOpenTo('two'), isOpenTo('three')]).toEqual([true, true, true]);
    breakers = new CircuitBreakers(new SystemClock(), seededRandom(7));
    await fail('one');
    await call('two');
    expect([isOpenTo('one'), isOpenTo('two'), isOpenTo('three')]).toEqual([true, true, true]);
  });

  it('U02 another account’s stream that died after its headers opens it to all', async () => {
    await fail('one');
    breakers.report(route, fault, undefined, 'two');
    expect(isOpenTo('three')).toBe(true);
  });

  it('U02 forgets the fault of another account after ten seconds', async () => {
    await call('two');
    await jest.advanceTimersByTimeAsync(11_000);
    await fail('one');
    expect([isOpenTo('one'), isOpenTo('two')]).toEqual([true, false]);
  });

  it('U02 a good probe closes it, and a bad one of the same account leaves others alone', async () => {
    await fail('one');
    await jest.advanceTimersByTimeAsync(6_001);
    expect(await call('one')).toBe(true);
    expect([isOpenTo('one'), isOpenTo('two')]).toEqual([true, false]);
    await jest.advanceTimersByTimeAsync(6_001);
    expect(await call('one', true)).toBe(true);
    expect([isOpenTo('one'), isOpenTo('two')]).toEqual([false, false]);
  });

  it('U02 that of a provider key knows no accounts', async () => {
    for (let n = 0; n < 40; n += 1)
      await breakers.run(route, () => Promise.reject(fault), 'pkey_1', 'one').catch(() => undefined);
    expect(breakers.isOpen(route, 'pkey_1', 'one')).toBe(true);
  });
});
