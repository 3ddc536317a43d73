import { seededRandom } from '@gateway/testing/plain';
import fc from 'fast-check';
import { seal, unseal } from './seal.js';

const key = Buffer.alloc(32, 7);
const random = seededRandom(1);

describe('seal', () => {
  it('opens what it sealed, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (plain) => {
        expect(unseal(seal(plain, key, 'a/1', random), key, 'a/1')).toEqual(Buffer.from(plain));
      }),
    );
  });

  it('is 12 bytes of a fresh iv, 16 of the tag, and the text', () => {
    const [one, other] = [1, 2].map(() => seal(Buffer.from('abc'), key, 'a/1', random));
    expect(one).toHaveLength(12 + 16 + 3);
    expect(one.subarray(0, 12)).not.toEqual(other.subarray(0, 12));
  });

  it('S02 refuses another row, another key, a cut tag and every flipped byte', () => {
    const sealed = seal(Buffer.from('secret'), key, 'a/1', random);
    expect(() => unseal(sealed, key, 'a/2')).toThrow();
    expect(() => unseal(sealed, Buffer.alloc(32, 8), 'a/1')).toThrow();
    expect(() => unseal(sealed.subarray(0, 16), key, 'a/1')).toThrow();
    for (let at = 0; at < sealed.length; at += 1) {
      const flipped = Uint8Array.from(sealed);
      flipped[at] ^= 1;
      expect(() => unseal(flipped, key, 'a/1')).toThrow();
    }
  });
});
