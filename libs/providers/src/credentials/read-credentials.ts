import { unknownField, type DetailType, type ErrorDetail, type ProviderCredential } from '@gateway/contracts';
import type { ProviderAccess } from '../provider.js';
import { AWS_REGIONS, VERTEX_LOCATIONS } from './regions.js';

/** Hosts of Azure's own that a caller's endpoint may name; the operator may set others. */
const AZURE_SUFFIXES: readonly string[] = [
  'openai.azure.com',
  'cognitiveservices.azure.com',
  'services.ai.azure.com',
];

/** A checked credential, and what may be shown of it. */
export interface ReadCredentials {
  credential: ProviderCredential;
  masked: string;
}

type Members = Readonly<Record<string, unknown>>;
type Reader = (members: MemberReader, options: { azureSuffixes: readonly string[] }) => ReadCredentials;

/** Providers that are called with more than one key; those of the two clouds have plain keys as well. */
const SIGNED: Readonly<Record<string, Reader>> = {
  azure: readAzure,
  'amazon-bedrock': readAws,
  'google-vertex': readVertex,
};
const KEYED: readonly string[] = ['amazon-bedrock', 'google-vertex'];

/** Characters that may be in a header: a line break would end it. */
const SECRET = /^[\x21-\x7e]{1,8192}$/;
const TOKEN_URI = 'https://oauth2.googleapis.com/token';
const LOC = 'credentials';

/** Credentials as a caller sends them for a provider, or every fault of them. A bare text is an api_key. */
export function readCredentials(
  slug: string,
  sent: unknown,
  options = { azureSuffixes: AZURE_SUFFIXES },
): ReadCredentials | ErrorDetail[] {
  const value = typeof sent === 'string' ? { api_key: sent } : sent;
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return [{ type: 'wrong_type', loc: [LOC], msg: 'credentials must be an object.' }];
  const members = new MemberReader(value as Members);
  const isSigned = Object.hasOwn(SIGNED, slug) && !(KEYED.includes(slug) && 'api_key' in value);
  const read = (isSigned ? SIGNED[slug] : readApiKey)(members, options);
  members.refuseOthers();
  return members.faults.length > 0 ? members.faults : read;
}

/** Members of a credential, each read once; collects the faults. */
class MemberReader {
  readonly faults: ErrorDetail[] = [];
  private readonly known = new Set<string>();

  constructor(private readonly members: Members) {}

  /** Text of this form; an empty text where it is not. */
  text(name: string, form: RegExp, says: string): string {
    this.known.add(name);
    const value = this.members[name];
    if (typeof value === 'string' && form.test(value)) return value;
    const type = value === undefined ? 'missing' : 'value_error';
    this.fault(name, value === undefined ? 'field required' : says, type);
    return '';
  }

  secret(name: string): string {
    return this.text(name, SECRET, `${name} must be printable text without spaces.`);
  }

  optionalSecret(name: string): string | null {
    this.known.add(name);
    return this.members[name] == null ? null : this.secret(name);
  }

  oneOf(name: string, values: ReadonlySet<string>): string {
    const value = this.text(name, /^/, `${name} must be text.`);
    if (value !== '' && !values.has(value)) this.fault(name, `${name} is not a known one.`);
    return value;
  }

  /** A JSON object, or its text. */
  json(name: string): Members {
    this.known.add(name);
    const value = this.members[name];
    const parsed = typeof value === 'string' ? parsedJson(value) : value;
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return parsed as Members;
    this.fault(name, value === undefined ? 'field required' : `${name} must be a JSON object or its text.`);
    return {};
  }

  fault(name: string, msg: string, type: DetailType = 'value_error'): void {
    this.faults.push({ type, loc: [LOC, name], msg });
  }

  refuseOthers(): void {
    for (const name of Object.keys(this.members))
      if (!this.known.has(name)) this.fault(name, unknownField(name, this.known), 'unknown_field');
  }
}

function readApiKey(members: MemberReader): ReadCredentials {
  const key = members.secret('api_key');
  return { credential: { kind: 'api_key', key }, masked: maskedSecret(key) };
}

