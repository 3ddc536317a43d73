import { execFileSync } from 'node:child_process';
import { TurnoverMap } from './turnover-map.js';

describe('TurnoverMap', () => {
  it('keeps the order of insertion, replaces in place and says what it took out', () => {
    const map = new TurnoverMap<string, number>();
    map.set('a', 1);
    map.set('b', 2);
    map.set('a', 3);
    expect([...map.values()]).toEqual([3, 2]);
    expect([map.delete('a'), map.delete('a'), map.size, map.get('a'), map.get('b')]).toEqual([
      true,
      false,
      1,
      undefined,
      2,
    ]);
    map.set('a', 4);
    expect([...map.values()]).toEqual([2, 4]);
  });

  // Of the engine this runs on: where Map no longer shows it, this class can go.
  it('what has left is collected young though the map has grown old; a Map keeps all of it', () => {
    expect(keptOf('new Map()')).toBeGreaterThan(500);
    expect(keptOf('new TurnoverMap()')).toBeLessThan(100);
  });
});

/**
 * Returns how many of 1,000 values of 8 KB, which came and went one by one, are left after two collections of the young
 * generation.
 */
function keptOf(map: string): number {
  const script = `
    ${TurnoverMap.toString()}
    const map = ${map};
    const minor = () => gc({ type: 'minor' });
    const add = (key) => map.set(key, new Array(1024).fill(key));
    for (let key = 0; key < 16; key += 1) add('first' + key);
    minor(); minor(); minor();
    const before = process.memoryUsage().heapUsed;
    for (let key = 0; key < 1000; key += 1) {
      add('k' + key);
      if (key >= 16) map.delete('k' + (key - 16));
    }
    minor(); minor();
    console.log((process.memoryUsage().heapUsed - before) / 8192);`;
  return Number(execFileSync(process.execPath, ['--expose-gc', '--eval', script], { encoding: 'utf8' }));
}
