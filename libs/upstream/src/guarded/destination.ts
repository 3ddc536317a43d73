import { isIP } from 'node:net';
import { isPublicAddress } from './public-address.js';
import type { Resolve } from './resolver.js';

/** Rejection of a destination, in words for the person who named it. */
export class DestinationRefused extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'DestinationRefused';
  }
}

export interface DestinationRules {
  /** `host:port` of private destinations that the operator allows, in lower case. */
  allowPrivate: ReadonlySet<string>;
  ports: ReadonlySet<number>;
  resolve: Resolve;
  /** Resolver of the destinations that the operator allows. */
  resolveAllowed: Resolve;
}

export interface Destination {
  url: URL;
  /** Addresses to connect to: all of them were checked. Empty where the host is an address itself. */
  addresses: readonly string[];
}

/**
 * Reads the address that a caller has set and resolves it. Throws DestinationRefused where it is none of the public
 * Internet, and what the resolver throws where nobody could say.
 */
export async function checkedDestination(text: string, rules: DestinationRules): Promise<Destination> {
  const url = urlOf(text);
  const host = url.hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  const isAllowed = rules.allowPrivate.has(`${host}:${port}`);
  if (!isAllowed && !rules.ports.has(port))
    throw new DestinationRefused(`The port has to be one of ${[...rules.ports].join(', ')}.`);
  if (isIP(host) !== 0) {
    if (!isAllowed && !isPublicAddress(host)) throw notPublic();
    return { url, addresses: [] };
  }
  if (isAllowed) return { url, addresses: await some(rules.resolveAllowed, host) };
  if (host === 'localhost' || host.endsWith('.localhost')) throw notPublic();
  const addresses = await some(rules.resolve, host);
  // One of several is enough: the connection could be made to any of them.
  if (!addresses.every(isPublicAddress)) throw notPublic();
  return { url, addresses };
}

function urlOf(text: string): URL {
  if (!URL.canParse(text)) throw new DestinationRefused('This is no URL.');
  // The parser folds other spellings of an address, such as 2130706433 or 0x7f.1.
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new DestinationRefused('The URL has to begin with http:// or https://.');
  if (url.username !== '' || url.password !== '')
    throw new DestinationRefused('The URL must not hold a user name or password.');
  return url;
}

async function some(resolve: Resolve, host: string): Promise<string[]> {
  const found = await resolve(host);
  if (found.length === 0) throw new DestinationRefused('The host name does not resolve.');
  return found;
}

function notPublic(): DestinationRefused {
  return new DestinationRefused('The host is not on the public Internet.');
}
