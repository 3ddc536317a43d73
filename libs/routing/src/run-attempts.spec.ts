import {
  ApiError,
  UpstreamError,
  type ApiErrorOptions,
  type Route,
  type UpstreamErrorOptions,
} from '@gateway/contracts';
import { seededRandom } from '@gateway/testing/plain';
import type { Plan } from './plan.js';
import { RetryBudget, runAttempts, type Breakers } from './run-attempts.js';

const overloaded: UpstreamErrorOptions = {
  code: 'upstream_error',
  providerCode: 'provider_overloaded',
  status: 503,
  message: 'OpenAI: busy',
  httpStatus: 503,
  retryable: true,
  fallback: true,
  countsAsFault: true,
  fault: 'service',
};
const throttled: UpstreamErrorOptions = {
  ...overloaded,
  providerCode: 'rate_limit_exceeded',
  status: 429,
  httpStatus: 429,
};
const refused: UpstreamErrorOptions = {
  ...overloaded,
  code: 'invalid_request',
  providerCode: 'invalid_request',
  status: 400,
  httpStatus: 400,
  retryable: false,
  fallback: false,
  fault: 'caller',
};

const breakers: Breakers = {
  isOpen: () => false,
  run: (_route, attempt) => attempt(),
  report: () => undefined,
};

function planOf(...providers: string[]): Plan {
  return { routes: providers.map((provider) => ({ route: { provider } as Route })) } as Plan;
}

interface Outcome {
  calls: string[];
  waits: number[];
  value: string | null;
  error: ApiError | null;
}

async function run(
  plan: Plan,
  script: (UpstreamErrorOptions | Error | null)[],
  policy = {},
  budget = new RetryBudget(),
  isCreate = false,
): Promise<Outcome> {
  const calls: string[] = [];
  const waits: number[] = [];
  const clock = {
    now: () => 0,
    monotonic: () => 0,
    setTimer: () => ({ cancel: () => undefined }),
    sleep: (ms: number) => {
      waits.push(ms);
      return Promise.resolve();
    },
  };
  const options = {
    plan,
    policy,
    clock,
    random: seededRandom(7),
    budget,
    breakers,
    signal: new AbortController().signal,
    account: 'acct_1',
    isCreate,
    attempt: ({ route }: { route: Route }, n: number): Promise<string> => {
      calls.push(route.provider);
      const next = script[n - 1];
      if (next instanceof Error) return Promise.reject(next);
      return next ? Promise.reject(new UpstreamError(next)) : Promise.resolve(`served by ${route.provider}`);
    },
  };
  try {
    return { calls, waits, value: await runAttempts(options), error: null };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { calls, waits, value: null, error };
  }
}

