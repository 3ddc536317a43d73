import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const OPENSSL_MS = 30_000;
const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];

/** Files of one run: nothing of them is kept. */
export interface Certificates {
  ca: string;
  cert: string;
  key: string;
  /** Certificate and key in one file, as Kafka reads them. */
  bundle: string;
}

/** An authority of its own, and a certificate of 127.0.0.1 and localhost that it signed. */
export async function makeCertificates(folder: string): Promise<Certificates> {
  const file = (name: string): string => join(folder, name);
  const files = {
    ca: file('ca.pem'),
    cert: file('server.pem'),
    key: file('server.key'),
    bundle: file('bundle.pem'),
  };
  await openssl([
    '-x509',
    ...KEY,
    '-subj',
    '/CN=test authority',
    '-keyout',
    file('ca.key'),
    '-out',
    files.ca,
  ]);
  const names = 'subjectAltName=IP:127.0.0.1,DNS:localhost';
  const signer = ['-CA', files.ca, '-CAkey', file('ca.key'), '-addext', names];
  await openssl([
    ...['-x509', ...KEY, ...signer, '-addext', 'basicConstraints=critical,CA:FALSE'],
    ...['-subj', '/CN=localhost', '-keyout', files.key, '-out', files.cert],
  ]);
  writeFileSync(files.bundle, readFileSync(files.key, 'utf8') + readFileSync(files.cert, 'utf8'), {
    mode: 0o600,
  });
  return files;
}

async function openssl(args: string[]): Promise<void> {
  await promisify(execFile)('openssl', ['req', ...args], { timeout: OPENSSL_MS });
}
