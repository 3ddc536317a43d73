import fc from 'fast-check';
import { crc32c } from './crc32c.js';

/** One bit at a time, straight from the definition. */
function naive(bytes: Uint8Array): number {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit += 1) sum = sum & 1 ? (sum >>> 1) ^ 0x82f63b78 : sum >>> 1;
  }
  return (sum ^ 0xffffffff) >>> 0;
}

describe('crc32c', () => {
  it('gives the vectors of RFC 3720 B.4', () => {
    const ascending = Uint8Array.from({ length: 32 }, (_, at) => at);
    expect(crc32c(new Uint8Array(32))).toBe(0x8a9136aa);
    expect(crc32c(new Uint8Array(32).fill(0xff))).toBe(0x62a8ab43);
    expect(crc32c(ascending)).toBe(0x46dd794e);
    expect(crc32c(ascending.reverse())).toBe(0x113fdb5c);
  });

  it('equals the definition for any bytes', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => crc32c(bytes) === naive(bytes)));
  });
});
