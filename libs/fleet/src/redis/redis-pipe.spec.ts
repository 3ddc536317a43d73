import { EventEmitter } from 'node:events';
import type { Clock } from '@gateway/contracts';
import { fixedClock } from '@gateway/testing/plain';
import type { Redis } from 'ioredis';
import { RedisPipe } from './redis-pipe.js';

const SCRIPT = { name: 'test', sha: 'a'.repeat(40), lua: '' };
const START = '2026-11-21T00:00:00.000Z';
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

interface Command {
  resolve(answer: Buffer): void;
  reject(failure: Error): void;
}

/** A connection whose answers the test gives: a node that is well answers at once, another one not at all. */
class Node extends EventEmitter {
  readonly status = 'ready';
  readonly options = { host: 'h', port: 1 };
  readonly commands: Command[] = [];
  isWell = false;
  probes = 0;
  reconnects = 0;
  corks = 0;
  uncorks = 0;
  readonly stream = { cork: () => void (this.corks += 1), uncork: () => void (this.uncorks += 1) };

  sendCommand(command: Command): void {
    this.commands.push(command);
    if (this.isWell) setImmediate(() => command.resolve(Buffer.from('ok')));
  }
  info(): Promise<string> {
    return Promise.resolve(`run_id:${'b'.repeat(40)}\r\n`);
  }
  ping(): Promise<string> {
    this.probes += 1;
    return this.isWell ? Promise.resolve('PONG') : new Promise(() => undefined);
  }
  disconnect(): void {
    this.reconnects += 1;
  }
}

interface Asked {
  outcome: string | null;
  command: Command;
}

async function setUp(clock: Clock) {
  const node = new Node();
  const pipe = new RedisPipe({ client: node as unknown as Redis, clock, timeoutMs: 25 });
  await turn();
  const ask = (): Asked => {
    const prepared = pipe.prepare(SCRIPT, ['k'], []);
    const asked: Asked = { outcome: null, command: { resolve: () => undefined, reject: () => undefined } };
    pipe.send(prepared, [], (failure, answer) => {
      if (asked.outcome !== null) throw new Error('answered twice');
      asked.outcome = failure?.message ?? answer.toString();
    });
    asked.command = node.commands.at(-1) ?? asked.command;
    return asked;
  };
  return { node, pipe, ask };
}

describe('time of a call', () => {
  it('hands on what comes in time, and gives up each call at its own time, behind one timer', async () => {
    const clock = fixedClock(START);
    const { ask } = await setUp(clock);
    const [first, broken] = [ask(), ask()];
    await clock.advance(10);
    const second = ask();
    await turn();
    expect(clock.pendingTimers).toBe(1);
    broken.command.reject(new Error('refused'));
    await clock.advance(14);
    expect([first, broken, second].map(({ outcome }) => outcome)).toEqual([null, 'refused', null]);
    await clock.advance(1);
    await turn();
    expect([first.outcome, second.outcome]).toEqual(['Command timed out', null]);
    second.command.resolve(Buffer.from('in time'));
    first.command.resolve(Buffer.from('too late'));
    await clock.advance(100);
    expect([first.outcome, second.outcome, clock.pendingTimers]).toEqual(['Command timed out', 'in time', 0]);
  });

  it('what has arrived when the time is over still counts', async () => {
    const clock = fixedClock(START);
    const { ask } = await setUp(clock);
    const call = ask();
    await turn();
    const advanced = clock.advance(25);
    call.command.resolve(Buffer.from('just so'));
    await advanced;
    await turn();
    expect(call.outcome).toBe('just so');
  });

  it('one turn is one write, and calls of later turns are due later', async () => {
    const clock = fixedClock(START);
    const { node, ask } = await setUp(clock);
    for (let n = 0; n < 5; n += 1) ask();
    expect([node.corks, node.uncorks]).toEqual([1, 0]);
    await turn();
    expect([node.corks, node.uncorks]).toEqual([1, 1]);
    ask();
    await turn();
    expect([node.corks, node.uncorks]).toEqual([2, 2]);
  });

  /** A clock whose timers the test fires. */
  function handClock() {
    const hand = { now: 0, timers: [] as { at: number; fire: () => void }[] };
    const clock: Clock = {
      now: () => 0,
      monotonic: () => hand.now,
      sleep: () => Promise.resolve(),
      setTimer: (ms, fire) => {
        hand.timers.push({ at: hand.now + ms, fire });
        return { cancel: () => undefined };
      },
    };
    return { hand, clock };
  }

  it('a timer that fires late shows that this process was busy: the time is given once more, and once only', async () => {
    const { hand, clock } = handClock();
    const { ask } = await setUp(clock);
    hand.timers.length = 0;
    const call = ask();
    await turn();
    hand.now = 150;
    hand.timers.shift()?.fire();
    await turn();
    expect(call.outcome).toBeNull();
    hand.now = 300;
    hand.timers.shift()?.fire();
    await turn();
    expect([call.outcome, hand.timers.length]).toEqual(['Command timed out', 0]);
  });

  it('U14 the time begins with the end of the turn: what is asked before a large body is parsed leaves after it', async () => {
    const { hand, clock } = handClock();
    const { ask } = await setUp(clock);
    hand.timers.length = 0;
    ask();
    hand.now = 100;
    expect(hand.timers).toEqual([]);
    await turn();
    expect(hand.timers.map(({ at }) => at)).toEqual([125]);
  });
});

