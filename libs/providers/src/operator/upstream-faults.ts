import type { OwnProvider } from './gateway-config.js';
import { isBuiltIn } from './gateway-config.js';
import type { EntryFault, Path } from './entry-fault.js';

/** Headers that the transport or the wire format writes. */
const REFUSED_HEADERS =
  /^(host|content-.*|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect|accept-encoding)$/;
/** Names whose values are credentials: the file holds a reference to them. */
const CREDENTIAL = /^(authorization|cookie)$|key|token|secret|password/;
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/;
const QUERY_NAME = /^[\w.~-]{1,100}$/;
const VARIABLE = /^[A-Z][A-Z0-9_]{0,99}$/;
const VALUE_BYTES_MAX = 8_192;
/** Providers whose requests are signed with their address. */
const SIGNED = ['amazon-bedrock'];

/** True for a text that can be sent as a header or in a query. */
export function isSendable(value: string): boolean {
  return value !== '' && Buffer.byteLength(value) <= VALUE_BYTES_MAX && /^[\t\x20-\x7e]+$/.test(value);
}

/** Yields what is wrong with the headers, the query and the TLS members of one provider of the file. */
export function* upstreamFaults(entry: OwnProvider): Generator<EntryFault> {
  const { slug, dialect, headers = {}, query = {}, api_key_env: keyVariable } = entry;
  const add = (words: string, within: Path = []): EntryFault => ({ entry, within, words });
  const names = new Set<string>();
  for (const [name, value] of Object.entries(headers)) {
    const at = ['headers', name];
    const lower = name.toLowerCase();
    if (!HEADER_NAME.test(name)) yield add('this is no name of a header.', at);
    else if (REFUSED_HEADERS.test(lower)) yield add('the gateway writes this header itself.', at);
    else if (names.has(lower)) yield add('this header is there twice.', at);
    else if (lower === 'authorization' && (keyVariable !== undefined || isBuiltIn(slug)))
      yield add('the key of the provider is sent in it: leave one of them out.', at);
    else yield* valueFaults(lower, value, at, add);
    names.add(lower);
  }
  for (const [name, value] of Object.entries(query)) {
    const at = ['query', name];
    if (!QUERY_NAME.test(name)) yield add('this is no name of a query member.', at);
    else yield* valueFaults(name.toLowerCase(), value, at, add);
  }
  if (Object.keys(query).length > 0 && (SIGNED.includes(slug) || dialect === 'converse'))
    yield add('requests are signed with their address, so that nothing can be added to it.', ['query']);
  if (entry.deployments !== undefined && slug !== 'azure')
    yield add('azure alone has deployments.', ['deployments']);
  if (entry.discover_deployments !== undefined && slug !== 'azure')
    yield add('azure alone has deployments.', ['discover_deployments']);
  yield* tlsFaults(entry, add);
}

function* valueFaults(
  name: string,
  value: unknown,
  at: Path,
  add: (words: string, within: Path) => EntryFault,
): Generator<EntryFault> {
  if (typeof value === 'string') {
    if (CREDENTIAL.test(name)) yield add('it carries a credential: write {env: NAME}, never the value.', at);
    else if (!isSendable(value)) yield add('this has to be printable ASCII of at most 8 KiB.', at);
    return;
  }
  const reference = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  const [[member, variable] = []] = reference;
  if (reference.length !== 1 || member !== 'env' || typeof variable !== 'string' || !VARIABLE.test(variable))
    yield add('this has to be a text in quotes, or {env: NAME} with the name of a variable.', at);
}

function* tlsFaults(
  entry: OwnProvider,
  add: (words: string, within: Path) => EntryFault,
): Generator<EntryFault> {
  const { base_url, client_cert_file: cert, client_key_file: key } = entry;
  if (cert !== undefined && key === undefined)
    yield add('it needs client_key_file beside it.', ['client_cert_file']);
  if (key !== undefined && cert === undefined)
    yield add('it needs client_cert_file beside it.', ['client_key_file']);
  if (base_url === undefined || !/^http:/.test(base_url)) return;
  for (const name of ['ca_file', 'client_cert_file', 'client_key_file'] as const)
    if (entry[name] !== undefined) yield add('base_url is an http address, which has no TLS.', [name]);
}
