import type { ScriptRunner } from '@gateway/limits';
import { fixedClock } from '@gateway/testing';
import { RedisBreaker } from './redis-breaker.js';

const SCRIPT = { name: 'test', sha: '', lua: '' };

/** A node whose commands all time out, `lateMs` after their bound. */
function setUp(lateMs = 0) {
  const clock = fixedClock('2026-01-01T00:00:00Z');
  const node = { calls: 0, probes: 0, reconnects: 0, isWell: false };
  const timeOut = async (): Promise<never> => {
    await clock.sleep(25 + lateMs);
    throw new Error('Command timed out');
  };
  const runner: ScriptRunner = {
    runId: () => 'a'.repeat(40),
    run: () => {
      node.calls += 1;
      return node.isWell ? Promise.resolve('ok') : timeOut();
    },
  };
  const probe = (): Promise<unknown> => {
    node.probes += 1;
    return node.isWell ? Promise.resolve('PONG') : timeOut();
  };
  const reconnect = (): void => void (node.reconnects += 1);
  const breaker = new RedisBreaker({ runner, probe, reconnect, clock, commandTimeoutMs: 25 });
  const call = async (): Promise<string> => {
    const answer = breaker.run(SCRIPT, ['k'], []).then(String, (error: Error) => error.message);
    await clock.advance(25 + lateMs);
    return answer;
  };
  return { clock, node, breaker, call };
}

describe('RedisBreaker', () => {
  it('R05 opens after 5 timeouts within a second and then fails at once, without asking', async () => {
    const { node, breaker, call } = setUp();
    for (let n = 0; n < 5; n += 1) expect(await call()).toBe('Command timed out');
    expect(breaker.isOpen).toBe(true);
    await expect(breaker.run(SCRIPT, ['k'], [])).rejects.toThrow('not asked');
    expect(node.calls).toBe(5);
    breaker.close();
  });

  it('R05 stays closed while timeouts come slower than 5 a second', async () => {
    const { clock, breaker, call } = setUp();
    for (let n = 0; n < 20; n += 1) {
      await call();
      await clock.advance(230);
    }
    expect(breaker.isOpen).toBe(false);
  });

  it('does not count a timeout whose own timer was late: the event loop was busy, not Redis', async () => {
    const late = setUp(10);
    const onTime = setUp(9);
    for (let n = 0; n < 6; n += 1) await Promise.all([late.call(), onTime.call()]);
    expect([late.breaker.isOpen, onTime.breaker.isOpen]).toEqual([false, true]);
    onTime.breaker.close();
  });

  it('asks for a sign of life every 250 ms and closes with the first one', async () => {
    const { clock, node, breaker, call } = setUp();
    for (let n = 0; n < 5; n += 1) await call();
    await clock.advance(249);
    expect(node.probes).toBe(0);
    await clock.advance(1);
    expect(node.probes).toBe(1);
    await clock.advance(275);
    expect(node.probes).toBe(2);
    node.isWell = true;
    await clock.advance(275);
    expect(breaker.isOpen).toBe(false);
    expect(await call()).toBe('ok');
    expect(clock.pendingTimers).toBe(0);
  });

  it('makes the connection anew while no probe is answered, and tells that it is away', async () => {
    const { clock, node, breaker, call } = setUp();
    expect(breaker.isAway('k')).toBe(false);
    for (let n = 0; n < 5; n += 1) await call();
    expect(breaker.isAway('k')).toBe(true);
    await clock.advance(16 * 275);
    expect([node.probes, node.reconnects]).toEqual([16, 2]);
    breaker.close();
  });
});
