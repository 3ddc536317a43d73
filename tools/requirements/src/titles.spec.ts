import { titleIds } from './titles.js';

const ids = (text: string) => titleIds('a.spec.ts', text).map(({ id }) => id);

describe('titleIds', () => {
  it('takes the ids that a title begins with', () => {
    expect(ids("it('KEY-01 LIM-31 402 after the cap', () => {});")).toEqual(['KEY-01', 'LIM-31']);
    expect(ids('test("KEY-01: says so", () => {});')).toEqual(['KEY-01']);
  });

  it('takes no id from the middle of a title', () => {
    expect(ids("it('is not KEY-01', () => {});")).toEqual([]);
  });

  it('reads it.each, nested blocks and template titles', () => {
    expect(ids("describe('a', () => { it.each([1])('KEY-01 %s', () => {}); });")).toEqual(['KEY-01']);
    expect(ids('it(`KEY-02 ${x} says`, () => {});')).toEqual(['KEY-02']);
  });

  it('reads the ids in the table of an it.each whose title begins with them', () => {
    expect(ids("it.each([['KEY-01 a', 1], ['KEY-02', 2]])('%s says %d', f);")).toEqual(['KEY-01', 'KEY-02']);
    expect(ids("it.each([{ id: 'KEY-03', n: 1 }])('$id says $n', f);")).toEqual(['KEY-03']);
    expect(ids("it.each([['KEY-04']])('refuses %s', f);")).toEqual([]);
  });

  it.each([
    "it.skip('KEY-01', f);",
    "it.skip.each([1])('KEY-01', f);",
    "it.todo('KEY-01');",
    "it('KEY-01');",
    "describe('KEY-01', f);",
    "// it('KEY-01', f)",
  ])('counts no proof in %s', (text) => {
    expect(ids(text)).toEqual([]);
  });
});
