import { MAX_NANO, toScriptLimit, toScriptNano } from './script-nano.js';

describe('money as limit stores hold it', () => {
  it('is exact to 2^53 - 1 nano-USD and the bound past it, on both sides', () => {
    expect(MAX_NANO).toBe(2 ** 53 - 1);
    const exact = [0n, 1n, -1n, BigInt(MAX_NANO), -BigInt(MAX_NANO)];
    expect(exact.map(toScriptNano)).toEqual(exact.map(Number));
    expect([2n ** 53n, 2n ** 80n].map(toScriptNano)).toEqual([MAX_NANO, MAX_NANO]);
    expect([-(2n ** 53n), -(2n ** 80n)].map(toScriptNano)).toEqual([-MAX_NANO, -MAX_NANO]);
  });

  it('has no limit where there is none, and a limit of 0 where it is 0', () => {
    expect([null, 0n, 7n, 2n ** 60n].map(toScriptLimit)).toEqual([Infinity, 0, 7, MAX_NANO]);
  });
});
