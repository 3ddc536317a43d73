import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repository } from '@gateway/testing/plain';
import { exampleEnvironment } from './example-environment.fixture.js';

const folder = mkdtempSync(join(tmpdir(), 'check-config-services-'));
const broken = join(folder, 'gateway.yaml');
const inTheWay = join(folder, 'file', 'folder');
writeFileSync(broken, 'models: 5');
writeFileSync(join(folder, 'file'), '');
afterAll(() => rmSync(folder, { recursive: true }));

/** Variables that every process of a fleet reads. */
const EVERYWHERE = {
  PORT: 'eighty',
  HOST: '999.1.1.1',
  METRICS_PORT: '99999',
  FLEET_TOKEN: 'planted',
  KAFKA_BROKERS: 'kafka.internal',
  KAFKA_SASL_MECHANISM: 'plain',
  KAFKA_SASL_USERNAME: 'gateway',
  KAFKA_SASL_PASSWORD_FILE: join(folder, 'none'),
  REDIS_URL: 'http://:planted@redis.internal',
  TRUSTED_PROXIES: 'everybody',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318',
};

/** Variables that are valid beside their neighbours. */
const SOUND = new Set(['KAFKA_SASL_MECHANISM', 'KAFKA_SASL_USERNAME', 'OPENAI_API_KEY']);

/** Variables of each service: faults of its own settings, and neighbours that it cannot do without. */
const SERVICES: Record<string, Record<string, string>> = {
  edge: {
    KEYS_URL: '',
    CATALOGUE_URL: '',
    USAGE_URL: '',
    WORKERS_URL: '',
    EDGE_REPLICAS: '0',
    GATEWAY_CONFIG: broken,
    HTTPS_PROXY: 'socks5://user:planted@proxy.internal',
    JOURNAL_DIR: inTheWay,
    OBJECT_STORE_DIR: inTheWay,
    OPENAI_API_KEY: 'planted',
    OPENAI_BASE_URL: 'not an address',
    TLS_KEY_FILE: join(folder, 'none'),
  },
  catalogue: {
    KEYS_URL: '',
    CATALOGUE_DATABASE_URL: 'mysql://user:planted@database.internal/gateway',
    CATALOGUE_POLL_MS: '5',
    GATEWAY_CONFIG: broken,
  },
  keys: {
    USAGE_URL: '',
    CATALOGUE_URL: '',
    KEYS_DATABASE_URL_FILE: join(folder, 'none'),
    GATEWAY_CONFIG: broken,
    KEYS_KEK: 'planted',
    KEYS_PEPPER: 'planted',
    KEYS_PUBLIC_URL: 'ftp://gateway.example',
    MAIL_DIR: inTheWay,
  },
  usage: {
    KEYS_URL: '',
    CATALOGUE_URL: '',
    WORKERS_URL: '',
    USAGE_DATABASE_CONNECTIONS: '1',
    USAGE_KEK: 'planted',
    STRIPE_SECRET_KEY: 'planted planted',
    STRIPE_WEBHOOK_SECRET: 'planted',
  },
  notifications: {
    KEYS_URL: '',
    NOTIFICATIONS_KEK: 'planted',
    ALERTS_ALLOW_PRIVATE: 'hooks.internal',
    ALERTS_PORTS: '0',
    SMTP_URL: 'mail.internal:25',
  },
  workers: {
    KEYS_URL: '',
    EDGE_URL: '',
    WORKERS_LEASE_MS: '1',
    WORKERS_UPSTREAM_BATCHES: 'perhaps',
    OBJECT_STORE_DIR: inTheWay,
  },
};

function check(
  service: string,
  faults: Record<string, string>,
): { status: number | null; faults: Set<string> } {
  const main = join(repository, `dist/apps/${service}/src/main.js`);
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, '--check-config'], {
    cwd: repository,
    env: { ...exampleEnvironment(), ...faults },
    encoding: 'utf8',
  });
  expect(`${stdout}${stderr}`).not.toContain('planted');
  return { status, faults: new Set([...stderr.matchAll(/^ {2}([A-Z0-9_]+)/gm)].map(([, name]) => name)) };
}

describe('--check-config of a service of a fleet', () => {
  it.each(Object.entries(SERVICES))(
    'ends with status 1 and names every fault that a start of %s would end with, and no value',
    (service, faults) => {
      const all = { ...EVERYWHERE, ...faults };
      const { status, faults: named } = check(service, all);
      expect(status).toBe(1);
      expect(named).toEqual(new Set(Object.keys(all).filter((name) => !SOUND.has(name))));
      expect(existsSync(inTheWay)).toBe(false);
    },
  );

  it.each([
    ['VLLM_BASE_URL', { VLLM_BASE_URL: 'vllm.internal' }],
    ['VLLM_API_KEY_FILE', { VLLM_BASE_URL: 'http://vllm.internal', VLLM_API_KEY_FILE: join(folder, 'none') }],
  ])('names %s of a server whose models the catalogue would ask for', (name, env) =>
    expect(check('catalogue', env)).toEqual({ status: 1, faults: new Set([name]) }),
  );

  it.each([
    ['keys', 'KEYS', { KEYS_KEK: '', KEYS_PEPPER: '' }],
    ['usage', 'USAGE', { USAGE_KEK: '' }],
    ['notifications', 'NOTIFICATIONS', { NOTIFICATIONS_KEK: '' }],
  ])('names the file of secrets of %s beside a fault of another setting', (service, name, none) => {
    const file = `${name}_SECRETS_FILE`;
    const faults = { ...none, [file]: broken, PORT: 'eighty', [`${name}_DATABASE_CONNECTIONS`]: '1' };
    const named = new Set([file, 'PORT', `${name}_DATABASE_CONNECTIONS`]);
    expect(check(service, faults)).toEqual({ status: 1, faults: named });
  });
});
