import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type ServerOptions } from 'node:https';
import type { IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { ownCertificate, startUpstreamDouble, type UpstreamDouble } from '@gateway/testing';
import { accessFrom as aws } from '../amazon-bedrock/aws-access.js';
import { accessFrom as azure } from '../azure/azure-access.js';
import type { EnvReader, ProviderAccess } from '../provider.js';

/**
 * Microsoft's, Amazon's and Google's own libraries against local servers. The libraries take the addresses of Entra ID,
 * STS and a managed identity of App Service from their variables. The addresses of the metadata of a virtual machine are
 * fixed in them (169.254.169.254), so that these ways are not called here.
 */
interface Seen {
  path: string;
  headers: IncomingHttpHeaders;
  form: URLSearchParams;
}
type Answered = { status?: number; headers?: Record<string, string>; body: string } | 'silence';

const ISSUED = { access_token: 'entra-token', token_type: 'Bearer', expires_in: 3_600 };
const standard = getCACertificates('default');
const variables = [
  ...['IDENTITY_ENDPOINT', 'IDENTITY_HEADER', 'AWS_ENDPOINT_URL_STS', 'AWS_SHARED_CREDENTIALS_FILE'],
  ...['AWS_CONFIG_FILE', 'AWS_PROFILE'],
];
const before = Object.fromEntries(variables.map((name) => [name, process.env[name]]));
let folder: string;
let authority: Server;
let host: string;
let seen: Seen[];
let answer: Answered;
let local: UpstreamDouble;
let pem: { key: string; cert: string };

/** Answers as Entra ID does; `answer` is that of its token endpoint. */
function startAuthority(options: ServerOptions): Promise<string> {
  authority = createServer(options, (request, response) => {
    const { url = '', headers } = request;
    const root = `https://${String(headers.host)}/our-tenant`;
    let body = '';
    request.on('data', (piece: Buffer) => (body += piece.toString()));
    request.on('end', () => {
      const json = { 'content-type': 'application/json' };
      if (url.includes('openid-configuration')) {
        const endpoints = { token_endpoint: `${root}/token`, authorization_endpoint: `${root}/authorize` };
        const found = { issuer: root, jwks_uri: `${root}/keys`, ...endpoints };
        return void response.writeHead(200, json).end(JSON.stringify(found));
      }
      seen.push({ path: url, headers, form: new URLSearchParams(body) });
      if (answer === 'silence') return;
      response.writeHead(answer.status ?? 200, { ...json, ...answer.headers }).end(answer.body);
    });
  });
  return new Promise((resolve) =>
    authority.listen(0, '127.0.0.1', () =>
      resolve(`https://localhost:${String((authority.address() as AddressInfo).port)}`),
    ),
  );
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'libraries-'));
  pem = ownCertificate();
  setDefaultCACertificates([...standard, pem.cert]);
  host = await startAuthority(pem);
  local = await startUpstreamDouble();
});
afterAll(async () => {
  setDefaultCACertificates(standard);
  await local?.close();
  authority?.close().closeAllConnections();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  [seen, answer] = [[], { body: JSON.stringify(ISSUED) }];
  local.seen.length = 0;
});
afterEach(() => {
  for (const name of variables)
    if (before[name] === undefined) delete process.env[name];
    else process.env[name] = before[name];
});

