import { createHmac } from 'node:crypto';
import { signatureOf } from './signature.js';

const hmac = (secret: string, text: string): string =>
  createHmac('sha256', secret).update(text).digest('hex');

describe('the signature of a webhook', () => {
  it('is the hex HMAC-SHA256 over time, a point and the body', () => {
    expect(signatureOf(['whsec_1'], 1_700_000_000, '{"a":1}')).toBe(
      `v1=${hmac('whsec_1', '1700000000.{"a":1}')}`,
    );
  });

  it('has a term per secret while one replaces another, the first one first', () => {
    expect(signatureOf(['new', 'old'], 1, 'x')).toBe(`v1=${hmac('new', '1.x')},v1=${hmac('old', '1.x')}`);
    expect(signatureOf([], 1, 'x')).toBe('');
  });
});
