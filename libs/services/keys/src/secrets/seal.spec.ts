import { pepperedDigest } from './seal.js';

const key = Buffer.alloc(32, 7);

describe('pepperedDigest', () => {
  it('is HMAC-SHA256 over the bytes of the digest, not over its text', () => {
    // printf '%064d' 0 | xxd -r -p | openssl dgst -sha256 -mac HMAC -macopt hexkey:$(printf '07%.0s' $(seq 32))
    expect(pepperedDigest(key, '00'.repeat(32))).toBe(
      '2218b7858ad25437f7c681339eb7624b36ae3578527e72bb7ceff3870e208f33',
    );
  });
});
