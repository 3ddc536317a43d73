import { jest } from '@jest/globals';
import { UpstreamError, type Route } from '@gateway/contracts';
import { SystemClock } from '@gateway/platform';
import { seededRandom } from '@gateway/testing/plain';
import { CircuitBreakers } from './breakers.js';

const route = { provider: 'p', upstreamModel: 'm' } as Route;
const other = { provider: 'q', upstreamModel: 'm' } as Route;

function failure(countsAsFault: boolean, httpStatus: number | null = 500): UpstreamError {
  return new UpstreamError({
    code: 'upstream_error',
    message: 'x',
    httpStatus,
    retryable: true,
    fallback: true,
    countsAsFault,
    fault: 'service',
  });
}

/** An attempt whose end the test decides. */
function held(): { attempt: () => Promise<void>; end: (error?: Error) => void } {
  let end: (error?: Error) => void = () => undefined;
  const ended = new Promise<void>((resolve, reject) => {
    end = (error) => (error ? reject(error) : resolve());
  });
  return { attempt: () => ended, end };
}

describe('the breakers', () => {
  let states: string[];
  let failures: string[];
  let breakers: CircuitBreakers;
  beforeEach(() => {
    // opossum times its reset by the runtime's timers; on these the clock stands still too until it is advanced.
    jest.useFakeTimers({ now: Date.parse('2026-11-21T00:00:00Z') });
    states = [];
    failures = [];
    breakers = new CircuitBreakers(new SystemClock(), seededRandom(7), {
      onState: (_route, state) => states.push(state),
      onFailure: ({ provider }, { options }) => failures.push(`${provider} ${options.code}`),
    });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  const advance = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms);

  const pass = (): Promise<unknown> => breakers.run(route, () => Promise.resolve(7));
  async function fail(times: number, error = failure(true)): Promise<number> {
    let calls = 0;
    const attempt = (): Promise<never> => {
      calls += 1;
      return Promise.reject(error);
    };
    for (let n = 0; n < times; n += 1) await breakers.run(route, attempt).catch(() => undefined);
    return calls;
  }

  it('passes values and failures through while closed', async () => {
    expect(await pass()).toBe(7);
    expect(await breakers.run(route, () => Promise.resolve(undefined))).toBeUndefined();
    await expect(breakers.run(route, () => Promise.reject(failure(true)))).rejects.toBeInstanceOf(
      UpstreamError,
    );
  });

  it('lets what is no failure of a provider through as it is, and counts nothing of it', async () => {
    const fault = new TypeError('a fault of our own');
    for (let n = 0; n < 40; n += 1)
      await expect(breakers.run(route, () => Promise.reject(fault))).rejects.toBe(fault);
    expect(breakers.isOpen(route)).toBe(false);
    expect(await fail(40)).toBeLessThan(20);
  });

  it('ERR-58 U02 opens within 20 failures, for that route only, and answers provider_not_available without a call', async () => {
    expect(await fail(1_000)).toBeLessThan(20);
    expect(breakers.isOpen(route)).toBe(true);
    expect(breakers.isOpen(other)).toBe(false);
    let called = false;
    const refused = breakers.run(route, () => Promise.resolve((called = true)));
    await expect(refused).rejects.toMatchObject({
      message: 'The provider failed too often: it is not called for some seconds.',
      options: {
        ...{ code: 'provider_not_available', fault: 'service', httpStatus: null },
        ...{ retryable: false, fallback: true, countsAsFault: false },
      },
    });
    expect(called).toBe(false);
    expect(breakers.states()).toEqual([{ provider: 'p', model: 'm', state: 'open' }]);
  });

  it('U02 serves within 10 s of the recovery, however long the outage was', async () => {
    for (const minutes of [0, 1, 60]) {
      await fail(20);
      let calls = 0;
      for (let second = 0; second < minutes * 60; second += 1) {
        await advance(1_000);
        calls += await fail(1);
      }
      expect(calls).toBeLessThanOrEqual(minutes * 15);
      let waitedMs = 0;
      while ((await pass().catch(() => null)) === null) {
        await advance(100);
        waitedMs += 100;
      }
      expect(waitedMs).toBeLessThan(10_000);
      expect(breakers.isOpen(route)).toBe(false);
    }
  });

  it('U02 half open, one call at a time tries; one that says nothing does not keep the next one back for long', async () => {
    await fail(20);
    await advance(6_001);
    expect(breakers.isOpen(route)).toBe(false);
    const silent = held();
    const first = breakers.run(route, silent.attempt);
    expect(breakers.isOpen(route)).toBe(true);
    await expect(pass()).rejects.toBeInstanceOf(UpstreamError);
    await advance(3_001);
    expect(await pass()).toBe(7);
    expect(states).toEqual(['open', 'half_open', 'closed']);
    silent.end(failure(true));
    await expect(first).rejects.toBeInstanceOf(UpstreamError);
    expect(breakers.isOpen(route)).toBe(false);
  });

  it('half open, a caller that leaves decides nothing and a fault opens it again', async () => {
    await fail(20);
    await advance(6_001);
    await fail(1, failure(false, null));
    expect(breakers.isOpen(route)).toBe(false);
    await fail(1);
    expect(breakers.isOpen(route)).toBe(true);
    expect(states).toEqual(['open', 'half_open', 'open']);
  });

  it('what began before it opened says nothing of the time after', async () => {
    const late = held();
    const running = breakers.run(route, late.attempt);
    await fail(20);
    late.end();
    await running;
    expect(breakers.isOpen(route)).toBe(true);
  });

  it('does not count what is not the provider’s fault: its 400 is a good answer, a caller that left is none', async () => {
    await fail(40, failure(false, 400));
    expect(breakers.isOpen(route)).toBe(false);
    await fail(40, failure(false, null));
    await fail(40);
    expect(breakers.isOpen(route)).toBe(true);
  });

  it('stays closed below half faults, and forgets what is older than 10 s', async () => {
    for (let n = 0; n < 100; n += 1) {
      await pass();
      await pass();
      await fail(1);
    }
    expect(breakers.isOpen(route)).toBe(false);
    await advance(11_000);
    await fail(15);
    await advance(11_000);
    await fail(15);
    expect(breakers.isOpen(route)).toBe(false);
  });

  it('counts streams that die after their headers, reported by hand', async () => {
    for (let n = 0; n < 20; n += 1) {
      await pass().catch(() => undefined);
      breakers.report(route, failure(true));
      breakers.report(other, failure(false));
    }
    expect(breakers.isOpen(route)).toBe(true);
    expect(breakers.isOpen(other)).toBe(false);
  });

  it('forgets at closing what opened it, and lets no late fault of that time open it again', async () => {
    const late = [held(), held()];
    const running = late.map(({ attempt }) => breakers.run(route, attempt).catch(() => undefined));
    await fail(20);
    await advance(6_001);
    late[0]?.end(failure(true));
    await running[0];
    expect(breakers.isOpen(route)).toBe(false);
    await pass();
    late[1]?.end(failure(true));
    await running[1];
    await fail(15);
    expect(breakers.isOpen(route)).toBe(false);
    await fail(1);
    expect(breakers.isOpen(route)).toBe(true);
  });

  it('U02 waits 4 to 6 s before each probe, another time at each opening', async () => {
    const waits: number[] = [];
    await fail(20);
    for (let opening = 0; opening < 20; opening += 1) {
      let waitedMs = 0;
      for (; breakers.isOpen(route); waitedMs += 10) await advance(10);
      waits.push(waitedMs);
      await fail(1);
    }
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(4_000);
    expect(Math.max(...waits)).toBeLessThanOrEqual(6_010);
    expect(new Set(waits).size).toBeGreaterThan(10);
  });

  it.each([
    [0, 4_000],
    [0.5, 5_000],
  ])(
    'U02 where chance is %d it is half open %d ms after it opened, and no sooner',
    async (fraction, waitMs) => {
      breakers = new CircuitBreakers(new SystemClock(), { ...seededRandom(7), fraction: () => fraction });
      const state = (): string | undefined => breakers.states()[0]?.state;
      await fail(20);
      await advance(waitMs - 1);
      expect([breakers.isOpen(route), state()]).toEqual([true, 'open']);
      await advance(1);
      expect([breakers.isOpen(route), state()]).toEqual([false, 'half_open']);
    },
  );

  it('holds at most 2,000: the one used longest ago goes, with its timer; only open ones have a timer', async () => {
    await fail(20);
    expect(jest.getTimerCount()).toBe(1);
    for (let n = 0; n < 2_000; n += 1) {
      await advance(1);
      await breakers.run({ ...route, upstreamModel: `m${n}` }, () => Promise.resolve());
    }
    expect(breakers.states()).toHaveLength(2_000);
    expect(breakers.isOpen(route)).toBe(false);
    expect(jest.getTimerCount()).toBe(0);
    await advance(600_000);
    await pass();
    expect(breakers.states()).toHaveLength(1);
  });

  it('makes room by those that were idle for ten minutes, and by no other', async () => {
    const use = (n: number): Promise<void> =>
      breakers.run({ ...route, upstreamModel: `m${n}` }, () => Promise.resolve());
    for (let n = 0; n < 2_000; n += 1) await use(n);
    await advance(400_000);
    for (let n = 0; n < 1_000; n += 1) await use(n);
    await advance(199_999);
    await use(2_000);
    expect(breakers.states()).toHaveLength(2_000);
    await advance(1);
    await use(2_001);
    expect(breakers.states()).toHaveLength(1_002);
  });

  it('is one for the platform’s credential and one for each provider key of an account', async () => {
    const failing = (): Promise<never> => Promise.reject(failure(true));
    for (let n = 0; n < 40; n += 1) await breakers.run(route, failing, 'pk_1').catch(() => undefined);
    const isOpen = [undefined, 'pk_1', 'pk_2'].map((credential) => breakers.isOpen(route, credential));
    expect(isOpen).toEqual([false, true, false]);
    // How a customer's key fares is no state of ours.
    expect([states, breakers.states()]).toEqual([[], []]);
    for (let n = 0; n < 40; n += 1) breakers.report(route, failure(true), 'pk_2');
    expect(breakers.isOpen(route, 'pk_2')).toBe(true);
    expect(await pass()).toBe(7);
  });

  it('issue 16 reports each failure of a provider on the platform’s credential, and no other', async () => {
    const refused = (fault: 'caller' | 'service', countsAsFault = false): UpstreamError =>
      new UpstreamError({ ...failure(countsAsFault).options, fault });
    await fail(1, refused('service'));
    await fail(1, refused('caller'));
    await breakers.run(route, () => Promise.reject(refused('service', true)), 'pk_1').catch(() => undefined);
    breakers.report(other, refused('service', true));
    breakers.report(other, refused('service', true), 'pk_1');
    await breakers.run(route, () => Promise.reject(new TypeError('ours'))).catch(() => undefined);
    expect(failures).toEqual(['p upstream_error', 'q upstream_error']);
    // What an open breaker refuses was no call.
    await fail(40);
    expect(failures.length).toBeLessThan(22);
  });

  it('counts each of the calls that fail side by side', async () => {
    const calls = Array.from({ length: 20 }, held);
    const running = calls.map(({ attempt }) => breakers.run(route, attempt).catch(() => undefined));
    for (const { end } of calls) end(failure(true));
    await Promise.all(running);
    expect(breakers.isOpen(route)).toBe(true);
  });

  it('half open, a provider that refuses the request has answered: it closes', async () => {
    await fail(20);
    await advance(6_001);
    expect(breakers.states()).toEqual([{ provider: 'p', model: 'm', state: 'half_open' }]);
    await fail(1, failure(false, 400));
    expect(states).toEqual(['open', 'half_open', 'closed']);
  });

  it('half open, the next probe may go 3 s after one that has not ended, and no sooner', async () => {
    await fail(20);
    await advance(6_001);
    const silent = held();
    const first = breakers.run(route, silent.attempt);
    await advance(2_999);
    expect(breakers.isOpen(route)).toBe(true);
    await advance(1);
    expect(breakers.isOpen(route)).toBe(false);
    silent.end();
    await first;
  });

  it('counts the faults of ten seconds, of the tenth and not of the eleventh', async () => {
    await fail(15);
    await advance(10_000);
    await fail(15);
    expect(breakers.isOpen(route)).toBe(false);
    await advance(9_000);
    await fail(1);
    expect(breakers.isOpen(route)).toBe(true);
  });

  it('takes no stack of a rejection', async () => {
    await fail(20);
    const refused: unknown = await pass().catch((error: unknown) => error);
    expect(String((refused as Error).stack)).not.toContain(' at ');
  });
});
