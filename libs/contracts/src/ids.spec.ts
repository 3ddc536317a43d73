import fc from 'fast-check';
import { newId, uuidv7 } from './ids.js';

const clockAt = (now: number) => ({
  now: () => now,
  monotonic: () => 0,
  setTimer: () => ({ cancel: () => undefined }),
  sleep: () => Promise.resolve(),
});
const drawing = (bytes: Uint8Array) => ({ bytes: () => bytes, fraction: () => 0 });

describe('ids', () => {
  it('are UUIDs of version 7: 48 bits of time, then version, variant and what was drawn (RFC 9562, 5.7)', () => {
    const drawn = fc.uint8Array({ minLength: 10, maxLength: 10 });
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 48 - 1 }), drawn, (now, bytes) => {
        const id = uuidv7(clockAt(now), drawing(bytes));
        expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
        const hex = Buffer.from(id.replaceAll('-', ''), 'hex');
        expect(hex.readUIntBE(0, 6)).toBe(now);
        expect([hex[6] & 0x0f, hex[7], hex[8] & 0x3f, ...hex.subarray(9)]).toEqual([
          bytes[0] & 0x0f,
          bytes[1],
          bytes[2] & 0x3f,
          ...bytes.subarray(3),
        ]);
      }),
    );
  });

  it('say what they are ids of', () => {
    expect(newId('req', clockAt(0), drawing(new Uint8Array(10)))).toBe(
      'req_00000000-0000-7000-8000-000000000000',
    );
  });
});
