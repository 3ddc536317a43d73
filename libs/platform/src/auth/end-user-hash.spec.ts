import { endUserHash } from './end-user-hash.js';

describe('the stored form of an end user', () => {
  it('is an HMAC-SHA-256 under the account’s key, the same in every release: stored rows are found by it', () => {
    expect(endUserHash(Buffer.alloc(32, 1), 'alice')).toBe('uaxO5yQr6i8H5nZPBotej4zvf-OUHDqWEhLuec3gnOc');
    expect(endUserHash(Buffer.alloc(32, 2), 'alice')).not.toBe('uaxO5yQr6i8H5nZPBotej4zvf-OUHDqWEhLuec3gnOc');
  });
});
