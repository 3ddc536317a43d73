import { fixedClock } from '@gateway/testing/plain';
import { LookupLoader, SHED } from './lookup-loader.js';

interface Sent {
  questions: string[];
  answer(): void;
  fail(): void;
}

function lane(batchMax = 4): {
  asked: LookupLoader<string, string>;
  sent: Sent[];
  clock: ReturnType<typeof fixedClock>;
} {
  const clock = fixedClock('2026-11-22T00:00:00Z');
  const sent: Sent[] = [];
  const asked = new LookupLoader<string, string>({
    clock,
    batchMax,
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

describe('LookupLoader', () => {
  it('sends what is asked in one turn together, and answers each with its own', async () => {
    const { asked, sent } = lane();
    const answers = Promise.all(['a', 'b', 'c'].map((question) => asked.ask(question, 'one')));
    await turn();
    expect(sent.map(({ questions }) => questions)).toEqual([['c', 'b', 'a']]);
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
    expect(test.sent.map(({ questions }) => questions)).toEqual([['flood99', 'fresh', 'flood98', 'flood97']]);
    test.sent[0].answer();
    expect(await Promise.all([fresh, flood[99]])).toEqual(['of fresh', 'of flood99']);
  });

  it('a flood that never lets the line of its address run empty keeps a new key there waiting for one batch', async () => {
    const test = lane();
    const underWay = await fill(test);
    let flooded = 0;
    const flood = (count: number): void => {
      for (let n = 0; n < count; n += 1)
        test.asked.ask(`flood${(flooded += 1)}`, 'one').catch(() => undefined);
    };
    flood(5_000);
    for (let round = 1; round <= 20; round += 1) {
      const fresh = test.asked.ask(`fresh${round}`, 'one');
      // As many as a batch answers ask again, and are newer.
      flood(3);
      underWay.shift()?.answer();
      await turn();
      const [next] = test.sent.splice(0);
      expect(next.questions).toContain(`fresh${round}`);
      underWay.unshift(next);
      next.answer();
      expect(await fresh).toBe(`of fresh${round}`);
      await turn();
      underWay.splice(0, 1, ...test.sent.splice(0));
    }
  });

  it('a failed batch fails its own and no other', async () => {
    const { asked, sent } = lane(1);
    const answers = Promise.allSettled(['a', 'b'].map((question) => asked.ask(question, 'one')));
    await turn();
    sent[0].fail();
    sent[1].answer();
    expect(sent.map(({ questions }) => questions)).toEqual([['b'], ['a']]);
    expect((await answers).map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  });

  it('sheds the oldest of the longest line where all are full, and nothing of another', async () => {
    const test = lane();
    await fill(test);
    const other = test.asked.ask('other', 'home');
    const flood = Array.from({ length: 2_048 }, (_, n) => test.asked.ask(`${n}`, 'flood'));
    const newest = test.asked.ask('newest', 'flood');
    for (const oldest of flood.slice(0, 2)) await expect(oldest).rejects.toBe(SHED);
    expect(await Promise.race([other, flood[2], newest, turn()])).toBeUndefined();
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
