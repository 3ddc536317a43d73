import { validateHeaderValue } from 'node:http';
import fc from 'fast-check';
import { ignoredNames } from './headers.js';

describe('the names of what was ignored', () => {
  it('are each there once, in their order', () => {
    expect(ignoredNames(['top_k', 'seed', 'top_k', 'anthropic-beta: novel'])).toBe(
      'top_k, seed, anthropic-beta: novel',
    );
  });

  it('show what a header cannot hold as question marks', () => {
    expect(ignoredNames(['日本', 'a\r\nb: c', 'd\u0000'])).toBe('??, a??b: c, d?');
  });

  it('EDGE-02 are a short value that a header may have, whatever a body calls its members', () => {
    const names = fc.array(fc.oneof(fc.string({ unit: 'binary' }), fc.string({ maxLength: 5_000 })), {
      maxLength: 3_000,
      size: 'max',
    });
    fc.assert(
      fc.property(names, (all) => {
        const value = ignoredNames(all);
        expect(() => validateHeaderValue('x', value)).not.toThrow();
        expect(value).toMatch(/^[ -~]*$/);
        expect(value.length).toBeLessThanOrEqual(2_048);
      }),
      { numRuns: 60 },
    );
  });
});