describe('attempts', () => {
  it('ROUTE-01 retries the same route with back-off, then serves', async () => {
    const { calls, value, waits } = await run(planOf('a', 'b'), [overloaded, overloaded, null]);
    expect(calls).toEqual(['a', 'a', 'a']);
    expect(value).toBe('served by a');
    expect(waits).toHaveLength(2);
    expect(waits.every((wait) => wait >= 0 && wait <= 200)).toBe(true);
  });

  it('ROUTE-01 falls back to the next route when retries are used up', async () => {
    expect((await run(planOf('a', 'b'), [overloaded, overloaded, overloaded, null])).calls).toEqual([
      'a',
      'a',
      'a',
      'b',
    ]);
    expect((await run(planOf('a', 'b'), [overloaded, null], { max_retries: 0 })).calls).toEqual(['a', 'b']);
  });

  it('goes to the next route at once when throttled, and waits out a short Retry-After only where there is none', async () => {
    expect((await run(planOf('a', 'b'), [throttled, null])).calls).toEqual(['a', 'b']);
    const alone = await run(planOf('a'), [{ ...throttled, retryAfterMs: 1_500 }, null]);
    expect(alone.calls).toEqual(['a', 'a']);
    expect(alone.waits[0]).toBeGreaterThanOrEqual(1_500);
    expect((await run(planOf('a'), [{ ...throttled, retryAfterMs: 30_000 }])).calls).toEqual(['a']);
  });

  it('waits out a Retry-After of 2 s, and no longer one', async () => {
    const asked = (retryAfterMs: number): Promise<Outcome> =>
      run(planOf('a'), [{ ...throttled, retryAfterMs }, null]);
    expect((await asked(2_000)).waits).toEqual([2_000]);
    expect((await asked(2_001)).waits).toEqual([]);
  });

  it('doubles the back-off up to 2 s', async () => {
    const failing = Array.from({ length: 9 }, () => overloaded);
    const budget = new RetryBudget();
    for (let n = 0; n < 100; n += 1) budget.earn('a');
    const { waits } = await run(planOf('a'), failing, { max_retries: 8, retry_backoff_ms: 1_000 }, budget);
    const bounds = [1_000, ...Array.from({ length: 7 }, () => 2_000)];
    const random = seededRandom(7);
    expect(waits).toEqual(bounds.map((bound) => random.fraction() * bound));
  });

  it('tries no other route with a provider key that its provider has refused', async () => {
    const keyed = (provider: string, id?: string) =>
      ({
        route: { provider },
        ...(id === undefined ? {} : { providerKey: { id } }),
      }) as Plan['routes'][number];
    const plan = { routes: [keyed('a', 'k1'), keyed('b', 'k1'), keyed('c', 'k2'), keyed('d')] } as Plan;
    const unauthorized: UpstreamErrorOptions = { ...refused, fallback: true, fault: 'account' };
    expect((await run(plan, [unauthorized, unauthorized, null])).calls).toEqual(['a', 'c', 'd']);
    const service: UpstreamErrorOptions = { ...unauthorized, fault: 'service' };
    expect((await run(plan, [service, null])).calls).toEqual(['a', 'b']);
    const throttledKey: UpstreamErrorOptions = { ...throttled, fault: 'account' };
    expect((await run(plan, [throttledKey, null])).calls).toEqual(['a', 'b']);
  });

  it.each<[string, Partial<UpstreamErrorOptions>]>([
    ['a 500', { httpStatus: 500, status: 502 }],
    ['a 503', {}],
    ['a time-out', { code: 'gateway_timeout', httpStatus: null }],
    ['a connection that broke', { providerCode: 'connection_error', httpStatus: null }],
  ])('ROUTE-01 makes no second attempt to create after %s: the first may have begun', async (_name, more) => {
    const { calls, error } = await run(
      planOf('a', 'b'),
      [{ ...overloaded, ...more }],
      {},
      new RetryBudget(),
      true,
    );
    expect(calls).toEqual(['a']);
    expect(error?.options.attempts).toBeUndefined();
  });

  it('ROUTE-01 creates again, there and elsewhere, after failures that prove that nothing was begun', async () => {
    const create = (...script: (UpstreamErrorOptions | null)[]): Promise<Outcome> =>
      run(planOf('a', 'b', 'c'), script, { max_retries: 1 }, new RetryBudget(), true);
    const unreached: UpstreamErrorOptions = { ...overloaded, httpStatus: null, notBegun: 'not_connected' };
    const busy: UpstreamErrorOptions = { ...throttled, notBegun: 'refused' };
    expect((await create(unreached, unreached, busy, null)).calls).toEqual(['a', 'a', 'b', 'c']);
    expect((await create(busy, overloaded)).calls).toEqual(['a', 'b']);
  });

  it('never repeats what is the caller’s fault', async () => {
    const { calls, error } = await run(planOf('a', 'b'), [refused]);
    expect(calls).toEqual(['a']);
    expect(error?.code).toBe('invalid_request');
    expect(error?.status).toBe(400);
    expect(error?.options.attempts).toBeUndefined();
  });

  it('answers the last failure with every attempt listed and no provider named in the list', async () => {
    const { error } = await run(planOf('a', 'b'), [throttled, { ...overloaded, retryAfterMs: 3_000 }], {
      max_retries: 0,
    });
    expect(error?.status).toBe(503);
    expect(error?.options.retryAfterSeconds).toBe(3);
    expect(error?.options.attempts).toEqual([
      { n: 1, code: 'upstream_error', provider_code: 'rate_limit_exceeded', status: 429, fault: 'service' },
      { n: 2, code: 'upstream_error', provider_code: 'provider_overloaded', status: 503, fault: 'service' },
    ]);
  });

  it('ERR-18 upstream_error carries Retry-After as the table says, 502 too: a minute at most, whatever is asked for', async () => {
    const failed = async (more: Partial<UpstreamErrorOptions>): Promise<ApiErrorOptions | undefined> =>
      (await run(planOf('a'), [{ ...overloaded, ...more }], { max_retries: 0 })).error?.options;
    expect(await failed({ status: 502 })).toMatchObject({ status: 502, retryAfterSeconds: 5 });
    for (const status of [429, 502, 503])
      expect(await failed({ status, retryAfterMs: 99_999_999_000 })).toMatchObject({ retryAfterSeconds: 60 });
    expect(await failed({ code: 'gateway_timeout', status: 504 })).not.toHaveProperty('retryAfterSeconds');
  });

  it('ERR-48 a provider key whose month is used up is 429 that SDKs are not to retry, a throttled one is', async () => {
    const monthly = { ...throttled, code: 'upstream_rate_limit_error', retryable: false } as const;
    const { error } = await run(planOf('a'), [{ ...monthly, fault: 'account' }]);
    const busy = await run(planOf('a'), [throttled], { max_retries: 0 });
    expect([error?.status, error?.options.shouldRetry]).toEqual([429, false]);
    expect([busy.error?.status, busy.error?.options.shouldRetry]).toEqual([429, undefined]);
  });

  it('lets a bug through untouched instead of trying the next route', async () => {
    await expect(run(planOf('a', 'b'), [new TypeError('bug')])).rejects.toThrow(TypeError);
  });

  it.each([0, 10_000])(
    'U03 amplifies by at most 1.2 when everything fails, after %i good requests',
    async (good) => {
      const budget = new RetryBudget();
      for (let request = 0; request < good; request += 1) budget.earn('a');
      let calls = 0;
      for (let request = 0; request < 1_000; request += 1)
        calls += (await run(planOf('a'), [overloaded, overloaded, overloaded], {}, budget)).calls.length;
      expect(calls).toBeLessThanOrEqual(1_200);
      expect(calls).toBeGreaterThan(1_100);
    },
  );
});
