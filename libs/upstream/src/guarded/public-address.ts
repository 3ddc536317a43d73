import ipaddr from 'ipaddr.js';

/** Ranges that ipaddr.js calls unicast, or names otherwise, and that hold no public server (reliability: addresses). */
const NOT_PUBLIC = [
  '0.0.0.0/8',
  '100.64.0.0/10',
  // Azure's own agent, reachable from every machine there.
  '168.63.129.16/32',
  '192.0.0.0/24',
  '192.88.99.0/24',
  '198.18.0.0/15',
  '240.0.0.0/4',
  '::/96',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/32',
  '2002::/16',
  '3fff::/20',
  '5f00::/16',
  'fec0::/10',
].map((range) => ipaddr.parseCIDR(range));

/** True if an address, as text without brackets, is one of the public Internet. False for what is no address. */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  // An IPv4 address in IPv6's clothes is judged as what it is.
  const address = ipaddr.process(text);
  if (address.range() !== 'unicast') return false;
  return !NOT_PUBLIC.some(([range, bits]) => address.kind() === range.kind() && address.match(range, bits));
}
