import { parseSpelled } from '@gateway/json-body';
import pg from 'pg';
import { searchPath } from './search-path.js';
import { traceQueries } from './trace-queries.js';

export interface PostgresOptions {
  /** postgresql://user:password@host:port/database */
  url: string;
  /** The PostgreSQL schema of one service; it alone is on the search path. */
  schema: string;
  maxConnections: number;
  /** The server ends a statement after this long; the client gives up a second later. */
  statementTimeoutMs: number;
  /** Further settings of its connections, by PostgreSQL's names for them. */
  settings?: Readonly<Record<string, string>>;
  /** Errors of idle connections, for the log: the pool replaces the connection by itself. */
  onIdleError?: (error: Error) => void;
}

const CONNECT_TIMEOUT_MS = 5_000;
const IDLE_TIMEOUT_MS = 30_000;
const CLIENT_GRACE_MS = 1_000;
const IDLE_IN_TRANSACTION_MS = 30_000;

/** PostgreSQL's type json, which stores the text as written; jsonb does not. */
const JSON_TYPE = pg.types.builtins.JSON;
const TYPES: pg.CustomTypesConfig = {
  getTypeParser: ((id: number, format?: 'text'): unknown =>
    id === Number(JSON_TYPE) && format !== undefined && String(format) !== 'binary'
      ? parseSpelled
      : pg.types.getTypeParser(id, format)) as pg.CustomTypesConfig['getTypeParser'],
};

/** Connections to one service's schema. Waiting for a free one ends after 5 s with an error. */
export function postgresPool(options: PostgresOptions): pg.Pool {
  const pool = new pg.Pool(poolConfig(options));
  // Without a listener the loss of an idle connection would end the process.
  pool.on('error', (error) => {
    // pg does not wait until the server has closed what it closes, and a server that stops then is none that was lost.
    if (!pool.ending) options.onIdleError?.(error);
  });
  traceQueries(pool, options.schema);
  return pool;
}

function poolConfig(options: PostgresOptions): pg.PoolConfig {
  return {
    connectionString: options.url,
    options: [searchPath(options.schema), ...settingOptions(options.settings ?? {})].join(' '),
    application_name: options.schema,
    max: options.maxConnections,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    statement_timeout: options.statementTimeoutMs,
    query_timeout: options.statementTimeoutMs + CLIENT_GRACE_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    keepAlive: true,
    types: TYPES,
  };
}

function settingOptions(settings: Readonly<Record<string, string>>): string[] {
  return Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`);
}
