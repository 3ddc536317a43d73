import { InProcessLimitStore } from '@gateway/limits';
import { fixedClock, seededRandom } from '@gateway/testing/plain';
import { StoreWatch } from './store-watch.js';

/** A store that is emptied, taken away and given back, and what was put again into it. */
function setUp() {
  const clock = fixedClock('2026-01-01T00:00:00Z');
  const random = seededRandom(1);
  let store = new InProcessLimitStore({ clock, random });
  const state = { isUnavailable: false, fails: false, puts: 0, losses: 0 };
  let release: (() => void) | null = null;
  const watch = new StoreWatch({
    limits: {
      watched: () => ['acct_watch'],
      admit: async (asked) => {
        if (state.isUnavailable) return { kind: 'stale', gen: 'local', withoutStore: 'unasked' };
        return store.admit(asked);
      },
    },
    clock,
    random,
    resubmit: async () => {
      if (release !== null) await new Promise<void>((done) => (release = done));
      if (state.fails) throw new Error('away again');
      state.puts += 1;
    },
    onLoss: () => void (state.losses += 1),
  });
  const empty = (): void => void (store = new InProcessLimitStore({ clock, random }));
  return { clock, state, watch, empty, hold: () => (release = () => undefined), let: () => release?.() };
}

describe('StoreWatch', () => {
  it('puts again at the start, after a loss, and not in between', async () => {
    const { clock, state, watch, empty } = setUp();
    watch.start();
    await clock.advance(1_000);
    expect(state).toMatchObject({ puts: 1, losses: 0 });
    empty();
    await clock.advance(250);
    expect(state).toMatchObject({ puts: 2, losses: 1 });
    await clock.advance(1_000);
    expect(state.puts).toBe(2);
    watch.stop();
    await clock.advance(250);
    expect(clock.pendingTimers).toBe(0);
  });

  it('tries again until everything got there, and takes an absent store for no loss', async () => {
    const { clock, state, watch, empty } = setUp();
    watch.start();
    await clock.advance(0);
    state.isUnavailable = true;
    await clock.advance(2_000);
    expect(state).toMatchObject({ puts: 1, losses: 0 });
    state.isUnavailable = false;
    state.fails = true;
    empty();
    await clock.advance(2_000);
    expect(state).toMatchObject({ puts: 1, losses: 1 });
    state.fails = false;
    await clock.advance(250);
    expect(state.puts).toBe(2);
    watch.stop();
  });

  it('lets an admission wait for its own units and, after a loss, for those of other processes', async () => {
    const { clock, state, watch, empty } = setUp();
    watch.start();
    await clock.advance(0);
    await watch.settled();
    empty();
    const told: string[] = [];
    const waiting = watch.settled().then(() => void told.push('settled'));
    await clock.advance(399);
    expect([state.puts, told]).toEqual([2, []]);
    await clock.advance(1);
    await waiting;
    expect(told).toEqual(['settled']);
    watch.stop();
  });

  it('says 503 service_unavailable where units cannot be put again in time', async () => {
    const { clock, watch, empty, hold } = setUp();
    watch.start();
    await clock.advance(0);
    hold();
    empty();
    const settled = expect(watch.settled()).rejects.toMatchObject({ code: 'service_unavailable' });
    await clock.advance(1_500);
    await settled;
    watch.stop();
  });
});
