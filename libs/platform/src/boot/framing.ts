import type { IncomingMessage } from 'node:http';

/**
 * Two of these are two requests in one: whoever stands before us may have believed the other. Node keeps the first of
 * each and refuses a second Content-Length by itself. By length, because every request passes here.
 */
const ONCE: Readonly<Record<number, string>> = {
  4: 'host',
  12: 'content-type',
  13: 'authorization',
};
/** A name or an address, with a port (RFC 9112 3.2). */
const HOST = /^[\w.:[\]%~!$&'()*+,;=-]*$/;

const CONTINUE = /^100-continue$/i;

/** Returns the reason why a neighbour may read an accepted request in another way; null where it may not. */
export function framingFault(request: IncomingMessage): string | null {
  const { url = '', headers, rawHeaders, httpVersion } = request;
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return `HTTP/${httpVersion} is not spoken here.`;
  // The absolute form is for proxies; what follows the host would be routed as if it were ours.
  if (url.charCodeAt(0) !== 47 && url !== '*') return 'The request target has to begin with a slash.';
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && (httpVersion === '1.0' || coding.trim().toLowerCase() !== 'chunked'))
    return 'The only transfer coding is chunked, and of HTTP/1.1.';
  // Node would refuse both by itself, without an envelope and an id.
  if (headers.host === undefined && httpVersion === '1.1') return 'HTTP/1.1 needs a Host header.';
  if (headers.expect !== undefined && !CONTINUE.test(headers.expect))
    return 'The only expectation is 100-continue.';
  if (!HOST.test(headers.host ?? '')) return 'The Host header is not a host.';
  return repeated(rawHeaders);
}

function repeated(rawHeaders: readonly string[]): string | null {
  let seen = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const { length } = rawHeaders[at];
    const name = ONCE[length];
    if (name === undefined || rawHeaders[at].toLowerCase() !== name) continue;
    if ((seen & (1 << length)) !== 0) return `The header ${name} is there twice.`;
    seen |= 1 << length;
  }
  return null;
}
