import type { ProviderCredential } from '@gateway/contracts';
import type { EnvReader, ProviderAccess } from '../provider.js';

export type AwsCredential = Extract<ProviderCredential, { kind: 'aws' }>;

const DEFAULT_REGION = 'us-east-1';
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
  AWS_ACCESS_KEY_ID: 'with the next one in place of the bearer key',
  AWS_SECRET_ACCESS_KEY: 'with the one before',
  AWS_SESSION_TOKEN: 'of temporary keys',
  AWS_REGION: `default: ${DEFAULT_REGION}`,
  AWS_DEFAULT_REGION: 'where AWS_REGION is not set',
  [BUCKET]: 'bucket through which Bedrock takes batches; needs an access key',
  [ROLE]: 'role with which Bedrock reads and writes that bucket',
  [STORE]: 'address of a bucket that is not at AWS',
};

/** The bearer key where there is one, else the usual variables of an account. */
export function accessFrom(read: EnvReader): ProviderAccess | undefined {
  const region = read('AWS_REGION') ?? read('AWS_DEFAULT_REGION') ?? DEFAULT_REGION;
  const baseUrl = endpointOf(region);
  const key = read('AWS_BEARER_TOKEN_BEDROCK');
  const batchPlace = batchPlaceFrom(read);
  if (key !== undefined) {
    if (batchPlace !== undefined)
      throw new TypeError(`${BUCKET} needs AWS_ACCESS_KEY_ID: AWS_BEARER_TOKEN_BEDROCK opens no bucket.`);
    return { baseUrl, credential: { kind: 'api_key', key } };
  }
  const accessKeyId = read('AWS_ACCESS_KEY_ID');
  const secretAccessKey = read('AWS_SECRET_ACCESS_KEY');
  if (accessKeyId === undefined && secretAccessKey === undefined) return undefined;
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw new TypeError(
      'AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are one credential: the other one is missing.',
    );
  const sessionToken = read('AWS_SESSION_TOKEN') ?? null;
  return {
    ...{ baseUrl, credential: { kind: 'aws', accessKeyId, secretAccessKey, sessionToken, region } },
    ...(batchPlace === undefined ? {} : { batchPlace }),
  };
}

/** Returns null unless both variables are set: then there are no batches. Throws TypeError. Throws TypeError. */
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
  if (batchPlace === undefined || credential.kind !== 'aws')
    throw new TypeError('there is no bucket for batches');
  const { bucket, endpoint } = batchPlace;
  // A name with dots fits no certificate of the store.
  const root = endpoint ?? `https://s3.${credential.region}.amazonaws.com`;
  return `${root}/${bucket}${path}`;
}

/** The address of the credential's region; one that the operator chose stays. */
export function addressFor({ baseUrl, credential }: ProviderAccess): string {
  return credential.kind === 'aws' && ENDPOINT.test(baseUrl) ? endpointOf(credential.region) : baseUrl;
}
