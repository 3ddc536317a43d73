import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import {
  ownCertificate,
  startUpstreamDouble,
  type ScriptedAnswer,
  type UpstreamDouble,
} from '@gateway/testing';
import { PoolSync } from './pool-sync.js';
import { enabledProviders } from '../config/edge.config.js';
import { hello, startEdge, testModel, type EdgeUnderTest } from '../edge.fixture.js';

const CHAT: ScriptedAnswer = {
  json: {
    ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'team-gpt' },
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 },
  },
};
const MESSAGE: ScriptedAnswer = {
  json: {
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', stop_reason: 'end_turn' },
    content: [{ type: 'text', text: 'Hi' }],
    usage: { input_tokens: 10, output_tokens: 10 },
  },
};
const CONVERSE: ScriptedAnswer = {
  json: {
    output: { message: { role: 'assistant', content: [{ text: 'Hi' }] } },
    stopReason: 'end_turn',
    usage: { inputTokens: 10, outputTokens: 10, totalTokens: 20 },
  },
};
const REFUSED: ScriptedAnswer = {
  status: 401,
  json: {
    error: {
      code: '401',
      message: "The token for deployment 'team-gpt' of https://team.openai.azure.com has ended.",
    },
  },
};
const ENDED_KEYS: ScriptedAnswer = {
  status: 403,
  headers: { 'x-amzn-errortype': 'ExpiredTokenException' },
  json: { message: 'The security token included in the request is expired' },
};

/** Number of calls to each cloud's token service. */
let asked: { entra: number; sts: number; google: number };
/** Number of calls that the provider refuses next, whatever their token. */
let refusals: number;
/** Lifetime of what is issued, in seconds. */
let lifetime: number;
let isAway: boolean;
let folder: string;
let authority: Server;
let sts: UpstreamDouble;
let upstream: UpstreamDouble;
let edge: EdgeUnderTest;
const standard = getCACertificates('default');

/** Answers Entra ID's and Google's token endpoints. */
function startAuthority(): Promise<string> {
  const { key, cert } = ownCertificate();
  setDefaultCACertificates([...standard, cert]);
  authority = createServer({ key, cert }, (request, response) => {
    request.resume();
    const { url = '', headers } = request;
    const answer = (body: object, status = 200): void =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    const root = `https://${String(headers.host)}/our-tenant`;
    if (url.includes('openid-configuration')) {
      const endpoints = { token_endpoint: `${root}/token`, authorization_endpoint: `${root}/authorize` };
      return answer({ issuer: root, jwks_uri: `${root}/keys`, ...endpoints });
    }
    if (isAway) return answer({ error: 'invalid_client' }, 400);
    const isGoogle = url === '/google';
    const n = isGoogle ? (asked.google += 1) : (asked.entra += 1);
    const access_token = `${isGoogle ? 'google' : 'entra'}-token-${String(n)}`;
    const more = isGoogle ? { issued_token_type: 'urn:ietf:params:oauth:token-type:access_token' } : {};
    answer({ access_token, token_type: 'Bearer', expires_in: lifetime, ...more });
  });
  return new Promise((resolve) =>
    authority.listen(0, '127.0.0.1', () =>
      resolve(`https://localhost:${String((authority.address() as AddressInfo).port)}`),
    ),
  );
}

