import { Issued } from '../issued/issued.js';
import { neededBy, wayOf } from '../issued/ways.js';
import type { EnvReader, ProviderAccess } from '../provider.js';
import { entra, type EntraWay } from './entra.js';

/** Every resource has its own address, https://<resource>.openai.azure.com: without it the provider is not enabled. */
export const UNSET_ADDRESS = 'https://resource.invalid/openai/v1';

const AUTH = 'AZURE_OPENAI_AUTH';
const KEY = 'AZURE_OPENAI_API_KEY';
const ADDRESS = 'AZURE_OPENAI_BASE_URL';
const TENANT = 'AZURE_TENANT_ID';
const CLIENT = 'AZURE_CLIENT_ID';
const SECRET = 'AZURE_CLIENT_SECRET';
const CERTIFICATE = 'AZURE_CLIENT_CERTIFICATE_PATH';
const TOKEN_FILE = 'AZURE_FEDERATED_TOKEN_FILE';
const AUTHORITY = 'AZURE_AUTHORITY_HOST';

/** Variables that each way needs, in the order in which they are looked for. */
const NEEDS = {
  api_key: [KEY],
  client_secret: [TENANT, CLIENT, SECRET],
  certificate: [TENANT, CLIENT, CERTIFICATE],
  workload_identity: [TENANT, CLIENT, TOKEN_FILE],
  managed_identity: [],
} as const satisfies Record<EntraWay | 'api_key', readonly string[]>;
type Way = keyof typeof NEEDS;
const WAYS = Object.keys(NEEDS) as Way[];
/** Managed identity asks an address of the machine: never by itself. */
const FOUND = WAYS.filter((way) => way !== 'managed_identity');

/** Variables that `accessFrom` reads beside the key, with their purpose. */
export const FURTHER_ENV: Readonly<Record<string, string>> = {
  [AUTH]: `${WAYS.join(', ')}; default: the first whose variables are set, but for the last`,
  [TENANT]: 'tenant of Entra ID',
  [CLIENT]: 'application of Entra ID, or a managed identity that is not the machine’s own',
  [SECRET]: 'secret of the application',
  [CERTIFICATE]: 'PEM file with its certificate and RSA key',
  [TOKEN_FILE]: 'file with the token of a workload identity',
  [AUTHORITY]: 'default: https://login.microsoftonline.com',
};

/** The key of a resource, or a token of Entra ID for it. Tokens need the address: other programs use these variables, too. */
export function accessFrom(read: EnvReader): ProviderAccess | undefined {
  const chosen = wayOf(AUTH, read(AUTH), WAYS);
  const way = chosen ?? FOUND.find((one) => NEEDS[one].every((name) => read(name) !== undefined));
  if (way === undefined) return undefined;
  if (chosen === undefined && way !== 'api_key' && read(ADDRESS) === undefined) return undefined;
  const needed = neededBy(read, `${AUTH}=${way}`);
  if (way === 'api_key') return { baseUrl: UNSET_ADDRESS, credential: { kind: 'api_key', key: needed(KEY) } };
  const authorityHost = read(AUTHORITY);
  if (authorityHost !== undefined && !/^https:\/\/[^/]/.test(authorityHost))
    throw new TypeError(`${AUTHORITY} must be an address that begins with https://.`);
  const application = {
    tenantId: way === 'managed_identity' ? '' : needed(TENANT),
    clientId: way === 'managed_identity' ? (read(CLIENT) ?? '') : needed(CLIENT),
    authorityHost,
  };
  const proof = way === 'managed_identity' ? '' : needed(NEEDS[way][2]);
  const token = new Issued(() => entra(way, application, proof));
  return { baseUrl: UNSET_ADDRESS, credential: { kind: 'issued_token', by: way, variable: AUTH, token } };
}