function fileOf(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** Returns what the platform gets with these settings. */
function issuedWith(
  accessFrom: (read: EnvReader) => ProviderAccess | undefined,
  env: Record<string, string>,
): Promise<unknown> {
  const credential = accessFrom((name) => env[name])?.credential;
  if (credential?.kind === 'issued_token') return credential.token.current();
  if (credential?.kind === 'issued_keys') return credential.keys.current();
  throw new TypeError('nothing is issued');
}

const application = (): Record<string, string> => ({
  ...{ AZURE_TENANT_ID: 'our-tenant', AZURE_CLIENT_ID: 'our-client', AZURE_AUTHORITY_HOST: host },
  AZURE_OPENAI_BASE_URL: 'https://ours.openai.azure.com',
});
const SECRET = { AZURE_CLIENT_SECRET: 'our-secret-of-entra' };

describe('a token of Entra ID', () => {
  it('ROUTE-06 is had with a certificate, which signs the request and stays here', async () => {
    const { cert, key } = ownCertificate('rsa');
    const path = fileOf('client.pem', `${cert}\n${key}`);
    const env = { ...application(), AZURE_CLIENT_CERTIFICATE_PATH: path };
    expect(await issuedWith(azure, env)).toBe('entra-token');
    const [{ form }] = seen;
    expect(form.get('scope')).toContain('https://cognitiveservices.azure.com/.default');
    expect(form.get('client_assertion_type')).toBe('urn:ietf:params:oauth:client-assertion-type:jwt-bearer');
    const [head, claims] = String(form.get('client_assertion'))
      .split('.')
      .slice(0, 2)
      .map((part) => Buffer.from(part, 'base64url').toString());
    expect([head, claims].join()).toMatch(/"alg":"(?:PS|RS)256".*"iss":"our-client"/);
    expect(String(form)).not.toContain('PRIVATE');
  });

  it('ROUTE-06 is had with the token of a workload identity, read anew for each request', async () => {
    const path = fileOf('federated', 'first-token-of-the-pod');
    const env = { ...application(), AZURE_FEDERATED_TOKEN_FILE: path };
    expect(await issuedWith(azure, env)).toBe('entra-token');
    fileOf('federated', 'next-token-of-the-pod');
    expect(await issuedWith(azure, env)).toBe('entra-token');
    expect(seen.map(({ form }) => form.get('client_assertion'))).toEqual([
      'first-token-of-the-pod',
      'next-token-of-the-pod',
    ]);
  });

  it.each([
    [{}, null],
    [{ AZURE_CLIENT_ID: 'our-identity' }, 'our-identity'],
  ])('ROUTE-06 is had from the address of App Service for a managed identity %j', async (more, id) => {
    process.env.IDENTITY_ENDPOINT = `${local.url}/msi/token`;
    process.env.IDENTITY_HEADER = 'header-of-the-machine';
    const expires_on = Math.floor(Date.now() / 1_000) + 3_600;
    local.answer = () => ({ json: { access_token: 'managed-token', token_type: 'Bearer', expires_on } });
    const env = { AZURE_OPENAI_AUTH: 'managed_identity', ...more };
    expect(await issuedWith(azure, env)).toBe('managed-token');
    const [{ path, headers }] = local.seen;
    const query = new URL(path, local.url).searchParams;
    expect([headers['x-identity-header'], query.get('client_id')]).toEqual(['header-of-the-machine', id]);
    expect(query.get('resource')).toContain('https://cognitiveservices.azure.com');
  });

  it('ROUTE-06 is asked for once, however many wait', async () => {
    const credential = azure((name) => ({ ...application(), ...SECRET })[name])?.credential;
    if (credential?.kind !== 'issued_token') throw new TypeError('nothing is issued');
    const got = await Promise.all(Array.from({ length: 100 }, () => credential.token.current()));
    expect([new Set(got), seen.length]).toEqual([new Set(['entra-token']), 1]);
    await Promise.all(Array.from({ length: 100 }, () => credential.token.renew(() => true)));
    await Promise.all(Array.from({ length: 100 }, () => credential.token.current()));
    expect(seen).toHaveLength(2);
  });

  it.each<[string, Answered]>([
    ['answers without a token', { body: JSON.stringify({ token_type: 'Bearer', expires_in: 3_600 }) }],
    ['answers an empty token', { body: JSON.stringify({ ...ISSUED, access_token: '' }) }],
    ['answers no JSON', { body: '<html>' }],
    ['leads elsewhere', { status: 302, headers: { location: 'http://127.0.0.1:9/token' }, body: '' }],
    ['refuses', { status: 401, body: JSON.stringify({ error: 'invalid_client' }) }],
    ['sends 10 MB', { body: `{"junk":"${'x'.repeat(10_000_000)}"}` }],
    ['says nothing', 'silence'],
  ])(
    'ROUTE-06 is none where the authority %s, soon, and no secret is in the fault',
    async (_what, given) => {
      answer = given;
      const begun = performance.now();
      const fault: unknown = await issuedWith(azure, { ...application(), ...SECRET }).catch(
        (failure: unknown) => failure,
      );
      expect(fault).toBeInstanceOf(Error);
      expect(performance.now() - begun).toBeLessThan(25_000);
      const { message, stack } = fault as Error;
      expect(message + String(stack) + JSON.stringify(fault)).not.toContain(SECRET.AZURE_CLIENT_SECRET);
    },
    30_000,
  );
});

describe('keys of AWS', () => {
  it('ROUTE-06 are those of the profile that AWS_PROFILE names', async () => {
    process.env.AWS_SHARED_CREDENTIALS_FILE = fileOf(
      'credentials',
      '[default]\naws_access_key_id = AKIADEFAULT\naws_secret_access_key = other\n' +
        '[ours]\naws_access_key_id = AKIAOURS\naws_secret_access_key = secret-of-ours\n',
    );
    process.env.AWS_CONFIG_FILE = fileOf('config', '');
    const env = { AWS_BEDROCK_AUTH: 'default_chain', AWS_PROFILE: 'ours' };
    expect(await issuedWith(aws, env)).toEqual({
      accessKeyId: 'AKIAOURS',
      secretAccessKey: 'secret-of-ours',
      sessionToken: null,
    });
  });

  it.each([
    ['web_identity', true],
    ['the profile of a role', false],
  ])('ROUTE-06 are those of a role for %s', async (_way, isPlain) => {
    process.env.AWS_ENDPOINT_URL_STS = local.url;
    const ends = new Date(Date.now() + 3_600_000).toISOString();
    local.answer = () => ({
      headers: { 'content-type': 'text/xml' },
      body: `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult>
        <Credentials><AccessKeyId>ASIAROLE</AccessKeyId><SecretAccessKey>secret</SecretAccessKey><SessionToken>session</SessionToken>
        <Expiration>${ends}</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`,
    });
    const token = fileOf('token', 'token-of-the-cluster');
    const role = 'arn:aws:iam::123456789012:role/ours';
    process.env.AWS_SHARED_CREDENTIALS_FILE = fileOf('none', '');
    process.env.AWS_CONFIG_FILE = fileOf(
      'roles',
      `[profile ours]\nrole_arn = ${role}\nweb_identity_token_file = ${token}\nregion = eu-west-1\n`,
    );
    const env: Record<string, string> = isPlain
      ? { AWS_WEB_IDENTITY_TOKEN_FILE: token, AWS_ROLE_ARN: role, AWS_REGION: 'eu-west-1' }
      : { AWS_BEDROCK_AUTH: 'default_chain', AWS_PROFILE: 'ours', AWS_REGION: 'eu-west-1' };
    expect(await issuedWith(aws, env)).toMatchObject({ accessKeyId: 'ASIAROLE', sessionToken: 'session' });
    const form = new URLSearchParams(String(local.seen[0].body));
    expect([form.get('RoleArn'), form.get('WebIdentityToken')]).toEqual([role, 'token-of-the-cluster']);
  });
});
