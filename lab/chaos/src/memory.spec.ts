import { MemorySamples } from './memory.js';

const SECONDS = 300;

/** Builds the samples of one process of each name, second by second; another pid is another life. */
function sampled(
  of: Record<string, (second: number) => number>,
  pidOf = (_second: number): number => 7,
): MemorySamples {
  let second = 0;
  const processes = Object.keys(of).map((name, at) => ({
    name,
    get pid() {
      return pidOf(second) * 100 + at;
    },
  }));
  const memory = new MemorySamples(processes, (pid) => Math.round(Object.values(of)[pid % 100](second)));
  for (; second < SECONDS; second += 1) memory.take();
  return memory;
}

describe('the memory of a soak', () => {
  it('B18 fails where a process grows by a megabyte in three seconds and never stops', () => {
    const memory = sampled({ 'edge-1': (second) => 220 + second / 3, keys: () => 150 });
    expect(memory.growth()).toEqual(['memory of edge-1 grows: 253, 280, 307 MiB in the thirds of 300 s']);
    expect(memory.judged()).toEqual(['edge-1', 'keys']);
  });

  it('B18 fails where it grows by steps between collections', () => {
    const memory = sampled({ 'edge-1': (second) => 200 + (second % 20) * 3 + Math.floor(second / 20) * 8 });
    expect(memory.growth()).toHaveLength(1);
  });

  it.each<[string, (second: number) => number]>([
    ['stands still', () => 220],
    ['goes up and down with the collector', (second) => 220 + (second % 40)],
    ['fills at first', (second) => 120 + Math.min(second, 60) * 3],
    ['takes one step and stays there', (second) => (second < 170 ? 220 : 300)],
    ['goes up under a burst and comes back', (second) => (second > 150 && second < 200 ? 500 : 230)],
  ])('holds where it %s', (_name, of) => {
    const memory = sampled({ 'edge-1': of });
    expect([memory.growth(), memory.judged()]).toEqual([[], ['edge-1']]);
  });

  it('judges no life that was too short, and begins anew with each', () => {
    const memory = sampled({ 'edge-0': (second) => 220 + (second % 100) }, (second) =>
      Math.floor(second / 100),
    );
    expect([memory.growth(), memory.judged()]).toEqual([[], []]);
    expect(memory.figures()).toEqual({ 'edge-0': { first: 220, median: 270, last: 319, max: 319 } });
  });
});
