import { cover, missingHeld, parseHeld, parseRequirements } from './requirements.js';

const header = 'id\tsection\trequirement\thome\tslice\n';
const list = `${header}KEY-01\ta\tb\tkeys\tS1\nKEY-02\ta\tb\tkeys\tS1\nMSG-01\ta\tb\tedge\tS2\n`;
const requirements = parseRequirements(list);
const carriedBy = (...ids: string[]) =>
  cover(
    requirements,
    ids.map((id) => ({ id, path: 'a.spec.ts' })),
  );

describe('requirements', () => {
  it('reads id and slice', () => {
    expect(requirements[2]).toEqual({ id: 'MSG-01', slice: 'S2' });
  });

  it.each([
    ['another header', 'id\tslice\n'],
    ['a missing cell', `${header}KEY-01\ta\tb\tkeys\n`],
    ['a malformed id', `${header}key1\ta\tb\tkeys\tS1\n`],
    ['an id given twice', `${list}KEY-01\ta\tb\tkeys\tS1\n`],
  ])('refuses a list with %s', (_fault, text) => {
    expect(() => parseRequirements(text)).toThrow();
  });

  it('says per slice what is carried and what is not', () => {
    expect(carriedBy('KEY-02').slices).toEqual([
      { slice: 'S1', carried: ['KEY-02'], missing: ['KEY-01'] },
      { slice: 'S2', carried: [], missing: ['MSG-01'] },
    ]);
  });

  it('reports an id that no requirement has, with the file', () => {
    expect(carriedBy('KEY-99').unknown).toEqual([{ id: 'KEY-99', path: 'a.spec.ts' }]);
  });

  it('demands what is held: a slice, a family, one id', () => {
    const coverage = carriedBy('KEY-02');
    expect(missingHeld(requirements, coverage, [])).toEqual([]);
    expect(missingHeld(requirements, coverage, ['S1'])).toEqual(['KEY-01']);
    expect(missingHeld(requirements, coverage, ['MSG-*'])).toEqual(['MSG-01']);
    expect(missingHeld(requirements, coverage, ['KEY-02', 'KEY-01', 'S1'])).toEqual(['KEY-01']);
  });

  it('refuses a held entry that names nothing, so that a typing error cannot hold nothing', () => {
    expect(() => missingHeld(requirements, carriedBy(), ['S9'])).toThrow('S9');
  });

  it('reads the held list without comments and blank lines', () => {
    expect(parseHeld('# what holds\nS1 # step 1\n\nMSG-*\n')).toEqual(['S1', 'MSG-*']);
  });
});
