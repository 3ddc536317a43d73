import type { FixedClock } from '@gateway/testing/plain';
import { fixedClock, seededRandom } from '@gateway/testing/plain';
import { BatchPace } from './batch-pace.js';

describe('pace of batch lines', () => {
  let clock: FixedClock;
  let pace: BatchPace;
  let begun: number;

  beforeEach(() => {
    clock = fixedClock('2026-11-23T12:00:00Z');
    pace = new BatchPace(clock, seededRandom(1), 10);
    begun = 0;
  });

  /** Starts so many lines that ask at once. */
  function lines(count: number, account = 'a'): Promise<PromiseSettledResult<void>[]> {
    const asked = Array.from({ length: count }, () => pace.turn(account).then(() => void (begun += 1)));
    return Promise.allSettled(asked);
  }

  /** A second in which callers ask ten times. */
  async function secondWithCallers(): Promise<void> {
    for (let at = 0; at < 10; at += 1) {
      pace.callerMs = clock.monotonic();
      await clock.advance(100);
    }
  }

  it('BAT-01 lets every line begin at once where no caller is there', async () => {
    await lines(1_000);
    expect(begun).toBe(1_000);
  });

  it('BAT-01 beside callers ten begin at once, then ten together every second', async () => {
    pace.callerMs = clock.monotonic();
    void lines(25);
    void lines(20, 'b');
    await clock.advance(0);
    expect(begun).toBe(10);
    await clock.advance(999 - (clock.monotonic() % 1_000));
    expect(begun).toBe(10);
    await clock.advance(1);
    expect(begun).toBe(20);
    await secondWithCallers();
    expect(begun).toBe(30);
    await clock.advance(2_000);
    expect([begun, clock.pendingTimers]).toEqual([45, 0]);
  });

  it('BAT-01 a second after the last request of a caller lines begin at once again', async () => {
    pace.callerMs = clock.monotonic();
    await lines(10);
    await clock.advance(1_001);
    await lines(100);
    expect(begun).toBe(110);
  });

  it('BAT-01 a rest is worth ten lines, however long it was', async () => {
    pace.callerMs = clock.monotonic();
    await lines(10);
    await clock.advance(60_000);
    pace.callerMs = clock.monotonic();
    void lines(30);
    await clock.advance(0);
    expect(begun).toBe(20);
    await clock.advance(2_000);
    expect(begun).toBe(40);
  });

  it('BAT-01 A7 refuses a line with 503 where 32 of its account wait, to be sent again; others find their turn', async () => {
    pace.callerMs = clock.monotonic();
    void lines(42);
    const refused = pace.turn('a');
    await expect(refused).rejects.toMatchObject({ status: 503, code: 'service_unavailable' });
    void lines(16, 'b');
    await expect(pace.turn('b')).rejects.toMatchObject({ status: 503 });
    await clock.advance(7_000);
    expect([begun, clock.pendingTimers]).toEqual([58, 0]);
  });
});
