import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddedPostgres } from '@gateway/database';
import { Client } from 'pg';
import type { UnitPlace } from '../ingestion-units.js';
import { makeKeys } from '../many-keys.js';
import type { Started } from '../processes.js';
import { startApp, startServers, type Servers } from '../usage-fleet.js';
import { fillUsage } from './fill.js';
import type { Asker } from './questions.js';

export interface ReadsOptions {
  events: number;
  accounts: number;
  days: number;
  /** Folder of a database that is kept, and used again as it is; null = one for this run. */
  folder: string | null;
}

/** Facts stored beside a database that is used again. */
interface Known {
  login: { email: string; password: string };
  events: number;
  /** Keys of the largest account and of the next. */
  secrets: [string, string];
}

export interface ReadsLab {
  servers: Servers;
  running: Started[];
  usage: Started;
  /** Returns the readers of the account with a third of all events, and of the one with a sixth. */
  askers: () => Promise<[Asker, Asker]>;
  places: UnitPlace[];
  database: Client;
  close: () => Promise<void>;
}

const KEYS_PER_ACCOUNT = 40;
const PEPPER = Buffer.alloc(32, 7);
const LOOKUPS = 200;

/** PostgreSQL with its default settings, the services that reads need, and the history. */
export async function openReadsLab(options: ReadsOptions): Promise<ReadsLab> {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'bench-reads-'));
  mkdirSync(folder, { recursive: true });
  const running: Started[] = [];
  const postgres = new EmbeddedPostgres({
    dataDir: folder,
    isThrowaway: true,
    settings: { max_wal_size: '8GB' },
  });
  let database: Client | undefined;
  const close = async (): Promise<void> => {
    for (const program of running.toReversed()) await program.stop();
    // The server ends at once: what is kept would have to be recovered at its next start.
    if (options.folder !== null) await database?.query('CHECKPOINT').catch(() => undefined);
    await database?.end();
    await postgres.stop();
    if (options.folder === null) rmSync(folder, { recursive: true, force: true });
  };
  try {
    const { url } = await postgres.start();
    const servers = await startServers(running, {
      DATABASE_URL: url,
      KEYS_PEPPER: PEPPER.toString('base64'),
      KEYS_KEK: Buffer.alloc(32, 2).toString('base64'),
    });
    const keys = await startApp('keys', servers, running);
    await startApp('catalogue', servers, running);
    const usage = await startApp('usage', servers, running);
    database = new Client({ connectionString: url });
    await database.connect();
    const known = await filled(options, { folder, url, servers, keys, database });
    return { servers, running, usage, database, close, ...(await peopleOf(servers, database, known)) };
  } catch (failure) {
    await close();
    throw failure;
  }
}

interface Filling {
  folder: string;
  url: string;
  servers: Servers;
  keys: Started;
  database: Client;
}

async function filled(
  options: ReadsOptions,
  { folder, url, servers, keys, database }: Filling,
): Promise<Known> {
  const file = join(folder, 'known.json');
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as Known;
  const line = /^(\{"first_login":.*\})$/m.exec(keys.output())?.[1];
  if (line === undefined) throw new Error('The keys service named no first login.');
  const { first_login: login } = JSON.parse(line) as { first_login: Known['login'] };
  const session = await logIn(servers, login);
  const headers = { authorization: `Bearer ${session}` };
  const me = await json<{ memberships: { org_id: string }[] }>(`${servers['KEYS_URL']}/auth/me`, { headers });
  const created = await json<{ id: string }>(`${servers['KEYS_URL']}/v1/keys`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ label: 'bench', org_id: me.memberships[0].org_id }),
  });
  const secrets = await makeKeys(
    { databaseUrl: url, keyId: created.id, pepper: PEPPER },
    options.accounts * KEYS_PER_ACCOUNT,
    options.accounts,
  );
  await database.query(`DELETE FROM keys.api_key WHERE id = $1`, [created.id]);
  await fillUsage({ databaseUrl: url, events: options.events, days: options.days, endMs: Date.now() });
  // Keys are dealt out in turn, and accounts weigh in the order of their first key.
  const known: Known = { login, events: options.events, secrets: [secrets[0], secrets[1]] };
  writeFileSync(file, JSON.stringify(known));
  return known;
}

async function peopleOf(
  servers: Servers,
  database: Client,
  { login, secrets }: Known,
): Promise<Pick<ReadsLab, 'askers' | 'places'>> {
  const { rows: places } = await database.query<UnitPlace>(
    `SELECT k.account_id AS account, k.id AS key, k.org_id AS org, 'team_0' AS team, k.created_by AS member
     FROM keys.api_key k WHERE label = 'bench' ORDER BY k.id LIMIT 400`,
  );
  const { rows: accounts } = await database.query<{ account_id: string; org_id: string }>(
    `SELECT account_id, min(org_id) AS org_id FROM usage.usage_slot GROUP BY 1 ORDER BY sum(requests) DESC LIMIT 2`,
  );
  const found = await Promise.all(
    accounts.map(async ({ account_id }) => {
      const { rows } = await database.query<{ request_id: string }>(
        `SELECT request_id FROM usage.usage_event WHERE account_id = $1 ORDER BY created_at DESC LIMIT $2`,
        [account_id, LOOKUPS],
      );
      return rows.map(({ request_id }) => request_id);
    }),
  );
  // A session lives for a quarter of an hour.
  const askers = async (): Promise<[Asker, Asker]> => {
    const session = await logIn(servers, login);
    const askerOf = (at: 0 | 1): Asker => ({
      orgId: accounts[at].org_id,
      session,
      key: secrets[at],
      requestIds: found[at],
    });
    return [askerOf(0), askerOf(1)];
  };
  return { askers, places };
}

async function logIn(servers: Servers, login: Known['login']): Promise<string> {
  const { token } = await json<{ token: string }>(`${servers['KEYS_URL']}/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(login),
  });
  return token;
}

async function json<T>(url: string, init: RequestInit): Promise<T> {
  const answer = await fetch(url, init);
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as T;
}
