import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts, repository, startProgram, type FleetApp } from '@gateway/testing';

const OWNERS = ['catalogue', 'keys', 'usage', 'notifications', 'workers'] as const satisfies FleetApp[];

/** Session parameters that each connection of the pool sets once instead. */
const IGNORED = 'options,statement_timeout,idle_in_transaction_session_timeout,lock_timeout';

/** Variables for a fleet whose services reach the database through it. */
export interface Pooled {
  env: Record<string, string>;
  /** `PgBouncer 1.25.2`. */
  version: string;
  stop(): Promise<void>;
}

/**
 * A real PgBouncer in transaction mode before a database: one entry for each service, whose connections have that service's
 * schema on their search path. Migrations need a session, so they are applied past it.
 */
export async function startPgbouncer(program: string, databaseUrl: string): Promise<Pooled> {
  execFileSync(process.execPath, [join(repository, 'dist/tools/migrate/src/apply.js'), ...OWNERS], {
    env: { ...process.env, DATABASE_URL: databaseUrl },
    stdio: 'pipe',
  });
  const [port] = await freePorts(1);
  const folder = mkdtempSync(join(tmpdir(), 'pgbouncer-'));
  const file = join(folder, 'pgbouncer.ini');
  writeFileSync(file, configurationOf(databaseUrl, port), { mode: 0o600 });
  const running = await startProgram({
    command: program,
    args: [file],
    readyWhen: /process up: (PgBouncer \S+?),/,
  });
  const urls = OWNERS.flatMap((app) => [
    [`${app.toUpperCase()}_DATABASE_URL`, `postgresql://gateway@127.0.0.1:${port}/${app}`],
    [`${app.toUpperCase()}_MIGRATE_AT_START`, 'false'],
  ]);
  return {
    env: Object.fromEntries(urls) as Record<string, string>,
    version: running.ready[1],
    stop: async () => {
      await running.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Returns the configuration of docs/operations/deploy.md, except for addresses and users. */
function configurationOf(databaseUrl: string, port: number): string {
  const { hostname, port: server, pathname, username, password } = new URL(databaseUrl);
  const user = `user=${username}${password === '' ? '' : ` password=${password}`}`;
  const entries = OWNERS.map(
    (app) =>
      `${app} = host=${hostname} port=${server} dbname=${pathname.slice(1)} ${user} ` +
      `connect_query='SET search_path TO ${app}; SET statement_timeout TO 10000'`,
  );
  // It does not run as root.
  const nobody = process.getuid?.() === 0 ? ['user = nobody'] : [];
  return [
    ...['[databases]', ...entries, '', '[pgbouncer]', 'listen_addr = 127.0.0.1', `listen_port = ${port}`],
    ...['unix_socket_dir =', 'auth_type = any', 'pool_mode = transaction', 'max_prepared_statements = 500'],
    ...[
      'max_client_conn = 500',
      'default_pool_size = 10',
      `ignore_startup_parameters = ${IGNORED}`,
      ...nobody,
    ],
    '',
  ].join('\n');
}
