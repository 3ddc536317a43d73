import fc from 'fast-check';
import { brokenJsonBound, parseJsonBody } from './json-bounds.js';

const bytes = (text: string): Uint8Array => Buffer.from(text);

describe('the bounds of a JSON body', () => {
  it.each([
    ['depth', (n: number) => `${'['.repeat(n)}${']'.repeat(n)}`, 64],
    ['keys', (n: number) => `{${Array.from({ length: n }, (_, at) => `"k${at}":1`).join(',')}}`, 100_000],
    ['items', (n: number) => `[${Array.from({ length: n }, () => '1').join(',')}]`, 100_000],
  ])('U12 EDGE-02 %s: n is parsed, n + 1 is refused', (bound, build, n) => {
    expect(() => parseJsonBody(bytes(build(n)))).not.toThrow();
    expect(brokenJsonBound(bytes(build(n + 1)))).toBe(bound);
    expect(() => parseJsonBody(bytes(build(n + 1)))).toThrow(
      expect.objectContaining({ code: 'validation_error', status: 422 }),
    );
  });

  it('counts nothing inside of strings', () => {
    const text = JSON.stringify({ text: `${'[{,:'.repeat(200_000)}\\"` });
    expect(brokenJsonBound(bytes(text))).toBeNull();
  });

  it('parses what JSON.parse parses, and else refuses with 422', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), (text) => {
        let expected: unknown;
        try {
          expected = JSON.parse(text);
        } catch {
          expect(() => parseJsonBody(bytes(text))).toThrow(
            expect.objectContaining({ code: 'validation_error' }),
          );
          return;
        }
        if (!text.includes('__proto__')) expect(parseJsonBody(bytes(text))).toEqual(expected);
      }),
    );
  });

  it.each(['{"__proto__": {"a": 1}}', '{"a": [{"\\u005f_proto__": 1}]}', '{"\\u005F\\u005Fproto__": 1}'])(
    'refuses %s',
    (text) => {
      expect(() => parseJsonBody(bytes(text))).toThrow(expect.objectContaining({ code: 'validation_error' }));
    },
  );
});
