import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { FirstRunResult } from '@gateway/keys';

/** The first run's key and password, which only this file holds in the clear. */
export interface FirstLogin {
  api_key: string;
  admin: { email: string; password: string };
}

/**
 * Writes the first run's plaintexts, readable by this user alone, or reads them back: `npm start -- --json` answers the
 * same line at every start. Only the all-in-one does so, for its own development key; see docs/npm-start.md.
 */
export function rememberFirstRun(path: string, first: FirstRunResult | null): FirstLogin | null {
  if (first?.apiKey) {
    const login = { api_key: first.apiKey, admin: first.admin };
    // Renamed when whole: a kill in between leaves no half of it.
    writeFileSync(`${path}.new`, `${JSON.stringify(login, null, 2)}\n`, { mode: 0o600 });
    renameSync(`${path}.new`, path);
    return login;
  }
  if (!existsSync(path)) return null;
  const login: unknown = parsed(readFileSync(path, 'utf8'));
  if (isLogin(login)) return login;
  throw new Error(
    `${path} does not hold what the first run wrote: restore it, or remove it and use a key of your own.`,
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isLogin(value: unknown): value is FirstLogin {
  if (typeof value !== 'object' || value === null) return false;
  const { api_key: key, admin } = value as Readonly<Record<string, unknown>>;
  return (
    typeof key === 'string' &&
    typeof admin === 'object' &&
    admin !== null &&
    'email' in admin &&
    'password' in admin
  );
}
