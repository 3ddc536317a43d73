import { fixedClock, seededRandom } from '@gateway/testing/plain';
import { Deadlines } from '@gateway/platform';
import { AccountLimiter } from './account-limiter.js';

interface Work {
  /** Running calls, in the order of their begin. */
  begun: string[];
  end(name: string): void;
}

function workOf(turns: AccountLimiter): Work & { ask(account: string, name: string): Promise<string> } {
  const ends = new Map<string, () => void>();
  const begun: string[] = [];
  return {
    begun,
    end: (name) => ends.get(name)?.(),
    ask: (account, name) =>
      turns.take(account, () => {
        begun.push(name);
        return new Promise((resolve) => ends.set(name, () => resolve(name)));
      }),
  };
}

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const clock = fixedClock('2026-11-24T12:00:00Z');

describe('turns at reads of unknown size', () => {
  it('U15 gives an account four at once, all together eight, and a free one to whoever’s turn it is', async () => {
    const work = workOf(new AccountLimiter(new Deadlines(clock), seededRandom(1)));
    const all = [...'abcdefgh'].map((name) => work.ask('thief', name));
    await tick();
    expect(work.begun.join('')).toBe('abcd');
    all.push(...'12345'.split('').map((name) => work.ask('other', name)));
    await tick();
    expect(work.begun.join('')).toBe('abcd1234');
    all.push(work.ask('third', 'x'));
    work.end('a');
    await tick();
    work.end('1');
    await tick();
    // Not the thief’s second one: the third account has not had a turn yet.
    expect(work.begun.slice(8)).toEqual(['e', '5']);
    work.end('e');
    await tick();
    expect(work.begun.slice(10)).toEqual(['x']);
    for (const name of 'bcd2345xfgh') {
      work.end(name);
      await tick();
    }
    expect(await Promise.all(all)).toHaveLength(14);
  });

  it('U15 503 for who waits for two seconds, or finds 512 of its account waiting; a failure frees its turn', async () => {
    const time = fixedClock('2026-11-24T12:00:00Z');
    const turns = new AccountLimiter(new Deadlines(time), seededRandom(1));
    const failing: ((reason: Error) => void)[] = [];
    const failed = Array.from({ length: 4 }, () =>
      turns.take('one', () => new Promise((_resolve, reject) => failing.push(reject))),
    );
    const waiting = Array.from({ length: 512 }, () => turns.take('one', () => Promise.resolve('late')));
    const refused = { code: 'service_unavailable', status: 503 };
    await expect(turns.take('one', () => Promise.resolve('never'))).rejects.toMatchObject(refused);
    expect(await turns.take('other', () => Promise.resolve('at once'))).toBe('at once');
    const settled = Promise.allSettled(waiting);
    await time.advance(2_200);
    expect((await settled).every(({ status }) => status === 'rejected')).toBe(true);
    failing.forEach((fail) => fail(new Error('the store is away')));
    for (const one of failed) await expect(one).rejects.toThrow('the store is away');
    expect(await turns.take('one', () => Promise.resolve('again'))).toBe('again');
  });
});
