import fc from 'fast-check';
import { anyJsonText, tokensOf } from '@gateway/testing';
import {
  memberAsWritten,
  noteMember,
  numberText,
  parseSpelled,
  rememberSpelling,
  spelledLike,
  withoutHidden,
} from './spelling.js';
import { writeJson } from './write-json.js';

type Json = Record<string, unknown>;

function again(text: string): string {
  return writeJson(parseSpelled(text));
}

describe('JSON that is read to be written again', () => {
  it.each([
    '{"id":1234567890123456789,"b":1,"10":2,"rate":1.0}',
    '[-0,0,1e400,-1E400,1.50,1E5,0.0000001,9223372036854775807]',
    '{"a":1,"a":{"x":1.0},"a":2}',
    '{"2":1,"1":{"20":[],"3":null}}',
    String.raw`{"\u0032":1,"\u0031":2,"b":"\ud800"}`,
    '{"__proto__":{"a":1.0},"constructor":1}',
    `{"n":${'9'.repeat(400)}.0}`,
    'true',
    '"x"',
  ])('keeps every token of %s', (text) => {
    expect(tokensOf(again(text))).toEqual(tokensOf(text));
    expect(Object.prototype).not.toHaveProperty('a');
  });

  it('keeps every token of any text, however it is spaced', () => {
    fc.assert(
      fc.property(anyJsonText(), ({ text }) => {
        expect(tokensOf(again(text))).toEqual(tokensOf(text));
      }),
      { numRuns: 500 },
    );
  });

  it('is JSON.stringify where nothing is lost by it', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        fc.pre(!text.includes('__proto__'));
        const parsed = JSON.parse(text) as unknown;
        if (!rememberSpelling(parsed, text)) expect(Object.getOwnPropertySymbols(Object(parsed))).toEqual([]);
        expect(writeJson(parsed)).toBe(text);
      }),
    );
    const made = { a: undefined, b: [undefined, () => 1], at: new Date(0), c: new Set([1]) };
    expect(writeJson(made)).toBe(JSON.stringify(made));
    expect(writeJson({ ...made, odd: parseSpelled('[1.0]') })).toBe(
      `${JSON.stringify(made).slice(0, -1)},"odd":[1.0]}`,
    );
  });

  it('writes what was replaced, added or taken out since as it is now', () => {
    const value = parseSpelled('{"b":1.0,"2":2.0,"1":{"x":3.0},"c":[1.0,2.0]}') as Json;
    const { b: _, ...rest } = { ...value, 2: 5, d: 1 } as Json;
    expect(writeJson(rest)).toBe('{"2":5,"1":{"x":3.0},"c":[1.0,2.0],"d":1}');
    (value['1'] as Json).x = 4;
    (value.c as number[]).push(7);
    delete value.b;
    expect(writeJson(value)).toBe('{"2":2.0,"1":{"x":4},"c":[1.0,2.0,7]}');
    const repeated = parseSpelled('{"a":1,"a":2}') as Json;
    expect(writeJson({ ...repeated, a: 3 })).toBe('{"a":3}');
  });

  it('takes the spelling along where members are copied one by one', () => {
    const value = parseSpelled('{"2":1.0,"1":1}') as Json;
    const copy: Json = Object.fromEntries(Object.entries(value));
    expect(writeJson(copy)).toBe('{"1":1,"2":1}');
    expect(writeJson(spelledLike(copy, value))).toBe('{"2":1.0,"1":1}');
    expect(numberText(value, '2')).toBe('1.0');
    expect([numberText(value, '1'), numberText({ ...value, 2: 3 }, '2'), numberText({}, 'x')]).toEqual([
      null,
      null,
      null,
    ]);
  });

  it('writes a number elsewhere as it was written, and a changed one as it is now', () => {
    const value = parseSpelled('{"seed":1234567890123456789,"n":1,"list":[1.0,2]}') as Json;
    const odd = { random_seed: memberAsWritten(value, 'seed'), n: memberAsWritten(value, 'n') };
    expect(JSON.stringify(odd)).toBe('{"random_seed":1234567890123456789,"n":1}');
    expect(writeJson({ list: value.list, ...odd })).toBe(
      '{"list":[1.0,2],"random_seed":1234567890123456789,"n":1}',
    );
    expect(memberAsWritten({ ...value, seed: 3 }, 'seed')).toBe(3);
    const list = value.list as number[];
    expect([0, 1, 2].map((at) => numberText(list, at))).toEqual(['1.0', null, null]);
  });

  it('writes texts of hidden members as they were changed', () => {
    const value = parseSpelled('{"a":"secret","a":2}') as Json;
    expect(writeJson(spelledLike({ ...value }, value, () => '"[redacted]"'))).toBe(
      '{"a":"[redacted]","a":2}',
    );
    expect(writeJson(value)).toBe('{"a":"secret","a":2}');
  });

  it('writes what is put together piece by piece in the order in which it came', () => {
    const object: Json = {};
    const list: unknown[] = [];
    for (const [name, value, text] of [
      ['10', 1, '1.0'],
      ['2', list, null],
      ['n', 1234567890123456800, '1234567890123456789'],
    ] as const) {
      noteMember(object, name, value, text);
      object[name] = value;
    }
    noteMember(list, 1, 2, '2.0');
    list[1] = 2;
    expect(writeJson(object)).toBe('{"10":1.0,"2":[null,2.0],"n":1234567890123456789}');
  });

  it('leaves out hidden members that are not to be shown', () => {
    const value = parseSpelled('{"a":{"cost":1},"a":{"b":1},"a":2,"n":1.0}') as Json;
    expect(writeJson(withoutHidden(value, (text) => !text.includes('cost')))).toBe(
      '{"a":{"b":1},"a":2,"n":1.0}',
    );
    expect(withoutHidden(value, () => true)).toBe(value);
  });

  it('is bounded: text of any depth and of many repeated names costs time in proportion to its length', () => {
    const deep = `${'{"a":'.repeat(5_000)}1.0${'}'.repeat(5_000)}`;
    expect(rememberSpelling(JSON.parse(deep), deep)).toBe(false);
    const nested = `${'{"a":1,"a":'.repeat(500)}1.0${'}'.repeat(500)}`;
    expect(again(nested)).toBe(nested);
    const many = `{${Array.from({ length: 100_000 }, (_, at) => `"${at % 2}":${at}.0`).join(',')}}`;
    expect(again(many)).toBe(many);
    expect(rememberSpelling({}, '[1.0]')).toBe(false);
  });
});
