import { Issued, type Source } from '../issued/issued.js';
import type { AwsKeys } from '../provider.js';

export interface WebIdentity {
  tokenFile: string;
  roleArn: string;
  sessionName?: string;
  region: string;
}

/** Bounds of a call to AWS' security token service. */
const CLIENT = { maxAttempts: 2, requestHandler: { connectionTimeout: 3_000, requestTimeout: 5_000 } };

/** Keys of a role, for a token in a file: a pod of Kubernetes has one. */
export function webIdentityKeys(identity: WebIdentity): Issued<AwsKeys> {
  return new Issued(() => webIdentity(identity));
}

/** Keys of the default chain of the AWS SDKs: environment, profiles, SSO, web identity, container, instance. */
export function defaultChainKeys(profile: string | undefined, region: string): Issued<AwsKeys> {
  return new Issued(() => defaultChain(profile, region));
}

async function webIdentity({
  tokenFile,
  roleArn,
  sessionName,
  region,
}: WebIdentity): Promise<Source<AwsKeys>> {
  const [{ fromTokenFile }, { credentialsTreatedAsExpired, credentialsWillNeedRefresh }, { memoize }] =
    await Promise.all([
      import('@aws-sdk/credential-providers'),
      import('@aws-sdk/credential-provider-node'),
      import('@smithy/core/config'),
    ]);
  const fetched = fromTokenFile({
    webIdentityTokenFile: tokenFile,
    roleArn,
    ...(sessionName === undefined ? {} : { roleSessionName: sessionName }),
    clientConfig: { ...CLIENT, region },
  });
  // Expired counts what ends within five minutes.
  const known = memoize(fetched, credentialsTreatedAsExpired, credentialsWillNeedRefresh);
  return async () => keysOf(await known());
}

async function defaultChain(profile: string | undefined, region: string): Promise<Source<AwsKeys>> {
  const { fromNodeProviderChain } = await import('@aws-sdk/credential-providers');
  const known = fromNodeProviderChain({
    ...(profile === undefined ? {} : { profile }),
    clientConfig: { ...CLIENT, region },
  });
  return async () => keysOf(await known());
}

function keysOf(issued: { accessKeyId: string; secretAccessKey: string; sessionToken?: string }): AwsKeys {
  const { accessKeyId, secretAccessKey, sessionToken = null } = issued;
  return { accessKeyId, secretAccessKey, sessionToken };
}