describe('a node that is slow', () => {
  /** A node that takes so many milliseconds for each call. */
  async function slow(ms: number) {
    const clock = fixedClock(START);
    const parts = await setUp(clock);
    const answer = async (waitMs: number): Promise<string | null> => {
      const asked = parts.ask();
      await turn();
      await clock.advance(waitMs);
      await turn();
      asked.command.resolve(Buffer.from('slow'));
      return asked.outcome;
    };
    return { clock, late: () => answer(ms), quick: () => answer(1), ...parts };
  }

  it('R05 gets more time once it was seen to need it: its answers are waited for', async () => {
    const { clock, pipe, late } = await slow(100);
    expect(await late()).toBe('Command timed out');
    for (let n = 0; n < 50; n += 1) expect(await late()).toBe('slow');
    await clock.advance(1_000);
    expect([pipe.nodeOf(), clock.pendingTimers]).toEqual(['b'.repeat(16), 0]);
  });

  it('R05 many calls that time out at once open no breaker while their answers come', async () => {
    const { clock, pipe, node, ask } = await slow(0);
    for (let round = 0; round < 3; round += 1) {
      const calls = Array.from({ length: 32 }, () => ask());
      await turn();
      await clock.advance(60);
      await turn();
      for (const { command } of calls) command.resolve(Buffer.from('late'));
      expect(calls.every(({ outcome }) => outcome === (round === 0 ? 'Command timed out' : 'late'))).toBe(
        true,
      );
    }
    expect([pipe.nodeOf(), node.probes]).toEqual(['b'.repeat(16), 0]);
  });

  it('has its first bound again after a hundred quick answers', async () => {
    const { clock, late, quick, ask } = await slow(100);
    await late();
    for (let n = 0; n < 100; n += 1) expect(await quick()).toBe('slow');
    await clock.advance(500);
    const call = ask();
    await turn();
    await clock.advance(30);
    await turn();
    expect(call.outcome).toBe('Command timed out');
  });

  it('R05 is left alone where no call may wait so long', async () => {
    const { clock, pipe, late, ask } = await slow(750);
    await late();
    const calls = Array.from({ length: 5 }, () => ask());
    await turn();
    await clock.advance(499);
    expect([calls[4].outcome, pipe.nodeOf()]).toEqual([null, 'b'.repeat(16)]);
    await clock.advance(1);
    await turn();
    expect([calls[4].outcome, pipe.nodeOf()]).toEqual(['Command timed out', null]);
    pipe.close();
  });
});

describe('a node that was slow and then hangs', () => {
  it('R05 is left alone also by calls that come one after the other', async () => {
    const clock = fixedClock(START);
    const { pipe, ask } = await setUp(clock);
    const first = ask();
    await turn();
    await clock.advance(125);
    first.command.resolve(Buffer.from('late'));
    for (let n = 0; n < 5; n += 1) {
      expect(pipe.nodeOf()).not.toBeNull();
      ask();
      await turn();
      await clock.advance(500);
      await turn();
    }
    expect(pipe.nodeOf()).toBeNull();
    pipe.close();
  });
});

describe('breaker of a node', () => {
  /** Calls of 25 ms, one after the other: the fifth of those that end after 250 ms opens the breaker. */
  const CALLS = 14;

  async function broken() {
    const clock = fixedClock(START);
    const parts = await setUp(clock);
    const call = async (): Promise<string | null> => {
      const asked = parts.ask();
      await turn();
      await clock.advance(25);
      await turn();
      return asked.outcome;
    };
    return { clock, call, ...parts };
  }

  it('R05 opens after 5 timeouts of a node that answers nothing for 250 ms, then fails at once, without asking', async () => {
    const { node, pipe, call, ask } = await broken();
    for (let n = 0; n < CALLS; n += 1) {
      expect(pipe.nodeOf()).toBe('b'.repeat(16));
      expect(await call()).toBe('Command timed out');
    }
    expect(pipe.nodeOf()).toBeNull();
    expect(ask().outcome).toContain('not asked');
    expect(node.commands).toHaveLength(CALLS);
    pipe.close();
  });

  it('R05 stays closed while timeouts come slower than 5 a second', async () => {
    const { clock, pipe, call } = await broken();
    for (let n = 0; n < 20; n += 1) {
      await call();
      await clock.advance(230);
    }
    expect(pipe.nodeOf()).not.toBeNull();
  });

  it('asks for a sign of life every 250 ms and closes with the first one', async () => {
    const { clock, node, pipe, call } = await broken();
    for (let n = 0; n < CALLS; n += 1) await call();
    await clock.advance(249);
    expect(node.probes).toBe(0);
    await clock.advance(1);
    expect(node.probes).toBe(1);
    await clock.advance(275);
    expect(node.probes).toBe(2);
    node.isWell = true;
    await clock.advance(275);
    expect(pipe.nodeOf()).not.toBeNull();
    expect(await call()).toBe('ok');
    await clock.advance(25);
    expect(clock.pendingTimers).toBe(0);
  });

  it('makes the connection anew while no probe is answered', async () => {
    const { clock, node, pipe, call } = await broken();
    for (let n = 0; n < CALLS; n += 1) await call();
    await clock.advance(16 * 275);
    expect([node.probes, node.reconnects]).toEqual([16, 2]);
    pipe.close();
  });
});