function readAzure(
  members: MemberReader,
  { azureSuffixes }: { azureSuffixes: readonly string[] },
): ReadCredentials {
  const key = members.secret('api_key');
  const endpoint = members.text('endpoint', /^[\x21-\x7e]{1,512}$/, 'endpoint must be an https address.');
  const apiVersion = members.text(
    'api_version',
    /^(?:\d{4}-\d{2}-\d{2}(?:-preview)?|v1|preview)$/,
    'api_version must be a date such as 2024-10-21, or v1.',
  );
  const origin = azureOrigin(endpoint, azureSuffixes);
  if (endpoint !== '' && origin === null)
    members.fault(
      'endpoint',
      `endpoint must be https on port 443 with a host below ${azureSuffixes.join(', ')}.`,
    );
  return {
    credential: { kind: 'azure', key, endpoint: origin ?? '', apiVersion },
    masked: maskedSecret(key),
  };
}

/** The origin of an endpoint whose host ends, at a dot, in one of the suffixes; null for any other. */
function azureOrigin(endpoint: string, suffixes: readonly string[]): string | null {
  if (!URL.canParse(endpoint)) return null;
  const url = new URL(endpoint);
  const isPlain = url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  const isOwn = suffixes.some((suffix) => url.hostname.endsWith(`.${suffix}`));
  if (url.protocol !== 'https:' || url.port !== '' || url.pathname !== '/' || !isPlain || !isOwn) return null;
  return url.origin;
}

function readAws(members: MemberReader): ReadCredentials {
  const accessKeyId = members.text('access_key_id', /^[A-Z0-9]{16,128}$/, 'This is not an access key id.');
  const secretAccessKey = members.secret('secret_access_key');
  const sessionToken = members.optionalSecret('session_token');
  const region = members.oneOf('region', AWS_REGIONS);
  return {
    credential: { kind: 'aws', accessKeyId, secretAccessKey, sessionToken, region },
    masked: maskedSecret(accessKeyId),
  };
}

function readVertex(members: MemberReader): ReadCredentials {
  const account = members.json('service_account_json');
  const project = members.text('project', /^[a-z][a-z0-9:.-]{2,63}$/, 'This is not a project id.');
  const location = members.oneOf('location', VERTEX_LOCATIONS);
  const fault = serviceAccountFault(account);
  if (members.faults.length === 0 && fault !== null) members.fault('service_account_json', fault);
  const { client_email, private_key, private_key_id } = account;
  return {
    credential: {
      kind: 'vertex',
      clientEmail: String(client_email),
      privateKey: String(private_key),
      privateKeyId: typeof private_key_id === 'string' ? private_key_id : null,
      project,
      location,
    },
    masked: String(client_email),
  };
}

/** Returns a fault unless it is a service account's own key: other kinds name addresses that would be called. */
function serviceAccountFault({ type, client_email, private_key, token_uri }: Members): string | null {
  if (type !== 'service_account') return 'Only credentials of type service_account are taken.';
  if (typeof client_email !== 'string' || !/^[\w.+-]{1,128}@[\w.-]{1,128}$/.test(client_email))
    return 'client_email is not an address.';
  if (typeof private_key !== 'string' || !/^-----BEGIN PRIVATE KEY-----\s/.test(private_key))
    return 'private_key is not a PEM private key.';
  if (private_key.length > 8_192) return 'private_key is too long.';
  return token_uri == null || token_uri === TOKEN_URI ? null : `token_uri must be ${TOKEN_URI}.`;
}

/** Returns what may be shown of a credential. */
export function maskedCredential(credential: ProviderAccess['credential']): string {
  switch (credential.kind) {
    case 'issued_token':
    case 'issued_keys':
      return credential.by;
    case 'aws':
      return maskedSecret(credential.accessKeyId);
    case 'vertex':
      return credential.clientEmail;
    default:
      return maskedSecret(credential.key);
  }
}

/** First and last four characters of a long one, nothing of a short one. */
function maskedSecret(secret: string): string {
  return secret.length < 20 ? '****' : `${secret.slice(0, 4)}...${secret.slice(-4)}`;
}

function parsedJson(text: string): unknown {
  try {
    return text.length > 16_384 ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
