import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fastify, { type FastifyInstance } from 'fastify';
import { readDashboard } from './dashboard-files.js';
import { registerDashboard } from './register-dashboard.js';

describe('the dashboard’s files', () => {
  const dir = mkdtempSync(join(tmpdir(), 'dashboard-'));
  const instance: FastifyInstance = fastify();
  let drawn = 0;
  const isFile: Record<string, boolean | undefined> = {};

  beforeAll(async () => {
    mkdirSync(join(dir, 'assets'));
    writeFileSync(
      join(dir, 'index.html'),
      '<script nonce="__CSP_NONCE__"></script><b nonce="__CSP_NONCE__">',
    );
    writeFileSync(join(dir, 'icon.svg'), '<svg/>');
    writeFileSync(join(dir, 'assets', 'index-abc.js'), 'plain');
    writeFileSync(join(dir, 'assets', 'index-abc.js.br'), 'as br');
    writeFileSync(join(dir, 'assets', 'index-abc.js.gz'), 'as gzip');
    const random = { bytes: (size: number) => new Uint8Array(size).fill(++drawn), fraction: () => 0 };
    instance.addHook('onRoute', ({ url, config }) => void (isFile[url] = config?.isFile));
    registerDashboard(instance, readDashboard(dir), random);
    await instance.ready();
  });
  afterAll(async () => {
    await instance.close();
    rmSync(dir, { recursive: true });
  });

  const get = (url: string, headers: Record<string, string> = {}) =>
    instance.inject({ method: 'GET', url, headers });

  it('answers every page with index.html and a nonce of its own', async () => {
    const [first, second] = [await get('/dashboard/'), await get('/dashboard/o/me/keys?page=2')];
    const nonces = [first, second].map(({ body }) => /nonce="([^"]+)"/.exec(body)?.[1] ?? '');
    expect(new Set(nonces).size).toBe(2);
    for (const [at, answer] of [first, second].entries()) {
      expect(answer.statusCode).toBe(200);
      expect(answer.body).not.toContain('__CSP_NONCE__');
      expect(answer.body.split(nonces[at])).toHaveLength(3);
      const policy = String(answer.headers['content-security-policy']);
      expect(policy).toContain(`script-src 'self' 'nonce-${nonces[at]}' 'strict-dynamic'`);
      expect(policy).toContain("require-trusted-types-for 'script'");
      expect(policy).not.toContain('unsafe');
      expect(answer.headers['cache-control']).toBe('no-store');
    }
  });

  it('U15 503 refuses none of them under pressure: a page without one of its files is broken', () => {
    expect(isFile).toEqual({ '/': true, '/dashboard': true, '/dashboard/*': true });
  });

  it('sends hashed assets for good, in the form that the browser takes', async () => {
    const at = '/dashboard/assets/index-abc.js';
    const forms = await Promise.all(
      ['br, gzip', 'gzip', 'br;q=0, gzip;q=0.5', ''].map((accepted) =>
        get(at, { 'accept-encoding': accepted }),
      ),
    );
    expect(forms.map(({ body }) => body)).toEqual(['as br', 'as gzip', 'as gzip', 'plain']);
    expect(forms.map(({ headers }) => headers['content-encoding'])).toEqual([
      'br',
      'gzip',
      'gzip',
      undefined,
    ]);
    expect(forms[0].headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(forms[0].headers['content-type']).toBe('text/javascript; charset=utf-8');
  });

  it('knows no other file', async () => {
    const gone = ['/dashboard/assets/index-old.js', '/dashboard/assets/index-abc.js.br'];
    for (const url of gone) expect((await get(url)).statusCode).toBe(404);
    // A path that climbs is a page like any other: nothing is read from the disk.
    expect((await get('/dashboard/..%2f..%2fpackage.json')).body).toContain('<script');
  });

  it.each(['/', '/dashboard'])('302 leads to itself from %s', async (path) => {
    const { statusCode, headers } = await get(path);
    expect([statusCode, headers.location]).toEqual([302, '/dashboard/']);
  });

  it('is 404 where it was not built', async () => {
    expect(readDashboard(join(dir, 'nothing'))).toBeNull();
  });
});
