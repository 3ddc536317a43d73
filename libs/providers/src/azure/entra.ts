import type { TokenCredential, TokenCredentialOptions } from '@azure/identity';
import type { Source } from '../issued/issued.js';

/** The way in which an application shows Entra ID who it is. */
export type EntraWay = 'client_secret' | 'certificate' | 'workload_identity' | 'managed_identity';

interface Application {
  tenantId: string;
  /** Empty for the machine's own managed identity. */
  clientId: string;
  authorityHost: string | undefined;
}

const SCOPE = 'https://cognitiveservices.azure.com/.default';
const TOKEN_TIMEOUT_MS = 10_000;
type AddedPolicy = NonNullable<TokenCredentialOptions['additionalPolicies']>[number];

/** Microsoft's library waits without end for an answer, whatever `getToken` is given: each of its requests gets a bound. */
const BOUNDED: AddedPolicy = {
  position: 'perCall',
  policy: {
    name: 'bounded',
    sendRequest: (request, next) => {
      request.timeout = TOKEN_TIMEOUT_MS;
      return next(request);
    },
  },
};

/** Opens Microsoft's library. It keeps a token, and asks for the next five minutes before it ends. */
export async function entra(way: EntraWay, application: Application, proof: string): Promise<Source<string>> {
  const credential = await credentialOf(way, application, proof);
  return async () => {
    const issued = await credential.getToken(SCOPE);
    if (issued === null || issued.token === '') throw new Error('Entra ID gave no access token.');
    return issued.token;
  };
}

/** `proof`: the secret, or the path of the certificate or token. */
async function credentialOf(
  way: EntraWay,
  { tenantId, clientId, authorityHost }: Application,
  proof: string,
): Promise<TokenCredential> {
  const identity = await import('@azure/identity');
  // The operator names the authority: no other host is asked whether it is one.
  const options = {
    authorityHost,
    disableInstanceDiscovery: authorityHost !== undefined,
    additionalPolicies: [BOUNDED],
  };
  switch (way) {
    case 'client_secret':
      return new identity.ClientSecretCredential(tenantId, clientId, proof, options);
    case 'certificate':
      return new identity.ClientCertificateCredential(tenantId, clientId, proof, options);
    case 'workload_identity':
      return new identity.WorkloadIdentityCredential({
        ...options,
        ...{ tenantId, clientId, tokenFilePath: proof },
      });
    case 'managed_identity':
      return new identity.ManagedIdentityCredential({
        additionalPolicies: [BOUNDED],
        ...(clientId !== '' && { clientId }),
      });
  }
}
