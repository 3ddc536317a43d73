import { ApiError } from '@gateway/contracts';
import { fixedClock, seededRandom, type FixedClock } from '@gateway/testing/plain';
import { FairScheduler } from './fair-scheduler.js';

let clock: FixedClock;
let scheduler: FairScheduler;
let begun: string[];
let ends: Map<string, () => void>;
beforeEach(() => {
  clock = fixedClock('2026-01-01T00:00:00.000Z');
  // Four places.
  scheduler = new FairScheduler({ USAGE_DATABASE_CONNECTIONS: 10 }, clock, seededRandom(1));
  begun = [];
  ends = new Map();
});

/** A read of an account, named by it and a number, that goes on until it is ended. */
const ask = (name: string): Promise<unknown> =>
  scheduler.of(
    name.split(' ')[0],
    () =>
      new Promise<void>((end) => {
        begun.push(name);
        ends.set(name, end);
      }),
  );
const askAll = (...names: string[]): void => names.forEach((name) => void ask(name));
const end = async (name: string): Promise<void> => {
  ends.get(name)?.();
  await clock.advance(0);
};
const refusalOf = (read: Promise<unknown>): Promise<string> =>
  read.then(
    () => 'none',
    (failure: unknown) => {
      if (!(failure instanceof ApiError)) return 'away';
      return `${failure.code} ${Number(failure.options.retryAfterSeconds) > 0}`;
    },
  );

describe('the scheduler of usage reads', () => {
  it('an account alone has half of the places at once, however many reads it asks for', async () => {
    askAll('a 1', 'a 2', 'a 3', 'a 4', 'b 1');
    await clock.advance(0);
    expect(begun).toEqual(['a 1', 'a 2', 'b 1']);
  });

  it('an account has one place less while another reads, and five seconds after', async () => {
    askAll('a 1', 'a 2', 'b 1', 'a 3', 'a 4');
    await clock.advance(0);
    await end('b 1');
    await end('a 1');
    expect(begun).toEqual(['a 1', 'a 2', 'b 1']);
    await end('a 2');
    expect(begun.slice(3)).toEqual(['a 3']);
    await end('a 3');
    await clock.advance(4_999);
    askAll('a 5');
    expect(begun.slice(4)).toEqual(['a 4']);
    await clock.advance(1);
    askAll('a 6');
    await clock.advance(0);
    expect(begun.slice(5)).toEqual(['a 5']);
    await end('a 5');
    expect(begun.slice(6)).toEqual(['a 6']);
  });

  /** Reads of 100 ms, one after the other: how long after the one before each began. */
  async function pausesOf(account: string, count: number): Promise<number[]> {
    const pauses: number[] = [];
    for (let n = 0; n < count; n += 1) {
      const askedMs = clock.monotonic();
      askAll(`${account} ${n}`);
      await clock.advance(0);
      while (begun.at(-1) !== `${account} ${n}`) await clock.advance(10);
      pauses.push(clock.monotonic() - askedMs);
      await clock.advance(100);
      await end(`${account} ${n}`);
    }
    return pauses;
  }

  it('an account that reads a second without a pause rests as long as it reads while another reads', async () => {
    scheduler = new FairScheduler({ USAGE_DATABASE_CONNECTIONS: 6 }, clock, seededRandom(1));
    askAll('b 1');
    await clock.advance(0);
    expect(await pausesOf('a', 14)).toEqual([...Array.from({ length: 11 }, () => 0), 100, 100, 100]);
    await end('b 1');
    expect(clock.pendingTimers).toBe(0);
  });

  it('an account alone never rests', async () => {
    expect(await pausesOf('a', 40)).toEqual(Array.from({ length: 40 }, () => 0));
  });

  it('an account rests two seconds at most after one read, and not for others that have read five seconds before', async () => {
    askAll('b 1');
    await clock.advance(0);
    askAll('a 1');
    await clock.advance(10_000);
    await end('a 1');
    askAll('a 2');
    await clock.advance(1_999);
    expect(begun).toEqual(['b 1', 'a 1']);
    await clock.advance(1);
    expect(begun.at(-1)).toBe('a 2');
    await end('b 1');
    await clock.advance(5_000);
    await end('a 2');
    askAll('a 3');
    await clock.advance(0);
    expect(begun.at(-1)).toBe('a 3');
  });

  it('accounts that have not read for five seconds are forgotten, however many they were', async () => {
    for (let n = 0; n < 3_000; n += 1) await scheduler.of(`${n}`, () => Promise.resolve());
    await clock.advance(5_000);
    askAll('a 1', 'a 2', 'a 3');
    await clock.advance(0);
    expect(begun).toEqual(['a 1', 'a 2']);
  });

  it('the next place goes to the account that has the fewest, not to who came first', async () => {
    askAll('a 1', 'a 2', 'b 1', 'b 2', 'a 3', 'b 3', 'c 1', 'c 2');
    await clock.advance(0);
    expect(begun).toEqual(['a 1', 'a 2', 'b 1', 'c 1']);
    await end('c 1');
    await end('a 1');
    await end('b 1');
    await end('a 2');
    expect(begun.slice(4)).toEqual(['c 2', 'b 2', 'a 3']);
  });

  it('429 for an account of which fifty reads wait, and none for another', async () => {
    askAll(...Array.from({ length: 52 }, (_, n) => `a ${n}`));
    expect(await refusalOf(ask('a 52'))).toBe('rate_limit_exceeded true');
    askAll('b 1');
    await clock.advance(0);
    expect(begun).toContain('b 1');
  });

  it('503 where five hundred wait, and after 15 s of waiting', async () => {
    askAll('busy0 0', 'busy1 0', 'busy2 0', 'busy3 0');
    const late = Array.from({ length: 500 }, (_, n) => refusalOf(ask(`${n} 1`)));
    expect(await refusalOf(ask('x 1'))).toBe('service_unavailable true');
    await clock.advance(15_000);
    expect(new Set(await Promise.all(late))).toEqual(new Set(['service_unavailable true']));
    expect(clock.pendingTimers).toBe(0);
    askAll('x 2');
    await end('busy0 0');
    expect(begun.at(-1)).toBe('x 2');
  });

  it('a read that fails gives its place back', async () => {
    const failed = Array.from({ length: 9 }, () =>
      refusalOf(scheduler.of('a', () => Promise.reject(new Error('away')))),
    );
    expect(new Set(await Promise.all(failed))).toEqual(new Set(['away']));
    await scheduler.of('a', () => Promise.resolve());
  });

  it('a pool of few connections has one place', async () => {
    scheduler = new FairScheduler({ USAGE_DATABASE_CONNECTIONS: 3 }, clock, seededRandom(1));
    askAll('a 1', 'b 1');
    await clock.advance(0);
    expect(begun).toEqual(['a 1']);
  });
});
