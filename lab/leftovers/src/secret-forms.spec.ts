import { randomBytes } from 'node:crypto';
import { mintSecret } from '@gateway/platform';
import { seededRandom } from '@gateway/testing/plain';
import { secretsIn } from './secret-forms.js';

const random = seededRandom(7);
const base64url = (bytes: number): string => Buffer.from(random.bytes(bytes)).toString('base64url');
const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const sessionToken = `${part({ alg: 'EdDSA', typ: 'at+jwt', kid: 'k' })}.${part({ sub: 'usr_0123456789' })}.${base64url(64)}`;

const SECRETS: [string, string][] = [
  ['API key', mintSecret('rsk_', random)],
  ['admin key', mintSecret('mak_', random)],
  ['signing secret', `whsec_${Buffer.from(random.bytes(32)).toString('base64')}`],
  ['session token', sessionToken],
  ['client secret', `ek_${base64url(120)}`],
];

describe('secretsIn', () => {
  it.each(SECRETS)('finds an %s as it is, in hex, and in base64 at each alignment', (form, secret) => {
    const found = [{ form, start: `${secret.slice(0, 12)}...` }];
    expect(secretsIn(`{"a":"${secret}"}`)).toEqual(found);
    expect(secretsIn(`\\x${Buffer.from(`{"a":"${secret}"}`).toString('hex')}`)).toEqual(found);
    for (const before of ['', 'a', 'ab', 'abc']) {
      const text = Buffer.from(`${before}"${secret}"`);
      expect([before, secretsIn(`x ${text.toString('base64')}`)]).toEqual([before, found]);
      expect([before, secretsIn(`x.${text.toString('base64url')}`)]).toEqual([before, found]);
    }
  });

  it('passes over what has the form of a secret and is none', () => {
    const [, key] = SECRETS[0];
    const wrongChecksum = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`;
    const otherToken = sessionToken.replace(/^[^.]+/, part({ alg: 'RS256', typ: 'JWT', kid: 'k' }));
    expect(secretsIn([wrongChecksum, otherToken, key.slice(0, 40), 'rsk_ab12...wxyz'].join(' '))).toEqual([]);
    expect(secretsIn(randomBytes(100_000).toString('base64'))).toEqual([]);
  });
});
