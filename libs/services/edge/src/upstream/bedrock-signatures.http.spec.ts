import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startUpstreamDouble, type SeenRequest, type UpstreamDouble } from '@gateway/testing';
import { enabledProviders } from '../config/edge.config.js';
import { hello, startEdge, testModel, type EdgeUnderTest } from '../edge.fixture.js';

/** Secrets of the account by the ids of their keys. */
const SECRETS: Record<string, string> = { AKIAOFTHEPROFILE: 'secret/of+the-profile' };
const FORM =
  /^AWS4-HMAC-SHA256 Credential=(\w+)\/((\d{8})\/([\w-]+)\/(\w+)\/aws4_request), SignedHeaders=([\w;-]+), Signature=([0-9a-f]{64})$/;
const sha256 = (data: Buffer | string): string => createHash('sha256').update(data).digest('hex');
const hmac = (key: Buffer | string, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** Encodes all but unreserved characters, in capitals: AWS' page "Create a signed AWS API request" has it so. */
const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);

/** Returns the fault of a request's signature by what came over the wire alone; null where it fits. */
function signatureFault({ method, path, headers, body }: SeenRequest, nowMs = Date.now()): string | null {
  const found = FORM.exec(headers.authorization ?? '');
  if (found === null) return 'no signature';
  const [, keyId, scope, day, region, service, names, signature] = found;
  if (!Object.hasOwn(SECRETS, keyId)) return 'unknown key';
  const listed = names.split(';');
  const isSorted = listed.join() === [...listed].sort().join();
  if (!isSorted || !['host', 'x-amz-date'].every((name) => listed.includes(name))) return 'headers';
  if (Object.keys(headers).some((name) => name.startsWith('x-amz-') && !listed.includes(name)))
    return 'an unsigned header';
  const at = String(headers['x-amz-date']);
  const [, y, mo, d, h, mi, s] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(at) ?? [];
  const ageMs = nowMs - Date.UTC(Number(y), Number(mo) - 1, Number(d), Number(h), Number(mi), Number(s));
  if (!at.startsWith(day) || !(Math.abs(ageMs) < 300_000)) return 'time';
  if (region !== 'eu-west-1' || service !== 'bedrock') return 'scope';
  const [place, query = ''] = path.split('?');
  const canonical = [
    method,
    // Each service but S3 encodes the path that is sent once more.
    place.split('/').map(encoded).join('/'),
    query.split('&').sort().join('&'),
    ...listed.map((name) => `${name}:${String(headers[name]).trim().replace(/ +/g, ' ')}`),
    '',
    names,
    sha256(body),
  ].join('\n');
  const toSign = ['AWS4-HMAC-SHA256', at, scope, sha256(canonical)].join('\n');
  const key = [region, service, 'aws4_request'].reduce<Buffer>(hmac, hmac(`AWS4${SECRETS[keyId]}`, day));
  const expected = hmac(key, toSign);
  return timingSafeEqual(expected, Buffer.from(signature, 'hex')) ? null : 'signature';
}

const variables = ['AWS_SHARED_CREDENTIALS_FILE', 'AWS_CONFIG_FILE'];
const before = Object.fromEntries(variables.map((name) => [name, process.env[name]]));
let folder: string;
let bedrock: UpstreamDouble;
let edge: EdgeUnderTest;

