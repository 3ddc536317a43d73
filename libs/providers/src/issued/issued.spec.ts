import { accessFrom as aws } from '../amazon-bedrock/aws-access.js';
import { accessFrom as azure } from '../azure/azure-access.js';
import { accessFrom as vertex } from '../google-vertex/vertex-access.js';
import type { EnvReader, ProviderAccess } from '../provider.js';
import { Issued } from './issued.js';

type Env = Record<string, string>;

/** Returns how the platform shows who it is, or the sentence that refuses the settings. */
function chosen(accessFrom: (read: EnvReader) => ProviderAccess | undefined, env: Env): string {
  try {
    const access = accessFrom((name) => env[name]);
    if (access === undefined) return 'not enabled';
    const { credential } = access;
    return 'by' in credential ? credential.by : credential.kind;
  } catch (error) {
    if (error instanceof TypeError) return error.message;
    throw error;
  }
}

const TOKEN = { AWS_WEB_IDENTITY_TOKEN_FILE: '/token', AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/ours' };
const KEYS = { AWS_ACCESS_KEY_ID: 'AKIA', AWS_SECRET_ACCESS_KEY: 's' };
const APPLICATION = { AZURE_TENANT_ID: 't', AZURE_CLIENT_ID: 'c' };
const RESOURCE = { AZURE_OPENAI_BASE_URL: 'https://ours.openai.azure.com' };

describe('the way in which the platform shows a cloud who it is', () => {
  it.each<[Env, string]>([
    [{}, 'not enabled'],
    [{ AWS_PROFILE: 'ours' }, 'not enabled'],
    [{ ...TOKEN, ...KEYS, AWS_BEARER_TOKEN_BEDROCK: 'b' }, 'api_key'],
    [{ ...TOKEN, ...KEYS }, 'aws'],
    [TOKEN, 'web_identity'],
    [{ AWS_ROLE_ARN: TOKEN.AWS_ROLE_ARN }, 'not enabled'],
    [{ ...TOKEN, ...KEYS, AWS_BEDROCK_AUTH: 'web_identity' }, 'web_identity'],
    [{ AWS_BEDROCK_AUTH: 'default_chain' }, 'default_chain'],
    [
      { AWS_BEDROCK_AUTH: 'bearer' },
      'AWS_BEARER_TOKEN_BEDROCK is not set: AWS_BEDROCK_AUTH=bearer needs it.',
    ],
    [
      { AWS_BEDROCK_AUTH: 'web_identity' },
      'AWS_WEB_IDENTITY_TOKEN_FILE is not set: AWS_BEDROCK_AUTH=web_identity needs it.',
    ],
    [
      { AWS_BEDROCK_AUTH: 'sso' },
      'AWS_BEDROCK_AUTH must be one of bearer, keys, web_identity, default_chain.',
    ],
  ])('C8 Bedrock with %j: %s', (env, way) => {
    expect(chosen(aws, env)).toBe(way);
  });

  it.each<[Env, string]>([
    [{}, 'not enabled'],
    [{ ...APPLICATION, AZURE_CLIENT_SECRET: 's' }, 'not enabled'],
    [{ ...APPLICATION, ...RESOURCE }, 'not enabled'],
    [{ ...APPLICATION, ...RESOURCE, AZURE_CLIENT_SECRET: 's', AZURE_OPENAI_API_KEY: 'k' }, 'api_key'],
    [{ ...APPLICATION, ...RESOURCE, AZURE_CLIENT_SECRET: 's' }, 'client_secret'],
    [{ ...APPLICATION, ...RESOURCE, AZURE_CLIENT_CERTIFICATE_PATH: '/pem' }, 'certificate'],
    [{ ...APPLICATION, ...RESOURCE, AZURE_FEDERATED_TOKEN_FILE: '/token' }, 'workload_identity'],
    [{ AZURE_OPENAI_AUTH: 'managed_identity' }, 'managed_identity'],
    [
      { AZURE_OPENAI_AUTH: 'certificate' },
      'AZURE_TENANT_ID is not set: AZURE_OPENAI_AUTH=certificate needs it.',
    ],
    [
      { AZURE_OPENAI_AUTH: 'managed_identity', AZURE_AUTHORITY_HOST: 'http://login.example' },
      'AZURE_AUTHORITY_HOST must be an address that begins with https://.',
    ],
  ])('C8 Azure with %j: %s', (env, way) => {
    expect(chosen(azure, env)).toBe(way);
  });

  it.each<[Env, string]>([
    [{ GOOGLE_APPLICATION_CREDENTIALS: '/file' }, 'not enabled'],
    [{ GOOGLE_VERTEX_AUTH: 'application_default', GOOGLE_CLOUD_PROJECT: 'p' }, 'application_default'],
    [
      { GOOGLE_VERTEX_AUTH: 'application_default' },
      'GOOGLE_CLOUD_PROJECT is not set: GOOGLE_VERTEX_AUTH needs it.',
    ],
    [{ GOOGLE_VERTEX_AUTH: 'key' }, 'not enabled'],
  ])('C8 Vertex AI with %j: %s', (env, way) => {
    expect(chosen(vertex, env)).toBe(way);
  });
});

describe('what a cloud issues', () => {
  it('is dropped once, however many calls were refused with it', async () => {
    let opened = 0;
    const issued = new Issued(() => {
      opened += 1;
      const value = `token-${String(opened)}`;
      return Promise.resolve(() => Promise.resolve(value));
    });
    expect(await issued.renew(() => true)).toBe(false);
    const first = await issued.current();
    // The second and third refusal come when the next token is on its way, or already there.
    expect(await issued.renew((last) => last === first)).toBe(true);
    const next = issued.current();
    expect(await issued.renew((last) => last === first)).toBe(true);
    await next;
    expect(await issued.renew((last) => last === first)).toBe(true);
    expect([await issued.current(), opened]).toEqual(['token-2', 2]);
  });

  it('is dropped where a call for it is under way that brings it once more', async () => {
    let opened = 0;
    const issued = new Issued(() => {
      opened += 1;
      const value = `token-${String(opened)}`;
      return Promise.resolve(() => new Promise<string>((resolve) => setImmediate(resolve, value)));
    });
    const first = await issued.current();
    const other = issued.current();
    expect(await issued.renew((last) => last === first)).toBe(true);
    expect([await other, await issued.current(), opened]).toEqual([first, 'token-2', 2]);
  });

  it('is asked of a library that is opened anew after a failure', async () => {
    let opened = 0;
    const issued = new Issued(() => {
      opened += 1;
      const fails = opened === 1;
      return Promise.resolve(() => (fails ? Promise.reject(new Error('away')) : Promise.resolve('token')));
    });
    await expect(issued.current()).rejects.toThrow('away');
    expect(await issued.current()).toBe('token');
  });
});
