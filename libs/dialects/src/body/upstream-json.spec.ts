import fc from 'fast-check';
import { parseUpstreamJson, UPSTREAM_DEPTH } from './upstream-json.js';

const nested = (depth: number): string => '[{"a":'.repeat(depth / 2) + '1' + '}]'.repeat(depth / 2);

describe('JSON of a provider', () => {
  it('U08 is read at the greatest depth and refused past it', () => {
    expect(JSON.stringify(parseUpstreamJson(nested(UPSTREAM_DEPTH)))).toBe(nested(UPSTREAM_DEPTH));
    expect(() => parseUpstreamJson(nested(UPSTREAM_DEPTH + 2))).toThrow(SyntaxError);
    expect(() => parseUpstreamJson('['.repeat(1_000_000))).toThrow(SyntaxError);
  });

  it('U08 is not taken for deep because of its texts', () => {
    const texts = fc.array(fc.constantFrom('[', '{', '"', '\\', 'a', '\\"'), {
      minLength: 600,
      maxLength: 2_000,
    });
    fc.assert(
      fc.property(texts, (parts) => {
        const value = { [parts.join('')]: parts.join('') };
        expect(parseUpstreamJson(JSON.stringify(value))).toEqual(value);
      }),
      { numRuns: 50 },
    );
  });
});