/** Answers AssumeRoleWithWebIdentity. */
function issuedKeys(): ScriptedAnswer {
  const n = (asked.sts += 1);
  const ends = new Date(Date.now() + lifetime * 1_000).toISOString();
  return {
    headers: { 'content-type': 'text/xml' },
    body: `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
      <AssumeRoleWithWebIdentityResult><Credentials>
        <AccessKeyId>ASIAISSUED${String(n)}</AccessKeyId><SecretAccessKey>secret-${String(n)}</SecretAccessKey>
        <SessionToken>session-${String(n)}</SessionToken><Expiration>${ends}</Expiration>
      </Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`,
  };
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'identities-'));
  [asked, refusals, lifetime, isAway] = [{ entra: 0, sts: 0, google: 0 }, 0, 3_600, false];
  const tokens = await startAuthority();
  sts = await startUpstreamDouble(() => (isAway ? { status: 400, body: '' } : issuedKeys()));
  upstream = await startUpstreamDouble(({ path }) => {
    const isAws = path.startsWith('/model/');
    if (refusals > 0) {
      refusals -= 1;
      return isAws ? ENDED_KEYS : REFUSED;
    }
    if (isAws) return CONVERSE;
    return path.includes('rawPredict') || path.startsWith('/anthropic/') ? MESSAGE : CHAT;
  });
  process.env.AWS_ENDPOINT_URL_STS = sts.url;
  const token = join(folder, 'token');
  writeFileSync(token, 'a-token-of-the-cluster');
  const workload = join(folder, 'workload.json');
  const source = { credential_source: { file: token }, token_url: `${tokens}/google` };
  writeFileSync(
    workload,
    JSON.stringify({
      ...{ type: 'external_account', audience: '//iam.googleapis.com/projects/1/locations/global/p' },
      ...{ subject_token_type: 'urn:ietf:params:oauth:token-type:jwt', ...source },
    }),
  );
  process.env.GOOGLE_APPLICATION_CREDENTIALS = workload;
  const config = join(folder, 'gateway.yaml');
  writeFileSync(config, 'providers: [{ slug: azure, deployments: { gpt-5.4: team-gpt } }]');
  const enabled = enabledProviders({
    GATEWAY_CONFIG: config,
    ...{ AZURE_OPENAI_BASE_URL: upstream.url, AZURE_AUTHORITY_HOST: tokens },
    ...{ AZURE_TENANT_ID: 'our-tenant', AZURE_CLIENT_ID: 'our-client', AZURE_CLIENT_SECRET: 'our-secret' },
    ...{ AWS_BEDROCK_BASE_URL: upstream.url, AWS_REGION: 'eu-west-1' },
    ...{ AWS_WEB_IDENTITY_TOKEN_FILE: token, AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/ours' },
    ...{ GOOGLE_VERTEX_BASE_URL: upstream.url, GOOGLE_VERTEX_AUTH: 'application_default' },
    GOOGLE_CLOUD_PROJECT: 'our-project',
  });
  const slugs = ['azure', 'amazon-bedrock', 'google-vertex'];
  const enabledOnes = slugs.map((slug) => [slug, enabled.get(slug)!] as const);
  edge = await startEdge({ upstreams: () => Promise.resolve(Object.fromEntries(enabledOnes)) });
  edge.serveModels(
    ...[
      ['acme/gpt', 'azure', 'gpt-5.4', 'chat'],
      ['acme/claude', 'azure', 'claude', 'messages'],
      ['acme/nova', 'amazon-bedrock', 'nova', 'converse'],
      ['acme/vertex', 'google-vertex', 'claude', 'messages'],
    ].map(([id, provider, upstreamModel, dialect]) => testModel(id, [{ provider, upstreamModel, dialect }])),
  );
});
afterAll(async () => {
  setDefaultCACertificates(standard);
  delete process.env.AWS_ENDPOINT_URL_STS;
  delete process.env.GOOGLE_APPLICATION_CREDENTIALS;
  await Promise.all([edge?.close(), upstream?.close(), sts?.close()]);
  authority?.close().closeAllConnections();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  upstream.seen.length = 0;
  refusals = 0;
});

const post = (model: string): Promise<Response> => edge.post(hello(model));
const sent = (): string[] => upstream.seen.map(({ headers }) => String(headers.authorization));

/** Makes the next calls get what ends within the five minutes that are too few. */
async function issuedShortly(model: string): Promise<void> {
  lifetime = 200;
  refusals = 1;
  await post(model);
  lifetime = 3_600;
}

