import fc from 'fast-check';
import { crc32 } from 'node:zlib';
import { ApiError } from '@gateway/contracts';
import { SystemRandom } from '../time/system.js';
import { parseCredential } from './authenticator.js';
import { isWellFormedSecret, maskedSecret, mintSecret, secretDigest, SECRET_PATTERN } from './secret.js';

const random = new SystemRandom();
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SECRETS = 100_000;

describe('a secret', () => {
  it(`K01 KEY-36 ${SECRETS} of them: no collision, checksum right, every character as frequent as another`, () => {
    const seen = new Set<string>();
    const counts = new Map<string, number>();
    for (let index = 0; index < SECRETS; index += 1) {
      const secret = mintSecret('rsk_', random);
      seen.add(secret);
      if (!isWellFormedSecret(secret)) throw new Error(`Not well formed: ${secret}`);
      for (const character of secret.slice(4, 47)) counts.set(character, (counts.get(character) ?? 0) + 1);
    }
    expect(seen.size).toBe(SECRETS);
    expect([...counts.keys()].toSorted()).toEqual([...ALPHABET].toSorted());
    // Chi-square with 61 degrees of freedom; 130 is passed by chance once in a million runs.
    const expected = (SECRETS * 43) / 62;
    const chi = [...counts.values()].reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
    expect(chi).toBeLessThan(130);
  });

  it('KEY-36 is prefix, 43 base62 characters and 6 of the CRC-32 of what stands before them', () => {
    const secret = mintSecret('mak_', random);
    expect(secret).toMatch(SECRET_PATTERN);
    const value = [...secret.slice(-6)].reduce((sum, character) => sum * 62 + ALPHABET.indexOf(character), 0);
    expect(value).toBe(crc32(secret.slice(0, -6)));
  });

  it('K02 KEY-36 every one-character mutation is refused without a lookup', () => {
    const secret = mintSecret('rsk_', random);
    for (let at = 0; at < secret.length; at += 1) {
      for (const character of `${ALPHABET}-_ `) {
        if (character === secret[at]) continue;
        const mutated = `${secret.slice(0, at)}${character}${secret.slice(at + 1)}`;
        expect(() => parseCredential({ authorization: `Bearer ${mutated}` })).toThrow(ApiError);
      }
    }
  });

  it('KEY-35 is shown by the first and last four of its random part', () => {
    const secret = `rsk_ab12${'x'.repeat(35)}wxyzCCCCCC`;
    expect(maskedSecret(secret)).toBe('rsk_ab12...wxyz');
  });
});

describe('parseCredential', () => {
  const secret = mintSecret('rsk_', random);

  it('carries a key only as its digest', () => {
    const credential = parseCredential({ authorization: `bearer ${secret}` });
    expect(credential).toEqual({ kind: 'key', digest: secretDigest(secret) });
    expect(JSON.stringify(credential)).not.toContain(secret.slice(4));
  });

  it('reads admin keys, session tokens and x-api-key', () => {
    const admin = mintSecret('mak_', random);
    expect(parseCredential({ 'x-api-key': admin })).toEqual({
      kind: 'admin_key',
      digest: secretDigest(admin),
    });
    expect(parseCredential({ authorization: 'Bearer aaa.bbb.ccc' })).toEqual({
      kind: 'session',
      token: 'aaa.bbb.ccc',
    });
  });

  it('AUTH-14 AUTH-15 throws unauthorized and nothing else for any header', () => {
    fc.assert(
      fc.property(
        fc.option(fc.string({ unit: 'binary' })),
        fc.option(fc.string()),
        (authorization, apiKey) => {
          try {
            parseCredential({
              ...(authorization === null ? {} : { authorization }),
              ...(apiKey === null ? {} : { 'x-api-key': apiKey }),
            });
          } catch (failure) {
            expect(failure).toMatchObject({ code: 'unauthorized', status: 401 });
          }
        },
      ),
    );
    expect(() => parseCredential({})).toThrow(ApiError);
  });
});
