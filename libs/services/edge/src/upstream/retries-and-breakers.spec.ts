import { UpstreamError, type Route } from '@gateway/contracts';
import { RetryBudget, runAttempts, type Plan } from '@gateway/routing';
import { seededRandom } from '@gateway/testing/plain';
import { CircuitBreakers } from '@gateway/upstream';
import fc from 'fast-check';

const route = { provider: 'p', upstreamModel: 'm' } as Route;
const plan = { routes: [{ route }] } as unknown as Plan;
const clock = {
  ...{ now: () => 0, monotonic: () => 0, sleep: () => Promise.resolve() },
  setTimer: () => ({ cancel: () => undefined }),
};
const failure = new UpstreamError({
  ...{ code: 'upstream_error', message: 'x', httpStatus: 500 },
  ...{ retryable: true, fallback: true, countsAsFault: true, fault: 'service' },
});

/** Counts the failing requests of one account, and their calls, until the route's breaker is open to it. */
async function untilOpen(good: number, max_retries: number): Promise<{ requests: number; calls: number }> {
  const random = seededRandom(7);
  const breakers = new CircuitBreakers(clock, random);
  const budget = new RetryBudget();
  for (let request = 0; request < good; request += 1) budget.earn('p');
  let [requests, calls] = [0, 0];
  while (!breakers.isOpen(route, undefined, 'acct_1')) {
    requests += 1;
    const attempt = (): Promise<never> => {
      calls += 1;
      return Promise.reject(failure);
    };
    await runAttempts({
      ...{ plan, policy: { max_retries }, clock, random, budget, breakers, attempt },
      ...{ signal: new AbortController().signal, account: 'acct_1', isCreate: false },
    }).catch(() => undefined);
  }
  return { requests, calls };
}

describe('retries and the breaker of a route', () => {
  it('A8 U02 it takes more than five requests, and fewer than 20 calls, whatever they retry and was saved for retries', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 200 }),
        fc.integer({ min: 0, max: 8 }),
        async (good, retries) => {
          const { requests, calls } = await untilOpen(good, retries);
          expect(requests).toBeGreaterThan(5);
          expect(calls).toBeLessThan(20);
        },
      ),
    );
  });
});
