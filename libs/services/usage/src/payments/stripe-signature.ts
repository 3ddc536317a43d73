import { createHmac, timingSafeEqual } from 'node:crypto';

const TOLERANCE_SECONDS = 300;
const HEADER_MAX = 2_000;

/** True if Stripe's `t=…,v1=…` header signs these very bytes with the secret, within five minutes of `now`. */
export function isSigned(
  bytes: Buffer,
  header: unknown,
  { secret, now }: { secret: string; now: number },
): boolean {
  if (typeof header !== 'string' || header.length > HEADER_MAX) return false;
  const terms = header.split(',').map((term) => term.trim().split('='));
  const time = terms.find(([name]) => name === 't')?.[1] ?? '';
  if (!/^\d{1,12}$/.test(time) || Math.abs(now / 1000 - Number(time)) > TOLERANCE_SECONDS) return false;
  const expected = createHmac('sha256', secret).update(`${time}.`).update(bytes).digest();
  return terms.some(([name, value = '']) => {
    const given = Buffer.from(value, 'hex');
    return name === 'v1' && given.length === expected.length && timingSafeEqual(given, expected);
  });
}
