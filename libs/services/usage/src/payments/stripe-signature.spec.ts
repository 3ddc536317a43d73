import { createHmac } from 'node:crypto';
import { isSigned } from './stripe-signature.js';

const SECRET = 'whsec_test';
const SECONDS = 1_700_000_000;
const body = Buffer.from('{"id":"evt_1"}');

function sign(time: number | string, secret = SECRET, bytes = body): string {
  return createHmac('sha256', secret).update(`${time}.`).update(bytes).digest('hex');
}

const check = (header: unknown, now = SECONDS * 1_000, bytes = body): boolean =>
  isSigned(bytes, header, { secret: SECRET, now });

describe('the signature of a report of Stripe', () => {
  const good = `t=${SECONDS},v1=${sign(SECONDS)}`;

  it('signs these very bytes with the secret', () => {
    expect(check(good)).toBe(true);
    expect(check(good, undefined, Buffer.from('{"id":"evt_2"}'))).toBe(false);
    expect(check(`t=${SECONDS},v1=${sign(SECONDS, 'other')}`)).toBe(false);
    expect(check(`t=${SECONDS + 1},v1=${sign(SECONDS)}`)).toBe(false);
  });

  it('stands for five minutes, before and after', () => {
    for (const seconds of [300, -300]) expect(check(good, (SECONDS + seconds) * 1_000)).toBe(true);
    for (const seconds of [300.001, -300.001, 1e6])
      expect(check(good, (SECONDS + seconds) * 1_000)).toBe(false);
  });

  it('is one of several terms, of any order and scheme, with blanks between them', () => {
    expect(check(`v1=${sign(SECONDS, 'old')}, v1=${sign(SECONDS)} , t=${SECONDS}`)).toBe(true);
    expect(check(`t=${SECONDS},v0=${sign(SECONDS)}`)).toBe(false);
    expect(check(`t=${SECONDS},v0=${sign(SECONDS)},v1=00`)).toBe(false);
  });

  it.each([
    undefined,
    null,
    ['t=1'],
    '',
    't',
    'v1',
    `v1=${sign(SECONDS)}`,
    `t=,v1=${sign('')}`,
    `t=1e9,v1=${sign('1e9')}`,
    `t=${SECONDS}`,
    `t=${SECONDS},v1`,
    `t=${SECONDS},v1=`,
    `t=${SECONDS},v1=${sign(SECONDS)}00`,
    `t=${SECONDS},v1=${sign(SECONDS).slice(0, -2)}`,
    `t=${SECONDS},v1=zz${sign(SECONDS)}`,
    `t=0000${SECONDS},v1=${sign(`0000${SECONDS}`)}`,
  ])('refuses the header %j', (header) => {
    expect(check(header)).toBe(false);
  });

  it('reads a header of at most 2,000 characters', () => {
    const padded = (length: number): string => `${good},`.padEnd(length, 'x');
    expect(check(padded(2_000))).toBe(true);
    expect(check(padded(2_001))).toBe(false);
  });
});
