import type { ProviderCredential } from '@gateway/contracts';
import type { EnvReader, ProviderAccess } from '../provider.js';

export type AwsCredential = Extract<ProviderCredential, { kind: 'aws' }>;

const DEFAULT_REGION = 'us-east-1';
const ENDPOINT = /^https:\/\/bedrock-runtime\.[a-z0-9-]+\.amazonaws\.com$/;

function endpointOf(region: string): string {
  return `https://bedrock-runtime.${region}.amazonaws.com`;
}

/** The bearer key where there is one, else the usual variables of an account. */
export function accessFrom(read: EnvReader): ProviderAccess | undefined {
  const region = read('AWS_REGION') ?? read('AWS_DEFAULT_REGION') ?? DEFAULT_REGION;
  const baseUrl = endpointOf(region);
  const key = read('AWS_BEARER_TOKEN_BEDROCK');
  if (key !== undefined) return { baseUrl, credential: { kind: 'api_key', key } };
  const accessKeyId = read('AWS_ACCESS_KEY_ID');
  const secretAccessKey = read('AWS_SECRET_ACCESS_KEY');
  if (accessKeyId === undefined || secretAccessKey === undefined) return undefined;
  const sessionToken = read('AWS_SESSION_TOKEN') ?? null;
  return { baseUrl, credential: { kind: 'aws', accessKeyId, secretAccessKey, sessionToken, region } };
}

/** The address of the credential's region; one that the operator chose stays. */
export function addressFor({ baseUrl, credential }: ProviderAccess): string {
  return credential.kind === 'aws' && ENDPOINT.test(baseUrl) ? endpointOf(credential.region) : baseUrl;
}
