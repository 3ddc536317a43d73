import { FixedClock, seededRandom } from '@gateway/testing/plain';
import { WriteQueue } from './write-queue.js';

const REFUSED = { code: 'service_unavailable', status: 503 };

describe('writes of the catalogue', () => {
  let clock: FixedClock;
  let queue: WriteQueue;
  let ended: string[];
  let finish: Map<string, () => void>;
  beforeEach(() => {
    clock = new FixedClock('2026-11-01T00:00:00Z');
    queue = new WriteQueue(clock, seededRandom(1));
    ended = [];
    finish = new Map();
  });

  const write = (name: string): Promise<string> =>
    queue.run(async () => {
      await new Promise<void>((resolve) => finish.set(name, resolve));
      ended.push(name);
      return name;
    });
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  it('issue 11 run one after the other, also after one that failed', async () => {
    const failed = queue.run(() => Promise.reject(new Error('no')));
    const [first, second] = [write('first'), write('second')];
    await expect(failed).rejects.toThrow('no');
    await settled();
    expect([...finish.keys()]).toEqual(['first']);
    finish.get('first')?.();
    expect(await first).toBe('first');
    await settled();
    finish.get('second')?.();
    expect([await second, ended]).toEqual(['second', ['first', 'second']]);
  });

  it('issue 11 503 for one that waits 3 s for its turn; its place does not let the next one in beside the first', async () => {
    const first = write('first');
    const late = write('late');
    await settled();
    const refused = expect(late).rejects.toMatchObject(REFUSED);
    await clock.advance(3_000);
    await refused;
    const next = write('next');
    await settled();
    expect([...finish.keys()]).toEqual(['first']);
    finish.get('first')?.();
    await first;
    await settled();
    finish.get('next')?.();
    expect([await next, ended]).toEqual(['next', ['first', 'next']]);
  });

  it('issue 11 503 at once past 64 that wait', async () => {
    const all = [write('0')];
    await settled();
    for (let n = 1; n <= 64; n += 1) all.push(write(String(n)));
    await expect(write('more')).rejects.toMatchObject(REFUSED);
    for (let n = 0; n < 65; n += 1) {
      finish.get(String(n))?.();
      await all[n];
      await settled();
    }
    expect(ended).toHaveLength(65);
  });
});