describe('a cloud whose credential is issued for a while', () => {
  it.each([
    ['acme/gpt', 'entra', '/openai/v1/chat/completions', /^Bearer entra-token-\d+$/],
    ['acme/claude', 'entra', '/anthropic/v1/messages', /^Bearer entra-token-\d+$/],
    ['acme/nova', 'sts', '/model/nova/converse', /Credential=ASIAISSUED\d+\/\d{8}\/eu-west-1\/bedrock/],
    [
      'acme/vertex',
      'google',
      '/v1/projects/our-project/locations/global/publishers/',
      /^Bearer google-token-\d+$/,
    ],
  ] as const)(
    'ROUTE-06 serves %s with it, asked of %s once for many calls',
    async (model, cloud, path, form) => {
      const before = asked[cloud];
      const answers = await Promise.all(Array.from({ length: 10 }, () => post(model)));
      expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
      expect((await post(model)).status).toBe(200);
      expect(asked[cloud] - before).toBeLessThanOrEqual(1);
      expect(upstream.seen[0].path).toContain(path);
      expect(new Set(sent()).size > 0 && sent().every((value) => form.test(value))).toBe(true);
      expect(upstream.seen[0].headers['api-key']).toBeUndefined();
    },
  );

  it.each([
    ['acme/gpt', 'entra'],
    ['acme/nova', 'sts'],
    ['acme/vertex', 'google'],
  ] as const)(
    'ROUTE-06 sends %s once more with a new one where it is refused, and no third time',
    async (model, cloud) => {
      await post(model);
      const before = asked[cloud];
      upstream.seen.length = 0;
      refusals = 1;
      const served = await post(model);
      expect([served.status, asked[cloud] - before, upstream.seen.length]).toEqual([200, 1, 2]);
      expect(await edge.record(served)).toMatchObject({
        routing_fallback: false,
        attempts: [{ served: true }],
      });
      upstream.seen.length = 0;
      refusals = 100;
      const refused = await post(model);
      const text = await refused.text();
      expect([refused.status >= 500, upstream.seen.length]).toEqual([true, 2]);
      expect(text).not.toMatch(/team|our-project|our-client|entra-token|123456789012/);
    },
  );

  it.each([
    ['acme/gpt', 'entra'],
    ['acme/nova', 'sts'],
    ['acme/vertex', 'google'],
  ] as const)('ROUTE-06 asks anew for %s five minutes before it ends', async (model, cloud) => {
    await issuedShortly(model);
    const before = asked[cloud];
    expect((await post(model)).status).toBe(200);
    expect((await post(model)).status).toBe(200);
    expect(asked[cloud] - before).toBe(1);
  });

  it.each(['acme/gpt', 'acme/nova', 'acme/vertex'])(
    'ROUTE-06 is a provider that cannot be reached for %s while the cloud issues nothing, and serves after it',
    async (model) => {
      await issuedShortly(model);
      upstream.seen.length = 0;
      isAway = true;
      const failed = await post(model);
      expect([failed.status >= 500, upstream.seen.length]).toEqual([true, 0]);
      expect(await failed.text()).not.toMatch(/tenant|invalid_client|our-|localhost|127\.0/);
      isAway = false;
      expect((await post(model)).status).toBe(200);
    },
  );
});

describe('a deployment of Azure that the operator has named', () => {
  it('ROUTE-06 is asked for in place of the model, and no answer or record says its name', async () => {
    const answer = await post('acme/gpt');
    const text = await answer.clone().text();
    const [{ body }] = upstream.seen;
    expect([answer.status, (JSON.parse(String(body)) as { model: string }).model]).toEqual([200, 'team-gpt']);
    expect(text + JSON.stringify(await edge.record(answer))).not.toContain('team-gpt');
  });

  it('ROUTE-06 has the name that stands at its credential where that has names of its own', async () => {
    const names = { 'gpt-5.4': 'other-gpt' };
    const baseUrl = `${upstream.url}/openai/v1`;
    edge.pool.add('cred_other', 'azure-key', { provider: 'azure', baseUrl, deployments: names });
    edge.pool.add('cred_third', 'third-key', { provider: 'azure', baseUrl });
    await edge.app.app.get(PoolSync).sync();
    for (let n = 0; n < 40; n += 1) expect((await post('acme/gpt')).status).toBe(200);
    // A new credential's list of deployments is read, too.
    const calls = upstream.seen.filter(({ method }) => method === 'POST');
    const asked = calls.map(({ headers, body }) => {
      const { model } = JSON.parse(String(body)) as { model: string };
      return `${String(headers['api-key'])} ${model}`;
    });
    expect([...new Set(asked)].sort()).toEqual([
      'azure-key other-gpt',
      'third-key team-gpt',
      'undefined team-gpt',
    ]);
  });
});
