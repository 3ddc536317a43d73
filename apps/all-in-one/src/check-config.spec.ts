import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '@gateway/platform';
import { dataPaths, readServices, readSettings } from './all-in-one.config.js';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'check-config-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

function faultsOf(env: Record<string, string>): string {
  try {
    readSettings({ GATEWAY_DATA_DIR: join(folder, 'data'), ...env });
    return '';
  } catch (failure) {
    if (!(failure instanceof ConfigError)) throw failure;
    return failure.message;
  }
}

describe('what --check-config reads', () => {
  it('finds nothing in settings that start, and makes no file', () => {
    expect(faultsOf({})).toBe('');
    expect(existsSync(join(folder, 'data'))).toBe(false);
  });

  it('names in one message what a start would end with, service by service', () => {
    const found = faultsOf({
      GATEWAY_CONFIG: file(
        'gateway.yaml',
        'models:\n  - { id: acme/one, name: One, type: text, context_length: 1, routes: [{ provider: nobody, upstream_model: x }] }\n',
      ),
      KEYS_SECRETS_FILE: file('secrets.json', '{"pepper": "planted-secret'),
      NOTIFICATIONS_SECRETS_FILE: file('notifications.json', '{}'),
      JOURNAL_DIR: join(file('journal', ''), 'edge'),
      OPENAI_API_KEY: 'sk-x',
      OPENAI_BASE_URL: 'not an address',
      PORT: 'eighty',
    });
    for (const name of [
      /GATEWAY_CONFIG: .*nobody/,
      /KEYS_SECRETS_FILE: .*holds no JSON/,
      /notifications\.json holds no kek/,
      /JOURNAL_DIR: /,
      /OPENAI_BASE_URL/,
      /PORT: /,
    ])
      expect(found).toMatch(name);
    expect(found).not.toContain('planted');
  });

  it.each([
    ['PORT', 'abc'],
    ['PORT', '99999'],
    ['PORT', '-1'],
    ['HOST', '999.1.1.1'],
    ['HOST', '127.0.0.1:8080'],
    ['HOST', 'http://localhost'],
    ['HOST', 'a b'],
    ['KEYS_PUBLIC_URL', 'ftp://gateway.example'],
    ['ALERTS_DNS_SERVERS', 'dns.internal'],
    ['ALERTS_DNS_SERVERS', '10.0.0.53,10.0.0.54:port'],
    ['ALERTS_ALLOW_PRIVATE', '127.0.0.1:65536'],
    ['ALERTS_ALLOW_PRIVATE', '127.0.0.1:99999'],
    ['ALERTS_ALLOW_PRIVATE', '127.0.0.1:0'],
    ['ALERTS_ALLOW_PRIVATE', '127.0.0.1:9000,hooks.internal'],
    ['ALERTS_PORTS', '443,65536'],
    ['ALERTS_PORTS', '0'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://collector:99999'],
    ['DATABASE_URL', 'postgresql://gateway@database:99999/gateway'],
  ])('names %s alone where it is %s', (name, value) => {
    const found = faultsOf({ [name]: value });
    expect(new Set(found.match(/^ {2}\w+/gm))).toEqual(new Set([`  ${name}`]));
  });

  it.each(['GATEWAY_DATA_DIR', 'JOURNAL_DIR', 'MAIL_DIR', 'OBJECT_STORE_DIR'])(
    'names %s where a file stands in its way, for what is written there would be lost',
    (name) => {
      const found = faultsOf({ [name]: join(file('in-the-way', ''), 'folder') });
      expect(found.match(/^ {2}\w+/gm)).toEqual([`  ${name}`]);
    },
  );

  it.each(['KEYS_SECRETS_FILE', 'NOTIFICATIONS_SECRETS_FILE', 'USAGE_SECRETS_FILE'])(
    'names %s where the start could not make it',
    (name) => {
      const found = faultsOf({ [name]: join(file('in-the-way', ''), 'secrets.json') });
      expect(found).toMatch(new RegExp(`^  ${name}: .*in-the-way is no folder`, 'm'));
    },
  );

  it('names an acknowledgement by brokers, which one process does not have', () => {
    expect(faultsOf({ JOURNAL_ACK: 'kafka' })).toContain('JOURNAL_ACK: kafka needs a fleet with brokers');
    expect(faultsOf({ JOURNAL_ACK_ORGANIZATIONS: 'org_1' })).toContain('one process has no brokers');
  });

  it('finds nothing in folders that are not used: mail by a server, objects in a bucket, secrets by value', () => {
    const away = join(file('in-the-way', ''), 'folder');
    const key = Buffer.alloc(32, 1).toString('base64');
    const mail = { SMTP_URL: 'smtp://mail:25', MAIL_DIR: away };
    const objects = { S3_BUCKET: 'objects', OBJECT_STORE_DIR: away };
    const secrets = { KEYS_PEPPER: key, KEYS_KEK: key, KEYS_SECRETS_FILE: away };
    const others = { NOTIFICATIONS_KEK: key, NOTIFICATIONS_SECRETS_FILE: away, USAGE_KEK: key };
    expect(faultsOf({ ...mail, ...objects, ...secrets, ...others, USAGE_SECRETS_FILE: away })).toBe('');
  });

  it('names a secrets file of the usage service that holds no key', () =>
    expect(faultsOf({ USAGE_SECRETS_FILE: file('usage.json', '{}') })).toMatch(
      /USAGE_SECRETS_FILE: .*holds no kek/,
    ));

  it.each(['0.0.0.0', '::', '::1', 'fe80::1%eth0', 'localhost', 'edge-1.my_net.internal'])(
    'finds nothing where HOST is %s',
    (HOST) => expect(faultsOf({ HOST })).toBe(''),
  );

  it('finds nothing in servers of names by address, with a port or without', () =>
    expect(faultsOf({ ALERTS_DNS_SERVERS: '10.0.0.53,10.0.0.54:5353,[fd00::1]:53' })).toBe(''));

  it('finds nothing in private destinations by name and by address of either kind, to the last port', () =>
    expect(faultsOf({ ALERTS_ALLOW_PRIVATE: '10.0.0.9:1,hooks.internal:65535,::1:9000' })).toBe(''));

  it('names a file of GATEWAY_CONFIG that cannot be read or is no configuration', () => {
    expect(faultsOf({ GATEWAY_CONFIG: join(folder, 'none.yaml') })).toMatch(/GATEWAY_CONFIG: .*ENOENT/);
    expect(faultsOf({ GATEWAY_CONFIG: file('x.yaml', 'models: 5') })).toMatch(/GATEWAY_CONFIG: /);
  });

  it('C8 says each fault of the file once, with its path and line, whichever services read it', () => {
    const path = file(
      'own.yaml',
      'models:\n  - { id: lab/a, supports: [flying], context_length: 1, routes: [] }\n',
    );
    const found = faultsOf({ GATEWAY_CONFIG: path }).split('\n').slice(1);
    expect(found).toEqual([
      `  GATEWAY_CONFIG: ${path}, line 2: models[0].routes: this needs at least 1 entry.`,
    ]);
    const flagged = file(
      'flagged.yaml',
      'providers: [{ slug: lab, dialect: chat, base_url: "http://lab" }]\nmodels:\n  - id: lab/a\n    context_length: 1\n    supports: [completions_api, flying]\n    routes: [{ provider: lab, upstream_model: a, free: true }]\n',
    );
    expect(faultsOf({ GATEWAY_CONFIG: flagged })).toMatch(
      /^The configuration has 1 fault\(s\):\n {2}GATEWAY_CONFIG: \S+flagged\.yaml, line 5: models\[0\]\.supports\[1\]: flying is none of tools, [^\n]+$/,
    );
  });

  it.each(['OLLAMA_BASE_URL', 'VLLM_BASE_URL', 'OPENAI_COMPATIBLE_BASE_URL', 'OPENAI_BASE_URL'])(
    'C8 says one sentence of %s that is no address',
    (name) => {
      const found = faultsOf({ [name]: 'localhost', OPENAI_API_KEY: 'k' })
        .split('\n')
        .slice(1);
      expect(found).toEqual([`  ${name}: must be an address that begins with http:// or https://`]);
    },
  );
});

describe('the mode of billing', () => {
  const modesOf = (env: Record<string, string>) => {
    const running = { databaseUrl: 'postgresql://127.0.0.1/postgres', simulatorUrl: 'http://127.0.0.1:1' };
    const { keys, usage, edge } = readServices(env, dataPaths(folder), running);
    return [keys.BILLING, usage.BILLING, edge.BILLING];
  };

  it('issue 38 is that of the file in each service, and BILLING wins', () => {
    const GATEWAY_CONFIG = file('gateway.yaml', 'billing: off');
    expect(modesOf({ GATEWAY_CONFIG })).toEqual(['off', 'off', 'off']);
    expect(modesOf({ GATEWAY_CONFIG, BILLING: 'prepaid' })).toEqual(['prepaid', 'prepaid', 'prepaid']);
    expect(modesOf({})).toEqual(['prepaid', 'prepaid', 'prepaid']);
  });

  it('issue 38 is named where it is another one', () => {
    expect(faultsOf({ GATEWAY_CONFIG: file('gateway.yaml', 'billing: postpaid') })).toMatch(
      /gateway\.yaml, line 1: billing: /,
    );
    expect(faultsOf({ BILLING: 'postpaid' })).toContain('BILLING');
  });
});

describe('addresses that are handed out', () => {
  const addressesOf = (env: Record<string, string>) => {
    const running = { databaseUrl: 'postgresql://127.0.0.1/postgres', simulatorUrl: 'http://127.0.0.1:1' };
    const { keys, notifications, objects, usage } = readServices(env, dataPaths(folder), running);
    return [
      keys.KEYS_PUBLIC_URL,
      notifications.ALERTS_PUBLIC_URL,
      objects.OBJECT_STORE_PUBLIC_URL,
      usage.BILLING_RETURN_URL.replace(/\/dashboard\/$/, ''),
    ];
  };

  it('R12 all name the port that is served: of mails, links, objects, and where a payment comes back to', () =>
    expect(new Set(addressesOf({ PORT: '18123' }))).toEqual(new Set(['http://127.0.0.1:18123'])));

  it('R12 all name the public address where one is set', () =>
    expect(new Set(addressesOf({ PORT: '18123', KEYS_PUBLIC_URL: 'https://gateway.example' }))).toEqual(
      new Set(['https://gateway.example']),
    ));
});
