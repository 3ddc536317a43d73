import pg from 'pg';
import { NotReadable, type Tree } from './config-file.js';

/** Rows of LiteLLM's tables; every number is the text that PostgreSQL writes, so that no amount passes through a float. */
export interface Rows {
  budgets: Tree[];
  organizations: Tree[];
  teams: Tree[];
  keys: Tree[];
  users: Tree[];
  /** Numbers of rows in tables of which nothing is taken. */
  others: Readonly<Record<string, number>>;
}

const TABLES = {
  budgets: ['LiteLLM_BudgetTable', 'budget_id'],
  organizations: ['LiteLLM_OrganizationTable', 'organization_id'],
  teams: ['LiteLLM_TeamTable', 'team_id'],
  keys: ['LiteLLM_VerificationToken', 'token'],
  users: ['LiteLLM_UserTable', 'user_id'],
} as const;
const OTHERS = {
  LiteLLM_ProxyModelTable: 'true',
  LiteLLM_ProjectTable: 'true',
  LiteLLM_TeamMembership: 'budget_id IS NOT NULL',
  LiteLLM_EndUserTable: 'budget_id IS NOT NULL',
  LiteLLM_TagTable: 'budget_id IS NOT NULL',
} as const;
/** Columns of people that are not read: a password is nothing for an import. */
const UNREAD = ['password', 'sso_user_id'];
const ROWS_MAX = 100_000;
const TIMEOUT_MS = 60_000;

/** Reads the tables in one snapshot and writes nothing. Rejects with NotReadable, which never names the address. */
export async function readRows(address: string): Promise<Rows> {
  if (!URL.canParse(address) || !/^postgres(ql)?:$/.test(new URL(address).protocol))
    throw new NotReadable('--database-url is no address of a PostgreSQL');
  const url = new URL(address);
  const schema = url.searchParams.get('schema') ?? 'public';
  // Prisma's own members, which PostgreSQL's client does not know.
  for (const name of ['schema', 'connection_limit', 'pool_timeout']) url.searchParams.delete(name);
  const client = new pg.Client({
    connectionString: url.href,
    connectionTimeoutMillis: TIMEOUT_MS,
    statement_timeout: TIMEOUT_MS,
    query_timeout: TIMEOUT_MS,
  });
  // A connection that ends between two queries: the next one says so.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY');
    return await readTables(client, schema);
  } catch (failure) {
    if (failure instanceof NotReadable) throw failure;
    throw new NotReadable(`the database cannot be read: ${failure instanceof Error ? failure.message : ''}`);
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function readTables(client: pg.Client, schema: string): Promise<Rows> {
  const lists = await Object.entries(TABLES).reduce(async (before, [list, [table, id]]) => {
    const read = await before;
    return { ...read, [list]: await rowsOf(client, schema, table, id) };
  }, Promise.resolve({}));
  const found = lists as Omit<Rows, 'others'>;
  if (found.keys.length + found.teams.length + found.organizations.length === 0)
    throw new NotReadable(`the schema ${schema} has no organizations, teams and keys of LiteLLM`);
  const others: Record<string, number> = {};
  for (const [table, condition] of Object.entries(OTHERS)) {
    const name = await nameOf(client, schema, table);
    if (name === null) continue;
    const { rows } = await client.query<{ n: string }>(
      `SELECT count(*)::text AS n FROM ${name} WHERE ${condition}`,
    );
    others[table] = Number(rows[0].n);
  }
  return { ...found, others };
}

async function rowsOf(client: pg.Client, schema: string, table: string, id: string): Promise<Tree[]> {
  const name = await nameOf(client, schema, table);
  if (name === null) return [];
  // As JSON: older versions lack some columns, and newer ones have more.
  const { rows } = await client.query<{ row: string }>(
    `SELECT (to_jsonb(t) - $1::text[])::text AS row FROM ${name} t ORDER BY ${id} LIMIT ${ROWS_MAX + 1}`,
    [UNREAD],
  );
  if (rows.length > ROWS_MAX) throw new NotReadable(`${table} has more than ${ROWS_MAX} rows`);
  return rows.map(({ row }) => exactRow(row));
}

/** Returns the quoted name of a table; null where the version of LiteLLM has none. */
async function nameOf(client: pg.Client, schema: string, table: string): Promise<string | null> {
  const name = `${pg.escapeIdentifier(schema)}.${pg.escapeIdentifier(table)}`;
  const { rows } = await client.query<{ is_there: boolean }>(
    'SELECT to_regclass($1) IS NOT NULL AS is_there',
    [name],
  );
  return rows[0].is_there ? name : null;
}

function exactRow(text: string): Tree {
  const revive = (_name: string, value: unknown, context: { source?: string }): unknown =>
    typeof value === 'number' && context.source !== undefined ? context.source : value;
  return JSON.parse(text, revive as (name: string, value: unknown) => unknown) as Tree;
}
