import { fixedClock, LimitStoreDouble, type FixedClock } from '@gateway/testing';
import { SystemRandom } from '@gateway/platform';
import { pino } from 'pino';
import { Freshness } from './freshness.js';

let clock: FixedClock;
let limits: LimitStoreDouble;
let freshness: Freshness;

beforeEach(() => {
  clock = fixedClock('2026-11-24T12:00:00.000Z');
  limits = new LimitStoreDouble({ clock, random: new SystemRandom() });
  freshness = new Freshness(limits, clock, pino({ level: 'silent' }), { reportDueOf: async () => false });
});

const finish = (unit: string): Promise<void> =>
  limits.put([
    {
      ...{ accountId: 'acct_1', unit, action: 'settle', nano: 0n, tokens: 40, tokenEstimate: 40 },
      ...{ scopes: [{ kind: 'key', id: 'key_1' }], minute: 0, leaseMs: 0 },
    },
  ]);
const post = async (unit: string): Promise<void> => {
  const total = { accountId: 'acct_1', gen: null, version: 1, balanceNano: 0n, scopes: [] };
  await limits.mirror({ ...total, units: [{ unit, crash: false }] });
};

/** @returns how long it is until the read goes on, in steps of 10 ms, while something happens in each */
async function waitOf(step: (elapsedMs: number) => Promise<void> | undefined): Promise<number> {
  let isOver = false;
  const over = freshness.posted('acct_1').then(() => (isOver = true));
  await clock.advance(0);
  let elapsed = 0;
  for (; !isOver && elapsed < 10_000; elapsed += 10) {
    await step(elapsed);
    await clock.advance(10);
  }
  await over;
  return elapsed;
}

describe('how long a read waits for the ledger', () => {
  it('LIM-19 does not wait where nothing is unposted', async () => {
    expect(await waitOf(() => undefined)).toBe(0);
  });

  it('LIM-19 waits for a posting that comes two seconds late', async () => {
    await finish('req_1/0');
    const waited = await waitOf((at) => (at === 2_000 ? post('req_1/0') : undefined));
    expect(waited).toBeGreaterThan(2_000);
    expect(waited).toBeLessThanOrEqual(2_110);
  });

  it('LIM-19 is not held up by the traffic that goes on: what finishes later is not waited for', async () => {
    await finish('req_0/0');
    // A unit finishes every 50 ms and is posted 400 ms later: at no moment is nothing unposted.
    const waited = await waitOf(async (at) => {
      if (at % 50 !== 0) return;
      await finish(`req_${at / 50 + 1}/0`);
      if (at >= 400) await post(`req_${at / 50 - 8}/0`);
    });
    expect(waited).toBeGreaterThan(400);
    expect(waited).toBeLessThanOrEqual(900);
  });

  it('LIM-19 READ-01 answers with what is posted after three seconds, while no event comes through', async () => {
    await finish('req_1/0');
    const waited = await waitOf(() => undefined);
    expect(waited).toBeGreaterThanOrEqual(3_000);
    expect(waited).toBeLessThanOrEqual(3_110);
  });
});
