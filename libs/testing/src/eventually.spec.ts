import { eventually } from './eventually.js';

describe('eventually', () => {
  it('returns the first value that is there', async () => {
    let asked = 0;
    await expect(eventually(() => (++asked < 3 ? undefined : asked), { intervalMs: 1 })).resolves.toBe(3);
  });

  it('counts a throw as not yet', async () => {
    let asked = 0;
    const condition = (): boolean => {
      if (++asked < 3) throw new Error('too early');
      return true;
    };
    await expect(eventually(condition, { intervalMs: 1 })).resolves.toBe(true);
  });

  it('gives up at its bound, five times that of a quiet machine, with the last failure', async () => {
    const failing = eventually(() => Promise.reject(new Error('no row')), { timeoutMs: 20, intervalMs: 1 });
    await expect(failing).rejects.toThrow('Did not come true within 100 ms: no row');
  });
});
