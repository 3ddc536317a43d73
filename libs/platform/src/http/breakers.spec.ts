import { UpstreamError, type Route } from '@gateway/contracts';
import { SystemClock } from '../time/system-clock.js';
import { OpossumBreakers } from './breakers.js';

const route = { provider: 'p', upstreamModel: 'm' } as Route;
const other = { provider: 'q', upstreamModel: 'm' } as Route;

function failure(countsAsFault: boolean): UpstreamError {
  return new UpstreamError({
    code: 'upstream_error',
    message: 'x',
    httpStatus: 500,
    retryable: true,
    fallback: true,
    countsAsFault,
    fault: 'service',
  });
}

describe('the breakers', () => {
  let breakers: OpossumBreakers;
  beforeEach(
    () =>
      (breakers = new OpossumBreakers(new SystemClock(), {
        fraction: () => 0.5,
        bytes: (size) => new Uint8Array(size),
      })),
  );
  afterEach(() => breakers.close());

  async function fail(times: number, countsAsFault = true): Promise<void> {
    for (let n = 0; n < times; n += 1)
      await breakers.run(route, () => Promise.reject(failure(countsAsFault))).catch(() => undefined);
  }

  it('passes values and failures through while closed', async () => {
    expect(await breakers.run(route, () => Promise.resolve(7))).toBe(7);
    expect(await breakers.run(route, () => Promise.resolve(undefined))).toBeUndefined();
    await expect(breakers.run(route, () => Promise.reject(failure(true)))).rejects.toBeInstanceOf(
      UpstreamError,
    );
  });

  it('U02 opens within 20 failures, for that route only, and answers provider_not_available without a call', async () => {
    await fail(19);
    expect(breakers.isOpen(route)).toBe(false);
    await fail(1);
    expect(breakers.isOpen(route)).toBe(true);
    expect(breakers.isOpen(other)).toBe(false);
    let called = false;
    const refused = breakers.run(route, () => Promise.resolve((called = true)));
    await expect(refused).rejects.toMatchObject({
      options: { code: 'provider_not_available', fallback: true, countsAsFault: false },
    });
    expect(called).toBe(false);
  });

  it('does not count what is not the provider’s fault', async () => {
    await fail(40, false);
    expect(breakers.isOpen(route)).toBe(false);
  });

  it('counts streams that die after their headers, reported by hand', () => {
    for (let n = 0; n < 20; n += 1) breakers.report(route, failure(true));
    return new Promise<void>((resolve) => setImmediate(resolve)).then(() =>
      expect(breakers.isOpen(route)).toBe(true),
    );
  });
});
