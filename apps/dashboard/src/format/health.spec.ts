import { throughput, uptime } from './health.js';

describe('the health of a provider', () => {
  it.each([
    [null, 'no calls'],
    [1, '100%'],
    [0.99996, '99.9%'],
    [0.9512, '95.1%'],
    [0, '0%'],
  ])('shows an uptime of %p as %s', (share, shown) => {
    expect(uptime(share)).toBe(shown);
  });

  it.each([
    [null, '–'],
    [4.26, '4.3 tokens/s'],
    [1234.6, '1,235 tokens/s'],
  ])('shows a throughput of %p as %s', (speed, shown) => {
    expect(throughput(speed)).toBe(shown);
  });
});
