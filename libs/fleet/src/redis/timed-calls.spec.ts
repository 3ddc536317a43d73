import { fixedClock } from '@gateway/testing';
import { TimedCalls } from './timed-calls.js';

const START = '2026-11-21T00:00:00.000Z';
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

interface Asked {
  outcome: string | null;
  answer: (value: string) => void;
  fail: (error: Error) => void;
}

function ask(calls: TimedCalls): Asked {
  let answer: Asked['answer'] = () => undefined;
  let fail: Asked['fail'] = () => undefined;
  const asked = new Promise<string>((resolve, reject) => {
    answer = resolve;
    fail = reject;
  });
  const made: Asked = { outcome: null, answer, fail };
  calls.inTime(asked).then(
    (value) => (made.outcome = value),
    (error: Error) => (made.outcome = error.message),
  );
  return made;
}

describe('TimedCalls', () => {
  it('hands on what comes in time, and gives up each call at its own time, behind one timer', async () => {
    const clock = fixedClock(START);
    const calls = new TimedCalls(25, clock);
    const first = ask(calls);
    const broken = ask(calls);
    await clock.advance(10);
    const second = ask(calls);
    expect(clock.pendingTimers).toBe(1);
    broken.fail(new Error('refused'));
    await clock.advance(14);
    expect([first, broken, second].map(({ outcome }) => outcome)).toEqual([null, 'refused', null]);
    await clock.advance(1);
    await turn();
    expect([first.outcome, second.outcome]).toEqual(['Command timed out', null]);
    second.answer('in time');
    await clock.advance(100);
    expect([second.outcome, clock.pendingTimers]).toEqual(['in time', 0]);
  });

  it('what has arrived when the time is over still counts', async () => {
    const clock = fixedClock(START);
    const call = ask(new TimedCalls(25, clock));
    setImmediate(() => undefined);
    const advanced = clock.advance(25);
    call.answer('just so');
    await advanced;
    await turn();
    expect(call.outcome).toBe('just so');
  });

  it('a timer that fires late tells of us, not of the other side: the time is given once more, and once only', async () => {
    let now = 0;
    const timers: (() => void)[] = [];
    const setTimer = (_ms: number, fire: () => void) => {
      timers.push(fire);
      return { cancel: () => undefined };
    };
    const clock = { now: () => 0, monotonic: () => now, setTimer, sleep: () => Promise.resolve() };
    const call = ask(new TimedCalls(25, clock));
    await turn();
    now = 150;
    timers.shift()?.();
    await turn();
    expect(call.outcome).toBeNull();
    now = 300;
    timers.shift()?.();
    await turn();
    await turn();
    expect([call.outcome, timers.length]).toEqual(['Command timed out', 0]);
  });

  it('U14 the time begins with the end of the turn: what is asked before a large body is parsed leaves after it', async () => {
    let now = 0;
    const delays: number[] = [];
    const setTimer = (ms: number) => {
      delays.push(now + ms);
      return { cancel: () => undefined };
    };
    const calls = new TimedCalls(25, {
      now: () => 0,
      monotonic: () => now,
      setTimer,
      sleep: () => Promise.resolve(),
    });
    ask(calls);
    now = 100;
    expect(delays).toEqual([]);
    await turn();
    expect(delays).toEqual([125]);
  });
});
