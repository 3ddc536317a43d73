import { ApiError, UpstreamError, type Route, type UpstreamErrorOptions } from '@gateway/contracts';
import { seededRandom } from '@gateway/testing/plain';
import type { CredentialPools, PooledChoice } from './credential-pools.js';
import type { Plan } from './plan.js';
import { RetryBudget, runAttempts } from './run-attempts.js';

const throttled: UpstreamErrorOptions = {
  code: 'upstream_error',
  providerCode: 'rate_limit_exceeded',
  status: 429,
  message: 'OpenAI: slow down',
  httpStatus: 429,
  retryable: true,
  fallback: true,
  countsAsFault: false,
  credential: 'throttled',
  fault: 'service',
};

type Counts = Readonly<Record<string, 'full' | 'counted'>>;

/** Draws in the order of `ids`. An id of `counts` has limits, and takes an attempt only where it is not full. */
function poolsOf(ids: readonly string[], counts: Counts = {}): CredentialPools {
  return {
    readyAtMs: () => 7_000,
    has: (_provider, id) => ids.includes(id),
    draw: (_planned, tried) => ids.find((id) => !tried.has(id)) ?? null,
    count: ({ pooled }) => {
      const state = counts[pooled?.id ?? ''];
      if (pooled === undefined || state === undefined) return undefined;
      return Promise.resolve(state === 'full' ? null : { ...pooled, counted: { minute: 1, tokens: 3 } });
    },
  };
}

/** Runs one route, whose attempts fail but on the credential `serving`; returns the credentials that were called with. */
async function run(
  pools: CredentialPools,
  serving: string | null,
  pooled: PooledChoice = { key: null, id: null },
): Promise<{ calls: PooledChoice[]; error: ApiError | null }> {
  const calls: PooledChoice[] = [];
  try {
    await runAttempts({
      plan: { routes: [{ route: { provider: 'openai' } as Route, pooled }] } as unknown as Plan,
      policy: { max_retries: 0 },
      clock: {
        now: () => 0,
        monotonic: () => 0,
        setTimer: () => ({ cancel: () => undefined }),
        sleep: () => Promise.resolve(),
      },
      random: seededRandom(7),
      budget: new RetryBudget(),
      breakers: { isOpen: () => false, run: (_route, attempt) => attempt(), report: () => undefined },
      signal: new AbortController().signal,
      account: 'acct_1',
      isCreate: false,
      pools,
      attempt: (on) => {
        if (on.pooled !== undefined) calls.push(on.pooled);
        return on.pooled?.id === serving
          ? Promise.resolve('served')
          : Promise.reject(new UpstreamError(throttled));
      },
    });
    return { calls, error: null };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { calls, error };
  }
}

const idsOf = ({ calls }: { calls: PooledChoice[] }): (string | null)[] => calls.map(({ id }) => id);

describe('attempts on the credentials of a provider', () => {
  it('a credential at its limit is not called: the next one is, and is counted', async () => {
    const { calls, error } = await run(poolsOf(['a', 'b', 'c'], { a: 'full', b: 'counted' }), 'b');
    expect(error).toBeNull();
    expect(calls).toEqual([{ key: null, id: 'b', counted: { minute: 1, tokens: 3 } }]);
  });

  it('a credential without limits follows those that are full', async () => {
    const { calls, error } = await run(poolsOf(['a', 'b', 'c'], { a: 'full', b: 'full' }), 'c');
    expect(error).toBeNull();
    expect(calls).toEqual([{ key: null, id: 'c' }]);
  });

  it('a credential that failed by itself is not drawn again, neither when it fails nor for a full one', async () => {
    const { calls, error } = await run(poolsOf(['a', 'b', 'c', 'd'], { b: 'full', c: 'counted' }), 'd');
    expect(error).toBeNull();
    expect(calls.map(({ id }) => id)).toEqual(['a', 'c', 'd']);
  });

  it('four credentials follow the first, and no more', async () => {
    const many = await run(poolsOf(['a', 'b', 'c', 'd', 'e', 'f', 'g']), null);
    expect(idsOf(many)).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(many.error?.status).toBe(429);
    const few = await run(poolsOf(['a', 'b']), null);
    expect(idsOf(few)).toEqual(['a', 'b']);
    expect(few.error?.status).toBe(429);
  });

  it('all at their limits are 503 with the time at which one may serve', async () => {
    const { calls, error } = await run(poolsOf(['a', 'b'], { a: 'full', b: 'full' }), 'a');
    expect(calls).toEqual([]);
    expect([error?.code, error?.options.retryAfterSeconds]).toEqual(['provider_not_available', 7]);
  });

  it('an object that is of use on one credential alone stays there, whatever its limits say', async () => {
    const { calls, error } = await run(poolsOf(['a', 'b'], { b: 'full' }), 'b', {
      key: null,
      id: 'b',
      isFixed: true,
    });
    expect(error).toBeNull();
    expect(calls).toEqual([{ key: null, id: 'b', isFixed: true }]);
  });
});
