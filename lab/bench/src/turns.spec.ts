import { compared } from './turns.js';

describe('rounds of programs that take turns', () => {
  // The machine is four times slower in the second round, and each program is slow in its own.
  const rounds = new Map([
    ['baseline', [{ n: 1_000 }, { n: 250 }, { n: 900 }]],
    ['gateway', [{ n: 500 }, { n: 125 }, { n: 300 }]],
    ['before', [{ n: 400 }, { n: 100 }, { n: 300 }]],
  ]);
  const of = ({ n }: { n: number }): number => n;

  it('compares each round with the one beside it, and takes the median of those ratios', () => {
    const { ratio, peers, gateway } = compared(rounds, of, 'more');
    expect([ratio, peers['before'].ratio, gateway.median]).toEqual([0.5, 0.4, 300]);
  });

  it('says how often of another program’s figure the gateway has, with its least and most', () => {
    expect(compared(rounds, of, 'more').peers['before'].ofIt).toEqual({ median: 1.25, least: 1, most: 1.25 });
    expect(compared(rounds, of, 'less').peers['before'].ofIt).toEqual({ median: 0.8, least: 0.8, most: 1 });
  });
});
