import { FixedClock, seededRandom } from '@gateway/testing/plain';
import { ExportsUnderWay, type Place } from './exports-under-way.js';

const MIB = 1_048_576;

describe('exports under way', () => {
  let clock: FixedClock;
  let underWay: ExportsUnderWay;
  let begun: Place[];
  let closed: number[];
  beforeEach(() => {
    clock = new FixedClock('2026-01-01T00:00:00.000Z');
    underWay = new ExportsUnderWay(clock, seededRandom(1));
    begun = [];
    closed = [];
  });
  const refusalOf = (n: number): string | undefined => {
    try {
      const place: Place = underWay.begin(`acct_${n}`, () => closed.push(begun.indexOf(place)));
      begun.push(place);
      return undefined;
    } catch (failure) {
      return (failure as { code: string }).code;
    }
  };
  const refusals = (...accounts: number[]): (string | undefined)[] => accounts.map(refusalOf);

  it('READ-40 429 for a fifth of one account, until one of its own ends', () => {
    expect(refusals(1, 1, 1, 1, 1)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      'rate_limit_exceeded',
    ]);
    // A place is given back once, however often its end is noticed.
    for (const _ of [1, 2]) begun[0].end();
    expect(refusals(1, 1)).toEqual([undefined, 'rate_limit_exceeded']);
  });

  it('READ-40 two accounts with readers who do not end leave a place for a third and a fourth; 503 when none is free', () => {
    refusals(1, 1, 1, 1, 2, 2);
    expect(refusals(1, 2)).toEqual(['rate_limit_exceeded', 'rate_limit_exceeded']);
    expect(refusals(3, 3, 4, 5, 2)).toEqual([
      undefined,
      'rate_limit_exceeded',
      undefined,
      'service_unavailable',
      'rate_limit_exceeded',
    ]);
    for (const place of begun) place.end();
    expect(refusals(1, 1, 1, 1)).toEqual(Array(4).fill(undefined));
  });

  /** A file of parts of a MiB each, of which the reader takes one after the other. */
  const file = (place: Place): AsyncGenerator<string> =>
    place.timed(
      (async function* () {
        for (;;) yield await Promise.resolve('x'.repeat(MIB));
      })(),
    );
  const fill = (): undefined => void refusals(1, 1, 1, 1, 2, 2, 3, 4);

  it('READ-40 a fifth account takes the place of the slowest of four accounts with readers who do not end', async () => {
    fill();
    // 16 s are what the pace allows for a MiB: 26 s are the most that a reader may take for one.
    await file(begun[5]).next();
    await clock.advance(1);
    await file(begun[2]).next();
    await clock.advance(26_000);
    expect(refusals(5)).toEqual([undefined]);
    expect(closed).toEqual([5]);
    expect(refusals(6)).toEqual(['service_unavailable']);
    await clock.advance(1);
    expect(refusals(6, 7)).toEqual([undefined, 'service_unavailable']);
    expect(closed).toEqual([5, 2]);
  });

  it('READ-40 503 while nobody is slow: neither one who keeps the pace nor one whose events are sought', async () => {
    fill();
    const paced = file(begun[0]);
    const query = begun[1].timed(
      (async function* () {
        yield 'header';
        await clock.sleep(3_600_000);
        yield 'row';
      })(),
    );
    await query.next();
    void query.next();
    for (let part = 0; part < 100; part += 1) {
      await paced.next();
      await clock.advance(16_000);
    }
    expect(refusals(5)).toEqual(['service_unavailable']);
    expect(closed).toEqual([]);
  });

  it('READ-40 a reader who was fast has no time left from it', async () => {
    fill();
    const parts = file(begun[0]);
    for (let part = 0; part < 100; part += 1) await parts.next();
    await clock.advance(26_001);
    expect(refusals(5)).toEqual([undefined]);
    expect(closed).toEqual([0]);
  });

  it('READ-40 an account that has exports takes no place of another', async () => {
    fill();
    await file(begun[0]).next();
    await clock.advance(3_600_000);
    expect(refusals(4)).toEqual(['rate_limit_exceeded']);
    expect(closed).toEqual([]);
  });
});
