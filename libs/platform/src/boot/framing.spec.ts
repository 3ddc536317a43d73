import type { IncomingMessage } from 'node:http';
import { framingFault } from './framing.js';

/** Builds a request as Node's parser hands it over: the first of headers that may be there once. */
function fault(pairs: [string, string][], more: Partial<IncomingMessage> = {}): string | null {
  const headers: Record<string, string> = {};
  for (const [name, value] of pairs) headers[name.toLowerCase()] ??= value;
  headers.host ??= 'x';
  const request = { url: '/v1/models', httpVersion: '1.1', headers, rawHeaders: pairs.flat(), ...more };
  return framingFault(request as IncomingMessage);
}

describe('the one meaning of a request', () => {
  it('U16 lets an ordinary request through', () => {
    expect(fault([])).toBeNull();
    expect(fault([['Host', 'gateway.example.com:8080']])).toBeNull();
    expect(fault([['host', '[::1]:8080']])).toBeNull();
    expect(fault([['Transfer-Encoding', 'CHUNKED']])).toBeNull();
    expect(fault([['Expect', '100-Continue']])).toBeNull();
    expect(fault([], { httpVersion: '1.0', headers: {} })).toBeNull();
    expect(fault([['Host', 'x']], { url: '*' })).toBeNull();
    // The same length as one that may come once.
    expect(fault([['Date', 'a'], ['Date', 'b'], ['x-forwarded-h', 'a'], ['x-forwarded-h', 'b']])).toBeNull(); // prettier-ignore
  });

  it.each<[string, [string, string][], Partial<IncomingMessage>]>([
    ['two hosts', [['Host', 'a'], ['host', 'a']], {}], // prettier-ignore
    ['two authorizations', [['Authorization', 'Bearer a'], ['AUTHORIZATION', 'Bearer b']], {}], // prettier-ignore
    ['two content types', [['Content-Type', 'text/plain'], ['Host', 'x'], ['content-type', 'application/json']], {}], // prettier-ignore
    ['no host', [], { headers: {} }],
    ['an expectation that is not known', [['Expect', '200-ok']], {}],
    ['a host with a path', [['Host', 'x/y']], {}],
    ['a host with a space', [['Host', 'x y']], {}],
    ['gzip below chunked', [['Transfer-Encoding', 'gzip, chunked']], {}],
    ['chunked in HTTP/1.0', [['Transfer-Encoding', 'chunked']], { httpVersion: '1.0' }],
    ['HTTP/0.9', [], { httpVersion: '0.9' }],
    ['HTTP/2.0', [], { httpVersion: '2.0' }],
    ['the absolute form', [], { url: 'http://127.0.0.1/v1/models' }],
    ['a target without a slash', [], { url: 'v1/models' }],
    ['an empty target', [], { url: '' }],
  ])('U16 refuses %s', (_name, pairs, more) => {
    expect(fault(pairs, more)).toEqual(expect.any(String));
  });
});
