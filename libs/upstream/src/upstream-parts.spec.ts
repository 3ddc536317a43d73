import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GatewayFile } from '@gateway/providers';
import { ownCertificate } from '@gateway/testing';
import { upstreamParts } from './upstream-parts.js';

const folder = mkdtempSync(join(tmpdir(), 'upstream-parts-'));
const [one, two] = [ownCertificate(), ownCertificate()];
const pathOf = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
const cert = pathOf('cert.pem', one.cert);
const key = pathOf('key.pem', one.key);
const otherKey = pathOf('other.pem', two.key);
const noPem = pathOf('none.pem', 'sk-no-certificate');
afterAll(() => rmSync(folder, { recursive: true }));

const LAB = 'slug: lab\n    dialect: chat\n    base_url: https://lab.example/v1';
const read = (more: string, env: Record<string, string> = {}) => {
  const file = new GatewayFile(`providers:\n  - ${LAB}\n${more}`);
  expect(file.faults).toEqual([]);
  const { parts, faults } = upstreamParts(file, env);
  return { lab: parts.get('lab'), faults };
};

describe('issue 38 the parts of an own upstream', () => {
  it('are read of the file, of variables and of the files that they name', () => {
    const secret = pathOf('secret', 'from-a-file\n');
    const { lab, faults } = read(
      `    headers: { X-Team: platform, X-Lab-Token: { env: LAB_TOKEN }, X-Api-Key: { env: LAB_KEY } }
    query: { api-version: "2026-01-01", code: { env: LAB_TOKEN } }
    ca_file: ${cert}
    client_cert_file: ${cert}
    client_key_file: ${key}
    timeouts: { connect_ms: 2000, idle_ms: 30000 }`,
      { LAB_TOKEN: 'token-1', LAB_KEY_FILE: secret },
    );
    expect(faults).toEqual([]);
    expect(lab).toEqual({
      added: {
        headers: { 'x-team': 'platform', 'x-lab-token': 'token-1', 'x-api-key': 'from-a-file' },
        query: { 'api-version': '2026-01-01', code: 'token-1' },
      },
      tls: { ca: one.cert, cert: one.cert, key: one.key },
      timeouts: { connectMs: 2_000, idleMs: 30_000 },
      healthPath: null,
    });
  });

  it('are nothing where nothing is said', () => {
    expect(read('').lab).toEqual({
      added: { headers: {}, query: {} },
      tls: null,
      timeouts: null,
      healthPath: null,
    });
  });

  it('are refused all at once, each with file, line and place, and without a value', () => {
    const { faults } = read(
      `    headers:
      X-Lab-Token: { env: LAB_TOKEN }
      X-Odd: { env: ODD }
    query: { code: { env: NONE } }
    ca_file: ${noPem}
    client_cert_file: ${cert}
    client_key_file: ${otherKey}`,
      { ODD: 'two\nlines', LAB_TOKEN: '' },
    );
    expect(faults).toEqual([
      'gateway.yaml, line 6: providers[0].headers.X-Lab-Token: LAB_TOKEN is not set.',
      'gateway.yaml, line 7: providers[0].headers.X-Odd: ODD has to be printable ASCII of at most 8 KiB.',
      'gateway.yaml, line 8: providers[0].query.code: NONE is not set.',
      `gateway.yaml, line 9: providers[0].ca_file: ${noPem} holds no PEM of that kind.`,
      'gateway.yaml, line 11: providers[0].client_key_file: this key does not fit the certificate of client_cert_file.',
    ]);
    expect(faults.join()).not.toMatch(/sk-no-certificate|two|PRIVATE KEY/);
  });

  it('are refused where a file cannot be read', () => {
    expect(read(`    ca_file: ${join(folder, 'gone.pem')}`).faults).toEqual([
      `gateway.yaml, line 5: providers[0].ca_file: ${join(folder, 'gone.pem')} cannot be read (ENOENT).`,
    ]);
  });
});
