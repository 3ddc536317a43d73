import type { AdminKeyPrincipal } from '@gateway/contracts';
import type pg from 'pg';
import { scopeLimits, scopeSql, type ScopeRow } from './principal.store.js';

interface AdminKeyRow {
  id: string;
  org_id: string;
  created_by: string;
  scopes: string[];
  expires_at: Date | null;
  account_id: string;
  account_version: number;
  org: ScopeRow;
}

const BY_HMAC = `
  SELECT k.id, k.org_id, k.created_by, k.scopes, k.expires_at, a.id AS account_id, a.version AS account_version,
    ${scopeSql('o', 'o.id')} AS org
  FROM admin_key k JOIN org o ON o.id = k.org_id JOIN account a ON a.org_id = k.org_id
  WHERE k.secret_hmac IN ($1, $2) AND k.revoked_at IS NULL AND o.deleted_at IS NULL
    AND (k.expires_at IS NULL OR k.expires_at > $3)`;

/**
 * Finds a key by the stored digest of its secret, under the newest pepper and the one before; null where it is unknown
 * or has ended.
 */
export async function findAdminKey(
  pool: pg.Pool,
  [newest, before = newest]: readonly string[],
  now: Date,
): Promise<AdminKeyPrincipal | null> {
  const values = [newest, before, now];
  const { rows } = await pool.query<AdminKeyRow>({ name: 'admin-key-by-hmac', text: BY_HMAC, values });
  if (rows.length === 0) return null;
  const [row] = rows;
  return {
    kind: 'admin_key',
    keyId: row.id,
    orgId: row.org_id,
    createdBy: row.created_by,
    accountId: row.account_id,
    accountVersion: row.account_version,
    scopes: row.scopes,
    limits: [{ kind: 'org', ...scopeLimits(row.org) }],
    expiresAtMs: row.expires_at?.getTime() ?? null,
  };
}
