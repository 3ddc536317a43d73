import { BoundedCache } from './bounded-cache.js';

describe('BoundedCache', () => {
  it('K15 never holds more than its limit and forgets the oldest', () => {
    const cache = new BoundedCache<number>(100);
    for (let index = 0; index < 1_000; index += 1) cache.set(`k${index}`, index);
    expect(cache.size).toBe(100);
    expect(cache.get('k899')).toBeUndefined();
    expect(cache.get('k999')).toBe(999);
  });

  it('keeps what is used', () => {
    const cache = new BoundedCache<number>(10);
    for (let index = 0; index < 10; index += 1) cache.set(`k${index}`, index);
    for (let index = 10; index < 30; index += 1) {
      expect(cache.get('k0')).toBe(0);
      cache.set(`k${index}`, index);
    }
  });
});
