import { ReadinessChecks } from '@gateway/platform';
import { FixedClock } from '@gateway/testing';
import { PrincipalWarmer } from './principal-warmer.js';

const never = (): Promise<never> => new Promise(() => {});

describe('PrincipalWarmer', () => {
  let clock: FixedClock;
  let readiness: ReadinessChecks;
  let lines: string[];
  beforeEach(() => {
    clock = new FixedClock('2026-11-01T00:00:00Z');
    readiness = new ReadinessChecks();
    lines = [];
  });

  function warmer(
    read: (untilMs: number) => Promise<string[]>,
    warm: (digests: readonly string[], untilMs: number) => Promise<number>,
  ): PrincipalWarmer {
    const say = (fields: object, text: string): void => void lines.push(text);
    return new PrincipalWarmer({ read }, { warm }, clock, { info: say, warn: say });
  }

  it('operations 9: an edge is ready once the keys of the last hour are there', async () => {
    let fetched!: (count: number) => void;
    const warmed = warmer(
      async () => ['a', 'b'],
      (digests) => {
        expect(digests).toEqual(['a', 'b']);
        return new Promise((resolve) => (fetched = resolve));
      },
    ).warm(readiness);
    await clock.advance(9_999);
    expect(readiness.faults()).toEqual({ principals: 'the keys of the last hour are being fetched' });
    fetched(2);
    await warmed;
    expect(readiness.faults()).toEqual({});
    expect(lines).toEqual(['keys of the last hour were fetched']);
  });

  it.each([
    ['Redis is away', () => Promise.reject(new Error('away')), never],
    ['the keys service is away', async () => ['a'], () => Promise.reject(new Error('away'))],
  ])('is ready at once where %s', async (_, read, warm) => {
    await warmer(read, warm).warm(readiness);
    expect(readiness.faults()).toEqual({});
    expect(lines).toEqual(['the keys of the last hour could not be fetched, each is looked up']);
  });

  it.each([
    ['Redis', never, never],
    ['the keys service', async () => ['a'], never],
  ])('is ready after 10 s where %s never answers', async (_, read, warm) => {
    const warmed = warmer(read, warm).warm(readiness);
    await clock.advance(10_000);
    await warmed;
    expect(readiness.faults()).toEqual({});
    expect(lines).toEqual(['the keys of the last hour could not be fetched, each is looked up']);
  });
});
