import type { ProviderCredential } from '@gateway/contracts';
import { isObject } from '@gateway/dialects';
import { Issued } from '../issued/issued.js';
import { neededBy, wayOf } from '../issued/ways.js';
import type { EnvReader, ProviderAccess } from '../provider.js';
import { applicationDefault } from './access-tokens.js';

type VertexCredential = Extract<ProviderCredential, { kind: 'vertex' }>;

export const GLOBAL_ENDPOINT = 'https://aiplatform.googleapis.com';
/** API keys (`AIza…`, `AQ.…`) and access tokens (`ya29.…`): long, and no path. */
const GOOGLE_KEY = /^[A-Za-z0-9][\w.~+/=-]{19,4095}$/;
const ENDPOINT = /^https:\/\/(?:[a-z0-9-]+-)?aiplatform\.googleapis\.com$/;

const AUTH = 'GOOGLE_VERTEX_AUTH';
const WAYS = ['key', 'application_default'] as const;

/** Variables that `accessFrom` reads beside the key, with their purpose. */
export const FURTHER_ENV: Readonly<Record<string, string>> = {
  [AUTH]: 'key (default), or application_default: GOOGLE_APPLICATION_CREDENTIALS, else what the machine has',
  GOOGLE_CLOUD_PROJECT: "default: the service account's",
  GOOGLE_CLOUD_LOCATION: 'default: global',
};

/** Project and location of a call. */
export type Place = Pick<VertexCredential, 'project' | 'location'>;

/** A service account as JSON in a project and location, an access token, an API key, or what the machine has. */
export function accessFrom(read: EnvReader): ProviderAccess | undefined {
  if (wayOf(AUTH, read(AUTH), WAYS) === 'application_default') return defaultAccess(read);
  return keyAccess(read);
}

function defaultAccess(read: EnvReader): ProviderAccess {
  const project = neededBy(read, AUTH)('GOOGLE_CLOUD_PROJECT');
  const location = read('GOOGLE_CLOUD_LOCATION') ?? 'global';
  return {
    baseUrl: endpointOf(location),
    credential: {
      kind: 'issued_token',
      by: 'application_default',
      variable: AUTH,
      token: new Issued(() => applicationDefault(project)),
      place: { project, location },
    },
  };
}

function keyAccess(read: EnvReader): ProviderAccess | undefined {
  const key = read('GOOGLE_VERTEX_API_KEY');
  if (key === undefined) return undefined;
  if (!key.trimStart().startsWith('{')) {
    // A proxy of the operator's may have keys of any form.
    if (read('GOOGLE_VERTEX_BASE_URL') === undefined && !GOOGLE_KEY.test(key))
      throw new TypeError(
        'GOOGLE_VERTEX_API_KEY is neither a service account as JSON nor a key or access token of Google; a file is named by GOOGLE_VERTEX_API_KEY_FILE.',
      );
    return { baseUrl: GLOBAL_ENDPOINT, credential: { kind: 'api_key', key } };
  }
  const { client_email, private_key, private_key_id, project_id } = accountOf(key);
  const project = read('GOOGLE_CLOUD_PROJECT') ?? project_id;
  if (typeof client_email !== 'string' || typeof private_key !== 'string' || typeof project !== 'string')
    throw new TypeError(
      'GOOGLE_VERTEX_API_KEY is no service account: it needs client_email, private_key and project_id.',
    );
  const credential: VertexCredential = {
    kind: 'vertex',
    clientEmail: client_email,
    privateKey: private_key,
    privateKeyId: typeof private_key_id === 'string' ? private_key_id : null,
    project,
    location: read('GOOGLE_CLOUD_LOCATION') ?? 'global',
  };
  return { baseUrl: endpointOf(credential.location), credential };
}

function accountOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

function endpointOf(location: string): string {
  return location === 'global' ? GLOBAL_ENDPOINT : `https://${location}-aiplatform.googleapis.com`;
}

/**
 * Returns the address below the credential's project, at its location's address or one that the operator chose. An
 * operation names its own project.
 */
export function urlFor(baseUrl: string, { project, location }: Place, path: string): string {
  const root = `${ENDPOINT.test(baseUrl) ? endpointOf(location) : baseUrl}/v1`;
  if (path.startsWith('/projects/')) return `${root}${path}`;
  return `${root}/projects/${encodeURIComponent(project)}/locations/${encodeURIComponent(location)}${path}`;
}
