import type { DialectName, ProviderCredential, Route, UpstreamError } from '@gateway/contracts';
import type { BatchPlace, Quirks, UpstreamBody } from '@gateway/dialects';
import type { DeploymentList } from './deployments/deployment-names.js';
import type { FailureSignal } from './failure/failure-signal.js';
import type { NamedHosts } from './named-address.js';
import type { Issued } from './issued/issued.js';
import type { UpstreamRequest, UpstreamResponse } from './transport.js';

/** Parts of the operator's own for each request to a provider; names of headers in lower case. */
export interface AddedParts {
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
}

/** Bounds of the calls of one provider, in milliseconds; absent = those of all. */
interface ProviderTimeouts {
  readonly connectMs?: number;
  readonly firstByteMs?: number;
  readonly idleMs?: number;
  readonly totalMs?: number;
}

/** A token that a cloud issues to the platform. */
interface IssuedToken {
  kind: 'issued_token';
  /** The way in which the platform shows who it is; shown to operators in place of a masked secret. */
  by: string;
  /** Variable that chooses the way. */
  variable: string;
  token: Issued<string>;
  /** Project and location of Vertex AI. */
  place?: { project: string; location: string };
}

/** Keys of AWS that it issues to the platform. */
interface IssuedKeys {
  kind: 'issued_keys';
  by: string;
  variable: string;
  keys: Issued<AwsKeys>;
  region: string;
}

export interface AwsKeys {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken: string | null;
}

/** Address and credential of a provider, from the operator's environment or a stored provider key. */
export interface ProviderAccess {
  baseUrl: string;
  credential: ProviderCredential | IssuedToken | IssuedKeys;
  /** Parts that the operator adds to each request; absent for none. */
  added?: AddedParts;
  /** Bucket of the operator, for batches that go through one. */
  batchPlace?: BatchPlace & {
    /** Endpoint of the store, where it is not the provider's own. */
    readonly endpoint: string | null;
  };
}

/** The call that shows whether a credential works. */
export interface CredentialCheck {
  /** Path below the API root, as a dialect names it. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The provider has no read that needs the credential: a POST of `{}`, which it refuses once it has taken the credential. */
  readonly sendsNothing?: boolean;
}

/** The list that each resource of a provider has of its own deployments. */
interface DeploymentLookup {
  /** Path below the API root, as a dialect names it. */
  readonly path: string;
  /** Returns null for what is no such list. */
  read(body: unknown): DeploymentList | null;
}

/** A variable of the operator's environment, itself or from the file that `<NAME>_FILE` names. */
export type EnvReader = (name: string) => string | undefined;

/** One upstream provider: address, authentication and quirks over dialects. */
export interface Provider {
  readonly slug: string;
  /** Name shown in error messages. */
  readonly name: string;
  readonly dialects: readonly DialectName[];
  /** Name of the format in which it takes batches to run itself; absent = it takes none, or none at a better price. */
  readonly batches?: string;
  /** Variable that holds the platform's credential; the provider is enabled where it is set. */
  readonly credentialEnv: string;
  readonly baseUrlEnv: string;
  readonly defaultBaseUrl: string;
  /** Hosts to which addresses in its answers may lead, beside its own: calls, and results without a credential. */
  readonly hosts?: NamedHosts;
  /** Called where its models are named, and never chosen by `auto`. */
  readonly isByNameAlone?: boolean;
  /** Serves without a credential: enabled by its address alone. */
  readonly isKeyless?: boolean;
  /** Further variables that `accessFrom` reads, each with what it is for. */
  readonly furtherEnv?: Readonly<Record<string, string>>;
  /** The platform's credential and address where they are more than two variables; undefined = not enabled. */
  readonly accessFrom?: (read: EnvReader) => ProviderAccess | undefined;
  /** Times of its calls in place of those of all; absent = those of all. */
  readonly timeouts?: ProviderTimeouts;
  /** Default: GET /models. */
  readonly check?: CredentialCheck;
  /** Models are called by names of deployments that each resource chooses; absent = by the names of the routes. */
  readonly deployments?: DeploymentLookup;
  /** Puts the dialect's request under the provider's API root and signs it. A promise where a token has to be had first. */
  prepare(request: UpstreamBody, access: ProviderAccess): UpstreamRequest | Promise<UpstreamRequest>;
  /** True if an answer refuses what a cloud had issued for the access, and the next request gets something else. */
  renew?(
    access: ProviderAccess,
    request: UpstreamRequest,
    answer: Pick<UpstreamResponse, 'status' | 'headers'>,
  ): boolean | Promise<boolean>;
  quirks(route: Route): Quirks;
  /** Returns the meaning of one attempt's failure. */
  classify(signal: FailureSignal): UpstreamError;
}

/** The operator's address for a provider, else the provider's own. Throws TypeError for what is none. */
export function providerBaseUrl(
  { baseUrlEnv, defaultBaseUrl }: Pick<Provider, 'baseUrlEnv' | 'defaultBaseUrl'>,
  env: Readonly<Record<string, string | undefined>>,
): string {
  const baseUrl = (env[baseUrlEnv] || defaultBaseUrl).replace(/\/+$/, '');
  if (!URL.canParse(baseUrl) || !/^https?:/.test(baseUrl))
    // The words of a setting that is checked where it is read: said by both, it stands in a report once.
    throw new TypeError(`${baseUrlEnv}: must be an address that begins with http:// or https://`);
  return baseUrl;
}

/** The key of a provider that is called with one. Throws TypeError for a credential of another kind. */
export function apiKeyOf({ credential }: ProviderAccess): string {
  if (credential.kind !== 'api_key') throw new TypeError(`a credential of kind ${credential.kind} is no key`);
  return credential.key;
}
