import { fixedClock } from '@gateway/testing/plain';
import { LookupLane } from './lookup-lane.js';

const SHED = new Error('shed');

interface Sent {
  questions: string[];
  answer(): void;
  fail(): void;
}

function lane(batchMax = 4): {
  asked: LookupLane<string, string>;
  sent: Sent[];
  clock: ReturnType<typeof fixedClock>;
} {
  const clock = fixedClock('2026-11-22T00:00:00Z');
  const sent: Sent[] = [];
  const asked = new LookupLane<string, string>({
    clock,
    batchMax,
    shed: () => SHED,
    send: (questions) =>
      new Promise((resolve, reject) => {
        sent.push({
          questions,
          answer: () => resolve(questions.map((question) => `of ${question}`)),
          fail: () => reject(new Error('away')),
        });
      }),
  });
  return { asked, sent, clock };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Four batches under way, so that whatever is asked now waits. */
async function fill({ asked, sent }: ReturnType<typeof lane>): Promise<Sent[]> {
  for (let batch = 1; batch <= 4; batch += 1) {
    void asked.ask(`fill${batch}`, 'elsewhere').catch(() => undefined);
    await turn();
  }
  expect(sent).toHaveLength(4);
  return sent.splice(0);
}

describe('LookupLane', () => {
  it('sends what is asked in one turn together, and answers each with its own', async () => {
    const { asked, sent } = lane();
    const answers = Promise.all(['a', 'b', 'c'].map((question) => asked.ask(question, 'one')));
    await turn();
    expect(sent.map(({ questions }) => questions)).toEqual([['a', 'b', 'c']]);
    sent[0].answer();
    expect(await answers).toEqual(['of a', 'of b', 'of c']);
  });

  it('has 4 batches under way, and addresses take turns in the next', async () => {
    const test = lane();
    const [first] = await fill(test);
    const flood = Array.from({ length: 100 }, (_, n) => test.asked.ask(`flood${n}`, 'flood'));
    const fresh = test.asked.ask('fresh', 'home');
    await turn();
    expect(test.sent).toEqual([]);
    first.answer();
    await turn();
    expect(test.sent.map(({ questions }) => questions)).toEqual([['flood0', 'fresh', 'flood1', 'flood2']]);
    test.sent[0].answer();
    expect(await Promise.all([fresh, flood[0]])).toEqual(['of fresh', 'of flood0']);
  });

  it('a failed batch fails its own and no other', async () => {
    const { asked, sent } = lane(1);
    const answers = Promise.allSettled(['a', 'b'].map((question) => asked.ask(question, 'one')));
    await turn();
    sent[0].fail();
    sent[1].answer();
    expect((await answers).map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  });

  it('sheds what one address asks past its line, and nothing of another', async () => {
    const test = lane();
    await fill(test);
    const flood = Array.from({ length: 257 }, (_, n) => test.asked.ask(`flood${n}`, 'flood'));
    await expect(flood[256]).rejects.toBe(SHED);
    const other = test.asked.ask('other', 'home');
    expect(await Promise.race([other, turn()])).toBeUndefined();
  });

  it('sheds the longest line where all are full', async () => {
    const test = lane();
    await fill(test);
    const flood = Array.from({ length: 2_048 }, (_, n) => test.asked.ask(`${n}`, `host${n >> 8}`));
    const last = flood[255];
    const other = test.asked.ask('other', 'home');
    await expect(last).rejects.toBe(SHED);
    expect(await Promise.race([other, turn()])).toBeUndefined();
  });

  it('sheds what has waited for a second', async () => {
    const test = lane();
    const [first] = await fill(test);
    const old = test.asked.ask('old', 'home');
    await test.clock.advance(1_001);
    const young = test.asked.ask('young', 'home');
    first.answer();
    await expect(old).rejects.toBe(SHED);
    test.sent[0].answer();
    expect(await young).toBe('of young');
  });
});
