import { Later } from './later.js';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('Later', () => {
  it('does nothing at once, then all of it in order', async () => {
    const later = new Later();
    const done: number[] = [];
    for (let at = 0; at < 100; at += 1) later.add(() => done.push(at));
    expect(done).toEqual([]);
    while (done.length < 100) await turn();
    expect(done).toEqual(Array.from({ length: 100 }, (_, at) => at));
  });

  it('lets other work of the event loop in between', async () => {
    const later = new Later();
    let done = 0;
    for (let at = 0; at < 100; at += 1) later.add(() => (done += 1));
    await turn();
    expect(done).toBeGreaterThan(0);
    expect(done).toBeLessThan(100);
  });

  it('takes what is added by the work itself', async () => {
    const later = new Later();
    const done: string[] = [];
    later.add(() => {
      done.push('first');
      later.add(() => done.push('second'));
    });
    for (let turns = 0; turns < 5; turns += 1) await turn();
    expect(done).toEqual(['first', 'second']);
  });
});
