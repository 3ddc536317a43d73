import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startUpstreamSim, type UpstreamSim } from '@gateway/simulator';
import {
  endProgram,
  eventually,
  freePorts,
  repository,
  securedKafka,
  securedRedis,
  startBuilt,
  testPostgres,
  type FleetApp,
  type Program,
} from '@gateway/testing';
import { START_MS } from './harness/modes.js';
import { askOnce } from './harness/requests.js';
import { logIn } from './harness/session.js';

/** The order of docs/operations/deploy.md. */
const APPS = ['catalogue', 'keys', 'usage', 'notifications', 'workers', 'edge'] as const;
type Variables = Record<string, string>;
/** Far above what it takes; a test that reaches it hangs. */
const HANG_MS = 600_000;

describe('a fleet whose Redis and Kafka ask for TLS and credentials, every secret in a file', () => {
  let folder: string;
  let upstream: UpstreamSim;
  let env: Variables;
  const own = {} as Record<FleetApp, Variables>;
  const programs = new Map<FleetApp, Program>();
  const undo: (() => unknown)[] = [];

  const file = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, `${text}\n`, { mode: 0o400 });
    return path;
  };
  const files = (secrets: Variables): Variables =>
    Object.fromEntries(Object.entries(secrets).map(([name, text]) => [`${name}_FILE`, file(name, text)]));
  const urlOf = (app: FleetApp): string => `http://127.0.0.1:${own[app].PORT}`;

  /** One of the repository's own commands, as deploy.md has it. */
  async function command(main: string, args: string[], more: Variables = {}): Promise<string> {
    const options = { env: { PATH: process.env.PATH, ...env, ...more }, timeout: 120_000 };
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [join(repository, 'dist', main), ...args],
      options,
    );
    return stdout;
  }

  async function start(app: FleetApp): Promise<void> {
    const program = await startBuilt(app, { env: { ...env, ...own[app] }, readyWhen: /"msg":"listening"/ });
    programs.set(app, program);
  }

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'secured-fleet-'));
    undo.push(() => rmSync(folder, { recursive: true, force: true }));
    const [kafka, redis, postgres] = await Promise.all([securedKafka(), securedRedis(), testPostgres()]);
    undo.push(() => Promise.all([kafka.drop(), redis.drop(), postgres.drop()]));
    upstream = await startUpstreamSim();
    undo.push(() => upstream.close());
    const ports = await freePorts(2 * APPS.length);
    APPS.forEach((app, at) => {
      own[app] = { PORT: String(ports[2 * at]), METRICS_PORT: String(ports[2 * at + 1]) };
    });
    // Edges ask the sentinel where the master is, the others go to it: one store for all.
    const sentinel = { REDIS_SENTINELS: redis.sentinel, REDIS_SENTINEL_NAME: 'mymaster' };
    Object.assign(own.edge, sentinel, files({ REDIS_SENTINEL_PASSWORD: redis.sentinelPassword }));
    for (const app of APPS) if (app !== 'edge') own[app].REDIS_URL = `rediss://${redis.server}`;
    const key = (n: number): string => Buffer.alloc(32, n).toString('base64');
    env = {
      ...Object.fromEntries(APPS.map((app) => [`${app.toUpperCase()}_URL`, urlOf(app)])),
      ...{ HOST: '127.0.0.1', EDGE_REPLICAS: '1', REDIS_TLS: 'true', REDIS_COMMAND_TIMEOUT_MS: '5000' },
      ...{ KAFKA_BROKERS: kafka.saslSsl, KAFKA_TLS: 'true', KAFKA_SASL_MECHANISM: 'scram-sha-512' },
      KAFKA_SASL_USERNAME: kafka.username,
      ...{ JOURNAL_DIR: join(folder, 'journal'), OBJECT_STORE_DIR: join(folder, 'objects') },
      ...{ MAIL_DIR: join(folder, 'mail'), SIMULATED_PROVIDER: 'true' },
      SIMULATED_BASE_URL: `${upstream.url}/v1`,
      SIMULATED_MESSAGES_BASE_URL: upstream.url,
      ...files({
        ...{ FLEET_TOKEN: key(9), KEYS_PEPPER: key(1), KEYS_KEK: key(2), USAGE_KEK: key(4) },
        ...{ NOTIFICATIONS_KEK: key(3), SIMULATED_API_KEY: 'built-in', DATABASE_URL: postgres.url },
        ...{ REDIS_PASSWORD: redis.password, REDIS_TLS_CA: redis.ca },
        ...{ KAFKA_SASL_PASSWORD: kafka.password, KAFKA_TLS_CA: kafka.ca },
      }),
    };
  }, START_MS);
  afterAll(async () => {
    const ended = [...programs.values()].map((program) => endProgram(program));
    await Promise.all(ended);
    for (const step of undo.reverse()) await step();
  }, START_MS);

  it(
    'starts as deploy.md says, answers, bills, keeps its metrics off the public port, and its books hold',
    async () => {
      for (const app of APPS)
        expect(await command(`apps/${app}/src/main.js`, ['--check-config'], own[app])).toContain('is valid');
      await command('tools/infra/src/kafka-topics-main.js', ['--replication', '1']);
      await command('tools/migrate/src/apply.js', ['catalogue', 'keys', 'usage', 'notifications', 'workers']);
      for (const app of APPS) await start(app);
      for (const app of APPS)
        await eventually(async () => (await fetch(`${urlOf(app)}/readyz`)).status === 200, {
          timeoutMs: 60_000,
        });

      const printed = await eventually(() =>
        /^(\{"first_login":.*\})$/m.exec(programs.get('keys')?.output() ?? ''),
      );
      const admin = (JSON.parse(printed[1]) as { first_login: { email: string; password: string } })
        .first_login;
      const person = await logIn({ url: urlOf('edge'), admin });
      const { key } = await person.createKey('secured');
      const gateway = { url: urlOf('edge'), key };
      const body = { model: 'simulator/chat', messages: [{ role: 'user', content: 'Hello' }] };
      const chat = await eventually(
        async () => {
          const answer = await askOnce(gateway, 'POST', '/v1/chat/completions', { body });
          return answer.status === 402 || answer.status === 503 ? null : answer;
        },
        { timeoutMs: 60_000, intervalMs: 500 },
      );
      expect([chat.status, chat.headers.get('x-request-id')]).toEqual([200, chat.requestId]);
      const unit = await eventually(
        async () => {
          const found = await askOnce(gateway, 'GET', `/v1/usage/requests/${chat.requestId}`);
          return found.status === 200 ? found.body : null;
        },
        { timeoutMs: 90_000, intervalMs: 500 },
      );
      expect(unit).toMatchObject({ request_id: chat.requestId });

      for (const app of APPS) {
        expect([app, (await fetch(`${urlOf(app)}/metrics`)).status]).toEqual([app, 404]);
        const metrics = await fetch(`http://127.0.0.1:${own[app].METRICS_PORT}/metrics`);
        expect([app, metrics.status]).toEqual([app, 200]);
      }
      const books = await command('tools/ledger/src/reconcile.js', ['--json'], own.usage);
      expect(JSON.parse(books)).toMatchObject({ findings: [] });
    },
    HANG_MS,
  );
});