/** Inference profiles of a region and of all, and a model without one. */
const MODELS = ['eu.amazon.nova-2-lite-v1:0', 'global.anthropic.claude-opus-5-v1:0', 'mistral.small (1)*'];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'signatures-'));
  const keysOf = (id: string, secret: string): string =>
    `aws_access_key_id = ${id}\naws_secret_access_key = ${secret}\n`;
  writeFileSync(
    join(folder, 'credentials'),
    `[default]\n${keysOf('AKIAOFTHEDEFAULT', 'other')}[ours]\n${keysOf('AKIAOFTHEPROFILE', SECRETS.AKIAOFTHEPROFILE)}`,
  );
  writeFileSync(join(folder, 'config'), '[profile ours]\nregion = us-east-1\n');
  process.env.AWS_SHARED_CREDENTIALS_FILE = join(folder, 'credentials');
  process.env.AWS_CONFIG_FILE = join(folder, 'config');
  bedrock = await startUpstreamDouble((request) => {
    if (signatureFault(request) !== null)
      return {
        status: 403,
        headers: { 'x-amzn-errortype': 'InvalidSignatureException' },
        json: { message: 'The request signature we calculated does not match the signature you provided.' },
      };
    return {
      json: {
        output: { message: { role: 'assistant', content: [{ text: 'Hi' }] } },
        stopReason: 'end_turn',
        usage: { inputTokens: 10, outputTokens: 10, totalTokens: 20 },
      },
    };
  });
  const enabled = enabledProviders({
    ...{ AWS_BEDROCK_BASE_URL: bedrock.url, AWS_REGION: 'eu-west-1' },
    ...{ AWS_BEDROCK_AUTH: 'default_chain', AWS_PROFILE: 'ours' },
  });
  edge = await startEdge({
    upstreams: () => Promise.resolve({ 'amazon-bedrock': enabled.get('amazon-bedrock')! }),
  });
  const routes = MODELS.map((upstreamModel) => ({ provider: 'amazon-bedrock', upstreamModel }));
  edge.serveModels(...routes.map((route, n) => testModel(`acme/${n}`, [{ ...route, dialect: 'converse' }])));
});
afterAll(async () => {
  for (const name of variables)
    if (before[name] === undefined) delete process.env[name];
    else process.env[name] = before[name];
  await Promise.all([edge?.close(), bedrock?.close()]);
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  bedrock.seen.length = 0;
});

describe('a request to Bedrock with the keys of a profile', () => {
  it.each(MODELS.map((name, n) => [name, `acme/${n}`]))(
    'ROUTE-06 for %s is signed as AWS checks it, and its answer names the catalogue’s model',
    async (name, model) => {
      for (const content of ['Hello', 'Grüße, 世界 🦊 %2F "quoted"', 'x'.repeat(300_000)]) {
        const answer = await edge.post(hello(model, { messages: [{ role: 'user', content }] }));
        const text = await answer.text();
        expect([answer.status, (JSON.parse(text) as { model: string }).model]).toEqual([200, model]);
        expect(text).not.toContain(name);
        expect(text).not.toMatch(/AKIA|eu-west|profile/);
      }
      expect(bedrock.seen.map((seen) => signatureFault(seen))).toEqual([null, null, null]);
      expect(bedrock.seen[0].path).toBe(`/model/${encodeURIComponent(name)}/converse`);
    },
  );

  it('ROUTE-06 fits no other body, path, header, key or time', async () => {
    await edge.post(hello('acme/0'));
    const [sent] = bedrock.seen;
    expect(signatureFault(sent)).toBeNull();
    const changed = (headers: Record<string, string>): SeenRequest => ({
      ...sent,
      headers: { ...sent.headers, ...headers },
    });
    const authorization = String(sent.headers.authorization);
    const faults = [
      { ...sent, body: Buffer.from(String(sent.body).replace('Hello', 'Hallo')) },
      { ...sent, path: sent.path.replace('eu.', 'us.') },
      { ...sent, method: 'PUT' },
      changed({ host: 'bedrock-runtime.us-east-1.amazonaws.com' }),
      changed({ 'x-amz-security-token': 'another' }),
      changed({ authorization: authorization.replace('AKIAOFTHEPROFILE', 'AKIAOFTHEDEFAULT') }),
      changed({ authorization: authorization.replace('eu-west-1', 'us-east-1') }),
    ].map((request) => signatureFault(request));
    expect(faults).toEqual([
      ...['signature', 'signature', 'signature', 'signature'],
      ...['an unsigned header', 'unknown key', 'scope'],
    ]);
    expect(signatureFault(sent, Date.now() + 600_000)).toBe('time');
  });
});
