import { badReply, type UpstreamBody } from '@gateway/dialects';

/** A name stands for itself and for every name below it. */
export interface NamedHosts {
  /** Get the credential. */
  readonly api: readonly string[];
  /** Get none: results wait there to be fetched. */
  readonly results: readonly string[];
}

/**
 * An address that an answer named, where it leads to the provider: over TLS to one of `hosts`, or to the address at which
 * the provider is called. Throws ExchangeFailure for every other: nothing that a provider answers makes the gateway
 * call its own network.
 */
export function namedAddress(text: string, hosts: readonly string[], baseUrl: string): string {
  if (URL.canParse(text)) {
    const { origin, hostname, protocol, port, username, password, href } = new URL(text);
    const isPlain = username === '' && password === '';
    if (isPlain && origin === new URL(baseUrl).origin) return href;
    const isTheirs = hosts.some((host) => hostname === host || hostname.endsWith(`.${host}`));
    if (isPlain && isTheirs && protocol === 'https:' && port === '') return href;
  }
  throw badReply('the answer names an address that is none of the provider’s.');
}

/** Returns the address of a request: below the provider's address, or the one that its own answer named. */
export function addressOf({ path, url }: UpstreamBody, baseUrl: string, hosts: readonly string[]): string {
  return url === undefined ? `${baseUrl}${path}` : namedAddress(url, hosts, baseUrl);
}
