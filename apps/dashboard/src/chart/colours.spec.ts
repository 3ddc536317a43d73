import fc from 'fast-check';
import { coloursOf } from './colours.js';

describe('colours of the groups of a chart', () => {
  it('stay with their ids, whatever the ranks of the groups are', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string(), { minLength: 1, maxLength: 24 }), fc.nat(), (ids, turn) => {
        const turned = [...ids.slice(turn % ids.length), ...ids.slice(0, turn % ids.length)].reverse();
        expect(coloursOf(turned)).toEqual(coloursOf(ids));
      }),
    );
  });

  it('differ within a chart, and are those of a chart of one where nothing is in the way', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string(), { minLength: 1, maxLength: 20 }), (ids) => {
        const colours = coloursOf(ids);
        expect(new Set(colours.values()).size).toBe(ids.length);
        const [first] = [...ids].filter((id) => id !== 'other').sort();
        if (first !== undefined) expect(colours.get(first)).toBe(coloursOf([first]).get(first));
      }),
    );
  });

  it('keep gray for the others together', () => {
    expect(coloursOf(['acme/swift', 'other']).get('other')).toContain('gray');
    expect(coloursOf(['acme/swift']).get('acme/swift')).not.toContain('gray');
  });
});
