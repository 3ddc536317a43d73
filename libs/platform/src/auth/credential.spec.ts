import { ApiError } from '@gateway/contracts';
import type { IncomingHttpHeaders } from 'node:http';
import { Socket } from 'node:net';
import { credentialOfRequest, parseCredential } from './authenticator.js';
import { mintSecret } from './secret.js';
import { SystemRandom } from '../time/system.js';

const random = new SystemRandom();
const [a, b] = [mintSecret('rsk_', random), mintSecret('rsk_', random)];

function bearer(secret: string): IncomingHttpHeaders {
  return { authorization: `Bearer ${secret}` };
}

describe('credentialOfRequest', () => {
  it('gives a kept connection the same credential while it presents the same text', () => {
    const socket = new Socket();
    const first = credentialOfRequest({ headers: bearer(a), socket });
    expect(first).toEqual(parseCredential(bearer(a)));
    expect(credentialOfRequest({ headers: bearer(a), socket })).toBe(first);
  });

  it('takes each text for itself where a connection carries several callers', () => {
    const socket = new Socket();
    for (const headers of [bearer(a), bearer(b), { 'x-api-key': a }, { 'x-api-key': b }, bearer(a)])
      expect(credentialOfRequest({ headers, socket })).toEqual(parseCredential(headers));
  });

  it('lets Authorization win over x-api-key, also where only that was there before', () => {
    const socket = new Socket();
    const apiKey = { 'x-api-key': a };
    credentialOfRequest({ headers: apiKey, socket });
    const both = { ...apiKey, ...bearer(b) };
    expect(credentialOfRequest({ headers: both, socket })).toEqual(parseCredential(bearer(b)));
  });

  it.each([{}, bearer(`${a.slice(0, -1)}!`), bearer(a.slice(0, -1)), { 'x-api-key': '' }])(
    'refuses what is missing or malformed also after a good one: %j',
    (headers) => {
      const socket = new Socket();
      const good = credentialOfRequest({ headers: bearer(a), socket });
      expect(() => credentialOfRequest({ headers, socket })).toThrow(ApiError);
      expect(credentialOfRequest({ headers: bearer(a), socket })).toBe(good);
    },
  );

  it('shares nothing between connections', () => {
    const first = credentialOfRequest({ headers: bearer(a), socket: new Socket() });
    const second = credentialOfRequest({ headers: bearer(a), socket: new Socket() });
    expect(second).toEqual(first);
    expect(second).not.toBe(first);
    expect(() => credentialOfRequest({ headers: {}, socket: new Socket() })).toThrow(ApiError);
  });
});
