import { createHmac } from 'node:crypto';
import { verdictOf } from './signature.js';

const at = 1_750_000_000;
const nowMs = at * 1_000;
const body = '{"id":"evt_1","type":"channel.test","data":{"note":"ä"}}';
const term = (secret: string): string =>
  `v1=${createHmac('sha256', secret).update(`${at}.${body}`).digest('hex')}`;
const delivery = (signature: string): Parameters<typeof verdictOf>[0] => ({
  secret: 'whsec_new',
  timestamp: String(at),
  signature,
  body,
});

describe('the verdict about a delivery', () => {
  it('takes the term of either secret during a rotation', async () => {
    const both = `${term('whsec_old')}, ${term('whsec_new')}`;
    expect(await verdictOf(delivery(both), nowMs)).toBe('valid');
    expect(await verdictOf({ ...delivery(both), secret: ' whsec_old\n' }, nowMs)).toBe('valid');
  });

  it('refuses a changed byte, another secret, and what is no signature', async () => {
    const sent = delivery(term('whsec_new'));
    expect(await verdictOf({ ...sent, body: body.replace('ä', 'a') }, nowMs)).toBe('invalid');
    expect(await verdictOf({ ...sent, timestamp: String(at + 1) }, nowMs)).toBe('invalid');
    expect(await verdictOf({ ...sent, secret: 'whsec_other' }, nowMs)).toBe('invalid');
    expect(await verdictOf({ ...sent, signature: 'v1=00' }, nowMs)).toBe('unreadable');
    expect(await verdictOf({ ...sent, timestamp: 'now' }, nowMs)).toBe('unreadable');
  });

  it('names a right one that is too old', async () => {
    expect(await verdictOf(delivery(term('whsec_new')), nowMs + 301_000)).toBe('late');
  });
});
