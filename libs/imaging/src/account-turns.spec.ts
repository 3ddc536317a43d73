import fc from 'fast-check';
import { AccountTurns, type Asking } from './account-turns.js';

/** Work that ends by hand. */
class Work {
  readonly begun: string[] = [];
  private readonly ends: (() => void)[] = [];

  readonly run = (name: string) => (): Promise<string> => {
    this.begun.push(name);
    return new Promise((resolve) => this.ends.push(() => resolve(name)));
  };

  /** Ends the work that has run for longest. */
  async end(): Promise<void> {
    this.ends.shift()?.();
    for (let n = 0; n < 6; n += 1) await Promise.resolve();
  }
}

const asking = (accountId: string, signal = new AbortController().signal): Asking => ({ accountId, signal });

describe('turns of accounts at work of a whole core', () => {
  let turns: AccountTurns;
  let work: Work;
  beforeEach(() => {
    turns = new AccountTurns(2);
    work = new Work();
  });
  const ask = (name: string, of: Asking = asking(name[0])): Promise<string> => turns.take(of, work.run(name));

  it('A7 whoever asks for much waits behind itself: another account is next', async () => {
    const all = ['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'c1', 'b2'].map((name) => ask(name));
    expect(work.begun).toEqual(['a1', 'a2']);
    for (let n = 0; n < 8; n += 1) await work.end();
    expect(work.begun).toEqual(['a1', 'a2', 'a3', 'b1', 'c1', 'a4', 'b2', 'a5']);
    expect(await Promise.all(all)).toHaveLength(8);
  });

  it('A7 a caller that leaves takes no turn, and one that has left asks for none', async () => {
    const gone = new AbortController();
    const reason = new Error('left');
    const running = [ask('a1'), ask('a2')];
    const left = ask('b1', asking('b', gone.signal));
    const last = ask('c1');
    gone.abort(reason);
    await expect(left).rejects.toBe(reason);
    await expect(ask('b2', asking('b', gone.signal))).rejects.toBe(reason);
    for (let n = 0; n < 3; n += 1) await work.end();
    await Promise.all([...running, last]);
    expect(work.begun).toEqual(['a1', 'a2', 'c1']);
  });

  it('A7 an account with 32 works waiting is full; others are not', async () => {
    const all = Array.from({ length: 33 }, () => ask('a'));
    expect(turns.isFull('a')).toBe(false);
    all.push(ask('a'));
    expect([turns.isFull('a'), turns.isFull('b')]).toEqual([true, false]);
    for (let n = 0; n < 34; n += 1) await work.end();
    await Promise.all(all);
    expect(turns.isFull('a')).toBe(false);
  });

  it('A7 runs each work once, at most two at once, whoever leaves and whatever fails', async () => {
    const one = fc.record({
      account: fc.constantFrom('a', 'b', 'c'),
      leaves: fc.boolean(),
      fails: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(one, { maxLength: 30 }), async (asked) => {
        let [running, most, ran] = [0, 0, 0];
        const results = asked.map(({ account, leaves, fails }) => {
          const gone = new AbortController();
          const taken = turns.take(asking(account, gone.signal), async () => {
            most = Math.max(most, (running += 1));
            ran += 1;
            await Promise.resolve();
            running -= 1;
            if (fails) throw new Error('failed');
          });
          if (leaves) gone.abort(new Error('left'));
          return taken;
        });
        const ended = await Promise.allSettled(results);
        const left = ended.filter(
          (end) => end.status === 'rejected' && (end.reason as Error).message === 'left',
        );
        expect([running, ran + left.length]).toEqual([0, asked.length]);
        expect(most).toBeLessThanOrEqual(2);
      }),
    );
  });
});
