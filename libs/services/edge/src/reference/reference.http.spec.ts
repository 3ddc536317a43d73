import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import fastify, { type FastifyInstance } from 'fastify';
import { referenceFiles } from './reference-files.js';
import { registerReference } from './register-reference.js';

describe('the reference of the API', () => {
  const dir = mkdtempSync(join(tmpdir(), 'reference-'));
  const document = join(dir, 'openapi.json');
  let instance: FastifyInstance;

  beforeEach(async () => {
    instance = fastify();
    registerReference(instance, referenceFiles(document, 'prepaid'));
    await instance.ready();
  });
  afterEach(() => instance.close());
  afterAll(() => rmSync(dir, { recursive: true }));

  const get = (url: string, headers: Record<string, string> = {}) =>
    instance.inject({ method: 'GET', url, headers });

  it('sends the document once it is there, as the client takes it', async () => {
    expect((await get('/openapi.json')).statusCode).toBe(404);
    writeFileSync(document, '{"openapi":"3.1.0"}');
    const plain = await get('/openapi.json', { 'accept-encoding': 'gzip;q=0, br' });
    expect([plain.statusCode, plain.json(), plain.headers['content-encoding']]).toEqual([
      200,
      { openapi: '3.1.0' },
      undefined,
    ]);
    const small = await get('/openapi.json', { 'accept-encoding': 'br, gzip' });
    expect(small.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(small.rawPayload).toString()).toBe('{"openapi":"3.1.0"}');
  });

  it('leaves the paths of the wallet, and schemas of theirs alone, out where billing is off', async () => {
    const paths = ['/v1/balance', '/v1/billing/ledger', '/v1/admin/credits', '/v1/admin/coupons', '/v1/keys'];
    const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
    const whole = {
      openapi: '3.1.0',
      paths: Object.fromEntries(paths.map((path) => [path, {}])),
      components: { schemas: { Key: { limits: ref('Limit') }, Limit: {}, Entry: ref('Part'), Part: {} } },
    };
    whole.paths['/v1/billing/ledger'] = ref('Entry');
    whole.paths['/v1/keys'] = ref('Key');
    writeFileSync(document, JSON.stringify(whole));
    const files = referenceFiles(document, 'off');
    const { plain } = (await files.get('/openapi.json')?.content()) ?? { plain: Buffer.alloc(0) };
    const { paths: shown, components } = JSON.parse(plain.toString()) as typeof whole;
    expect(Object.keys(shown)).toEqual(['/v1/balance', '/v1/keys']);
    expect(Object.keys(components.schemas)).toEqual(['Key', 'Limit']);
  });

  it('sends a page whose every part is a path of its own, under a policy without exceptions', async () => {
    const page = await get('/docs');
    const policy = String(page.headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(policy).not.toContain('unsafe');
    const parts = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, url]) => url);
    expect(parts).toEqual(['data:,', '/docs/swagger-ui.css', '/docs/swagger-ui-bundle.js', '/docs/start.js']);
    for (const url of parts.slice(1)) expect((await get(url)).statusCode).toBe(200);
    expect((await get('/docs/start.js')).body).toContain("url: '/openapi.json'");
  });

  it('knows no other file of the library', async () => {
    for (const url of ['/docs/index.html', '/docs/..%2fpackage.json', '/docs/swagger-ui.js'])
      expect((await get(url)).statusCode).toBe(404);
  });
});
