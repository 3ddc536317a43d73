import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { PROVIDERS } from './registry.generated.js';

/** Every text of a provider's facts, at any depth. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

describe('the registry of providers', () => {
  it('is what its generator writes', () => {
    const generator = fileURLToPath(new URL('../generate-registry.mjs', import.meta.url));
    const checkedIn = readFileSync(new URL('registry.generated.ts', import.meta.url), 'utf8');
    expect(execFileSync(process.execPath, [generator, '--print'], { encoding: 'utf8' })).toBe(checkedIn);
  });

  it('has each provider under the name of its folder, and no text that is empty', () => {
    const written = readFileSync(new URL('registry.generated.ts', import.meta.url), 'utf8');
    const folders = [...written.matchAll(/from '\.\/([\w-]+)\/[\w.-]+\.provider\.js'/g)].map(
      ([, folder]) => folder,
    );
    expect(PROVIDERS.map(({ slug }) => slug)).toEqual(folders);
    const facts = PROVIDERS.map(({ slug, quirks, ...own }) => {
      const ofDialects = own.dialects.map((dialect) =>
        quirks({ dialect, upstreamModel: 'm', price: {} } as never),
      );
      return { slug, texts: textsIn([own, ofDialects]) };
    });
    const empty = facts.filter(({ texts }) => texts.includes('')).map(({ slug }) => slug);
    expect(empty).toEqual([]);
  });

  it('has one provider per slug and per variable', () => {
    expect(new Set(PROVIDERS.map((provider) => provider.slug)).size).toBe(PROVIDERS.length);
    const addresses = PROVIDERS.map((provider) => provider.baseUrlEnv);
    expect(new Set(addresses).size).toBe(addresses.length);
  });

  it('D2 names every further variable that an access of more than a key reads, and no other', () => {
    const account = JSON.stringify({ client_email: 'a@b', private_key: 'k' });
    const settings: Record<string, string>[] = [
      {},
      { GOOGLE_VERTEX_API_KEY: account, GOOGLE_CLOUD_PROJECT: 'p' },
      { GOOGLE_VERTEX_AUTH: 'application_default', GOOGLE_CLOUD_PROJECT: 'p' },
      { AWS_BEDROCK_AUTH: 'default_chain' },
      { AWS_WEB_IDENTITY_TOKEN_FILE: '/token', AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/ours' },
      ...['AZURE_CLIENT_SECRET', 'AZURE_CLIENT_CERTIFICATE_PATH', 'AZURE_FEDERATED_TOKEN_FILE'].map(
        (proof) => ({
          ...{ AZURE_OPENAI_BASE_URL: 'https://ours.openai.azure.com', [proof]: 'x' },
          ...{ AZURE_TENANT_ID: 't', AZURE_CLIENT_ID: 'c' },
        }),
      ),
      {
        AWS_ACCESS_KEY_ID: 'a',
        AWS_SECRET_ACCESS_KEY: 'b',
        AWS_BEDROCK_BATCH_BUCKET: 'bucket',
        AWS_BEDROCK_BATCH_ROLE_ARN: 'arn:aws:iam::123456789012:role/batches',
      },
    ];
    for (const { slug, accessFrom, credentialEnv, baseUrlEnv, furtherEnv = {} } of PROVIDERS) {
      const read = new Set<string>();
      for (const env of settings) accessFrom?.((name) => (read.add(name), env[name]));
      const further = [...read].filter((name) => name !== credentialEnv && name !== baseUrlEnv).sort();
      expect([slug, Object.keys(furtherEnv).sort()]).toEqual([slug, further]);
    }
  });
});
