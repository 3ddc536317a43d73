import type { ProviderCredential } from '@gateway/contracts';
import { neededBy, wayOf } from '../issued/ways.js';
import type { EnvReader, ProviderAccess } from '../provider.js';
import { defaultChainKeys, webIdentityKeys } from './issued-keys.js';

export type AwsCredential = Extract<ProviderCredential, { kind: 'aws' }>;

const DEFAULT_REGION = 'us-east-1';
const AUTH = 'AWS_BEDROCK_AUTH';
const WAYS = ['bearer', 'keys', 'web_identity', 'default_chain'] as const;
type Way = (typeof WAYS)[number];
const BEARER = 'AWS_BEARER_TOKEN_BEDROCK';
const KEY_ID = 'AWS_ACCESS_KEY_ID';
const SECRET = 'AWS_SECRET_ACCESS_KEY';
const TOKEN_FILE = 'AWS_WEB_IDENTITY_TOKEN_FILE';
const ROLE_OF_TOKEN = 'AWS_ROLE_ARN';
const BUCKET = 'AWS_BEDROCK_BATCH_BUCKET';
const ROLE = 'AWS_BEDROCK_BATCH_ROLE_ARN';
/** The variable of the AWS SDKs. */
const STORE = 'AWS_ENDPOINT_URL_S3';
const BUCKET_FORM = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const ROLE_FORM = /^arn:aws[a-z-]*:iam::\d{12}:role\/[\w+=,.@/-]{1,512}$/;
const ENDPOINT = /^https:\/\/bedrock-runtime\.[a-z0-9-]+\.amazonaws\.com$/;

function endpointOf(region: string): string {
  return `https://bedrock-runtime.${region}.amazonaws.com`;
}

/** Variables that `accessFrom` reads beside the bearer key, with their purpose. */
export const FURTHER_ENV: Readonly<Record<string, string>> = {
  [AUTH]: `${WAYS.join(', ')}; default: the first of the first three whose variables are set`,
  [KEY_ID]: 'with the next one in place of the bearer key',
  [SECRET]: 'with the one before',
  AWS_SESSION_TOKEN: 'of temporary keys',
  [TOKEN_FILE]: 'web identity, with the next one',
  [ROLE_OF_TOKEN]: 'role of the web identity',
  AWS_ROLE_SESSION_NAME: 'name of the session of that role',
  AWS_PROFILE: 'profile of the default chain',
  AWS_REGION: `default: ${DEFAULT_REGION}`,
  AWS_DEFAULT_REGION: 'where AWS_REGION is not set',
  [BUCKET]: 'bucket through which Bedrock takes batches; needs an access key',
  [ROLE]: 'role with which Bedrock reads and writes that bucket',
  [STORE]: 'address of a bucket that is not at AWS',
};

/** The credential of the way that is chosen, else of the first way whose variables are set. */
export function accessFrom(read: EnvReader): ProviderAccess | undefined {
  const region = read('AWS_REGION') ?? read('AWS_DEFAULT_REGION') ?? DEFAULT_REGION;
  const batchPlace = batchPlaceFrom(read);
  const way = wayOf(AUTH, read(AUTH), WAYS) ?? firstWay(read);
  if (way === undefined) return undefined;
  if (way === 'bearer' && batchPlace !== undefined)
    throw new TypeError(`${BUCKET} needs ${KEY_ID}: ${BEARER} opens no bucket.`);
  return {
    baseUrl: endpointOf(region),
    credential: credentialOf(way, read, region),
    ...(batchPlace === undefined ? {} : { batchPlace }),
  };
}

function firstWay(read: EnvReader): Way | undefined {
  if (read(BEARER) !== undefined) return 'bearer';
  if (read(KEY_ID) !== undefined || read(SECRET) !== undefined) return 'keys';
  return read(TOKEN_FILE) !== undefined && read(ROLE_OF_TOKEN) !== undefined ? 'web_identity' : undefined;
}

function credentialOf(way: Way, read: EnvReader, region: string): ProviderAccess['credential'] {
  const needed = neededBy(read, `${AUTH}=${way}`);
  if (way === 'bearer') return { kind: 'api_key', key: needed(BEARER) };
  if (way === 'keys') return accountKeys(read, region);
  if (way === 'default_chain')
    return {
      kind: 'issued_keys',
      by: way,
      variable: AUTH,
      keys: defaultChainKeys(read('AWS_PROFILE'), region),
      region,
    };
  const identity = {
    tokenFile: needed(TOKEN_FILE),
    roleArn: needed(ROLE_OF_TOKEN),
    sessionName: read('AWS_ROLE_SESSION_NAME'),
    region,
  };
  return { kind: 'issued_keys', by: way, variable: AUTH, keys: webIdentityKeys(identity), region };
}

function accountKeys(read: EnvReader, region: string): AwsCredential {
  const accessKeyId = read(KEY_ID);
  const secretAccessKey = read(SECRET);
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw new TypeError(`${KEY_ID} and ${SECRET} are one credential: the other one is missing.`);
  const sessionToken = read('AWS_SESSION_TOKEN') ?? null;
  return { kind: 'aws', accessKeyId, secretAccessKey, sessionToken, region };
}

/** Returns undefined unless both variables are set: then there are no batches. Throws TypeError. */
function batchPlaceFrom(read: EnvReader): ProviderAccess['batchPlace'] {
  const bucket = read(BUCKET);
  const roleArn = read(ROLE);
  if (bucket === undefined && roleArn === undefined) return undefined;
  if (!BUCKET_FORM.test(bucket ?? ''))
    throw new TypeError(`${BUCKET} is no name of a bucket; ${ROLE} needs one.`);
  if (!ROLE_FORM.test(roleArn ?? ''))
    throw new TypeError(`${ROLE} is no ARN of a role; ${BUCKET} needs one.`);
  const endpoint = read(STORE)?.replace(/\/+$/, '') ?? null;
  if (endpoint !== null && !/^https?:\/\/[^/]/.test(endpoint))
    throw new TypeError(`${STORE} is not an http(s) address.`);
  return { bucket: bucket ?? '', roleArn: roleArn ?? '', endpoint };
}

/** Returns the address of jobs: beside the address of the models, or the same where the operator chose one. */
export function jobsAddressFor(access: ProviderAccess): string {
  return addressFor(access).replace('https://bedrock-runtime.', 'https://bedrock.');
}

/** An object of the operator's bucket. Throws TypeError where there is none. */
export function objectAddress({ batchPlace, credential }: ProviderAccess, path: string): string {
  const region = regionOf(credential);
  if (batchPlace === undefined || region === null) throw new TypeError('there is no bucket for batches');
  const { bucket, endpoint } = batchPlace;
  // A name with dots fits no certificate of the store.
  const root = endpoint ?? `https://s3.${region}.amazonaws.com`;
  return `${root}/${bucket}${path}`;
}

/** The address of the credential's region; one that the operator chose stays. */
export function addressFor({ baseUrl, credential }: ProviderAccess): string {
  const region = regionOf(credential);
  return region !== null && ENDPOINT.test(baseUrl) ? endpointOf(region) : baseUrl;
}

/** Returns null for a credential that does not sign. */
function regionOf(credential: ProviderAccess['credential']): string | null {
  return credential.kind === 'aws' || credential.kind === 'issued_keys' ? credential.region : null;
}
