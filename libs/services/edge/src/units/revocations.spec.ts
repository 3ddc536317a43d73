import { ApiError } from '@gateway/contracts';
import { keyPrincipal } from '@gateway/testing';
import { Revocations } from './revocations.js';

/** Accounts' versions, a key that can be refused, and timers that the test runs. */
function setUp() {
  const versions = new Map<string, number>([['acct_a', 1]]);
  const asked: string[] = [];
  const timers: (() => void)[] = [];
  const ended: string[] = [];
  let reloads = 0;
  let rejection: ApiError | null = null;
  const revocations = new Revocations(
    {
      version: async (accountId) => {
        asked.push(accountId);
        const version = versions.get(accountId);
        if (version === undefined) throw new ApiError('service_unavailable');
        return version;
      },
    },
    {
      now: () => 0,
      monotonic: () => 0,
      sleep: async () => undefined,
      setTimer: (_ms, callback) => {
        timers.push(callback);
        return { cancel: () => undefined };
      },
    },
  );
  const add = (name: string, accountId = 'acct_a'): void =>
    revocations.add(name, {
      accountId,
      version: 1,
      reload: async () => {
        reloads += 1;
        if (rejection !== null) throw rejection;
        return keyPrincipal({ accountId, accountVersion: versions.get(accountId) ?? 0 });
      },
      end: ({ code }) => void ended.push(`${name} ${code}`),
    });
  /** Runs the timer that waits, and what follows from it. */
  const look = async (): Promise<void> => {
    timers.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return {
    ...{ revocations, versions, asked, timers, ended, add, look },
    reloads: () => reloads,
    refuse: (error: ApiError | null) => void (rejection = error),
  };
}

describe('work admitted before its key was suspended or deleted', () => {
  it('is ended at the look that sees the change, and only once the key is refused', async () => {
    const { add, look, versions, ended, refuse, reloads } = setUp();
    add('req_1/0');
    await look();
    await look();
    expect(reloads()).toBe(0);
    versions.set('acct_a', 2);
    await look();
    expect([reloads(), ended]).toEqual([1, []]);
    await look();
    expect(reloads()).toBe(1);
    versions.set('acct_a', 3);
    refuse(new ApiError('forbidden'));
    await look();
    expect(ended).toEqual(['req_1/0 forbidden']);
  });

  it('is never looked at where it is over within one look, and no timer is left behind', async () => {
    const { add, revocations, look, asked, timers } = setUp();
    add('req_1/0');
    revocations.remove('req_1/0');
    await look();
    expect([asked, timers]).toEqual([[], []]);
  });

  it('goes on where a lookup fails, and is looked at again', async () => {
    const { add, look, versions, ended, refuse, asked } = setUp();
    add('req_1/0');
    add('req_2/0', 'acct_unknown');
    await look();
    versions.set('acct_a', 2);
    refuse(new ApiError('service_unavailable'));
    await look();
    expect(ended).toEqual([]);
    refuse(new ApiError('unauthorized'));
    await look();
    expect(ended).toEqual(['req_1/0 unauthorized']);
    expect(asked.filter((account) => account === 'acct_unknown')).toHaveLength(2);
  });

  it('A2 one whose end throws leaves the others watched', async () => {
    const { add, revocations, look, versions, ended, refuse } = setUp();
    revocations.add('req_0/0', {
      accountId: 'acct_a',
      version: 1,
      reload: async () => {
        throw new ApiError('forbidden');
      },
      end: () => {
        throw new Error('The socket is gone.');
      },
    });
    add('req_1/0');
    await look();
    versions.set('acct_a', 2);
    await look();
    refuse(new ApiError('forbidden'));
    versions.set('acct_a', 3);
    await look();
    expect(ended).toEqual(['req_1/0 forbidden']);
  });

  it('asks once for an account, whatever number of its requests run', async () => {
    const { add, look, asked } = setUp();
    for (let n = 0; n < 100; n += 1) add(`req_${n}/0`);
    await look();
    await look();
    expect(asked).toEqual(['acct_a']);
  });
});
