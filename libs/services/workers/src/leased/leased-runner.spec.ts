import { SystemClock, SystemRandom } from '@gateway/platform';
import { eventually } from '@gateway/testing/plain';
import { pino } from 'pino';
import type { WorkersConfig } from '../workers.config.js';
import { LeasedRunner } from './leased-runner.js';

/** Clock whose sleepers wait until the test opens the gate. */
class GatedClock extends SystemClock {
  readonly slept: number[] = [];
  open = (): void => undefined;
  private readonly gate = new Promise<void>((resolve) => (this.open = resolve));

  override sleep(ms: number): Promise<void> {
    this.slept.push(ms);
    return this.gate;
  }
}

describe('LeasedRunner', () => {
  it('takes work that failed at once again after a second, and keeps its lease until then', async () => {
    const clock = new GatedClock();
    const done: string[] = [];
    const runner = new LeasedRunner(
      {
        noun: 'work',
        atOnce: 1,
        claim: async () => ({ id: 'one', account_id: 'acct' }),
        renew: async () => true,
        release: async () => void done.push('release'),
        run: async () => {
          done.push('run');
          throw new Error('the disk is full');
        },
      },
      { WORKERS_LEASE_MS: 60_000 } as WorkersConfig,
      clock,
      new SystemRandom(),
      pino({ level: 'silent' }),
    );
    runner.onApplicationBootstrap();
    await eventually(() => clock.slept.length > 0, { timeoutMs: 60_000 });
    expect([done, clock.slept]).toEqual([['run'], [1_000]]);
    clock.open();
    await eventually(() => done.length > 3, { timeoutMs: 60_000 });
    await runner.beforeApplicationShutdown();
    expect(done.slice(0, 4)).toEqual(['run', 'release', 'run', 'release']);
  });

  it('gives an account at most as many places as it leaves free, so that another one finds one', async () => {
    const clock = new GatedClock();
    const waiting = Array.from('aaaaaaaabbbc', (account_id, n) => ({ id: String(n), account_id }));
    const runs: string[] = [];
    const runner = new LeasedRunner(
      {
        noun: 'work',
        atOnce: 8,
        claim: async (_worker, _leaseMs, served) => {
          const at = waiting.findIndex(({ account_id }) => !served.includes(account_id));
          return at === -1 ? null : waiting.splice(at, 1)[0];
        },
        renew: async () => true,
        release: async () => undefined,
        run: async ({ account_id }) => {
          runs.push(account_id);
          await clock.sleep(1);
        },
      },
      { WORKERS_LEASE_MS: 60_000 } as WorkersConfig,
      clock,
      new SystemRandom(),
      pino({ level: 'silent' }),
    );
    runner.onApplicationBootstrap();
    await eventually(() => runs.includes('c'), { timeoutMs: 60_000 });
    expect(runs.join('')).toBe('aaaabbc');
    clock.open();
    await eventually(() => waiting.length === 0, { timeoutMs: 60_000 });
    await runner.beforeApplicationShutdown();
  });
});
