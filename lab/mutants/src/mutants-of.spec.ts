import { changeOf, isEquivalent, readEquivalents } from './equivalents.js';
import { mutated, mutantsOf } from './mutants-of.js';
import { sample } from './sample.js';

const changes = (text: string): string[] => mutantsOf('a.ts', text).map(changeOf);

describe('the mutants of a source', () => {
  it.each([
    ['const a = b < c;', ['< → <=', '< → >=']],
    ['const a = b + 1;', ['+ → -', '1 → 2']],
    ['const a = !b && -c;', ['!b → b', '&& → ||', '-c → c']],
    ["if (a === 'x') b();", ["a === 'x' → false", "a === 'x' → true", '=== → !==', "'x' → ''", 'b(); → ;']],
    ['const a = b ? true : 5n;', ['b → false', 'b → true', 'true → false', '5n → 6n']],
    ['const a = Math.min(b.some(c), 1_000);', ['min → max', 'some → every', '1_000 → 1001']],
    ['await a.b();', ['await a.b(); → ;']],
  ])('%s', (text, expected) => {
    expect(changes(text)).toEqual(expected);
  });

  it.each([
    ["import { a } from 'b';"],
    ["type A = 'a' | 1;"],
    ["interface A { b: 'c' }"],
    ["throw new RangeError('too ' + b);"],
    ["const a = { 'b-c': d };"],
    ["logger.warn('gone');"],
    ['const a = b.toString();'],
  ])('has none that only people would notice: %s', (text) => {
    expect(changes(text).filter((change) => !change.endsWith('→ ;'))).toEqual([]);
  });

  it('changes one token of the text', () => {
    const text = 'const a = b < c && d;';
    expect(mutantsOf('a.ts', text).map((mutant) => mutated(text, mutant))).toEqual([
      'const a = b <= c && d;',
      'const a = b >= c && d;',
      'const a = b < c || d;',
    ]);
  });

  it('draws the same for the same seed', () => {
    const items = Array.from({ length: 500 }, (_, n) => n);
    expect(sample(items, 20, 7)).toEqual(sample(items, 20, 7));
    expect(sample(items, 20, 7)).not.toEqual(sample(items, 20, 8));
    expect(sample(items, 900, 7)).toEqual(items);
    expect(new Set(sample(items, 20, 7)).size).toBe(20);
  });

  it('knows equivalents by the text of their line, wherever it stands', () => {
    const known = readEquivalents(
      '| file |\n| `a.ts` | ``const a = b < c \\|\\| d;`` | ``< → <=`` | why |\n',
    );
    expect(known).toEqual([{ file: 'a.ts', code: 'const a = b < c || d;', change: '< → <=' }]);
    const [mutant, other] = mutantsOf('a.ts', '\n  const a = b < c || d;');
    expect(isEquivalent(mutant, '  const a = b < c || d;', known)).toBe(true);
    expect(isEquivalent(other, '  const a = b < c || d;', known)).toBe(false);
    expect(isEquivalent(mutant, '  const a = b < c;', known)).toBe(false);
  });
});
