import { SystemRandom } from '@gateway/platform';
import { hashPassword, verifyPassword } from './password.js';

const random = new SystemRandom();

describe('passwords', () => {
  it('are argon2id with a salt of their own', async () => {
    const [one, two] = [
      await hashPassword('correct horse', random),
      await hashPassword('correct horse', random),
    ];
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(one).not.toBe(two);
    expect(await verifyPassword('correct horse', one)).toBe(true);
    expect(await verifyPassword('correct horsf', one)).toBe(false);
  });

  it('are the same in either Unicode form', async () => {
    expect(await verifyPassword('caf\u00e9', await hashPassword('cafe\u0301', random))).toBe(true);
  });

  it.each(['', 'none', '$2b$10$abcdefghijklmnopqrstuv', '$argon2id$v=19$m=1,t=1,p=1$short$short'])(
    'no password opens an account whose stored text is %j',
    async (stored) => {
      expect(await verifyPassword('', stored)).toBe(false);
    },
  );
});
