import pg from 'pg';
import type { ChaosFleet } from './fleet.js';
import { eventually } from '@gateway/testing';

export interface Key {
  id: string;
  secret: string;
}

/** The organization that the calls belong to. */
export interface Organization {
  /** Two of the organization's account, one of the person's own. */
  keys: readonly Key[];
  /** Another one, with a cap. */
  cappedKey(capUsd: string): Promise<Key>;
  /** Another one, of a team with a cap of its own. */
  teamKey(capUsd: string): Promise<Key>;
  /** Another one, with so many requests a minute; default: past every rate. */
  limitedKey(rpm?: number): Promise<Key>;
  /** Deletes it; resolves with the answer. */
  revoke(key: Key): Promise<void>;
}

const CREDIT_USD = '1000000';
const UNLIMITED = 2_000_000_000;

/** Logs the first super admin in, grants the person a balance and makes the keys, with limits past every rate. */
export async function openOrganization(fleet: ChaosFleet): Promise<Organization> {
  const [{ url }] = fleet.edges;
  const call = async <T>(method: string, path: string, token: string, body?: object): Promise<T> => {
    const ask = async (): Promise<Response | null> => {
      const answer = await fetch(`${url}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: body === undefined ? undefined : JSON.stringify(body),
      });
      return answer.status === 503 ? null : answer;
    };
    // A machine that starts everything at once answers 503 for a while.
    const answer = await eventually(ask, { timeoutMs: 60_000, intervalMs: 500 });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as T;
  };
  const { token } = await call<{ token: string }>('POST', '/auth/login', 'none', await fleet.firstLogin());
  const me = await call<{ user: { id: string }; memberships: { org_id: string }[] }>(
    'GET',
    '/auth/me',
    token,
  );
  const { org_id } = me.memberships[0];
  const grant = { user_id: me.user.id, amount_usd: CREDIT_USD, reason: 'chaos' };
  await call('POST', '/v1/admin/credits', token, grant);
  const make = async (more: object, rpm = UNLIMITED): Promise<Key> => {
    const made = await call<{ id: string; key: string }>('POST', '/v1/keys', token, {
      label: 'chaos',
      ...more,
    });
    await raiseLimits(fleet.databaseUrl, made.id, rpm);
    return { id: made.id, secret: made.key };
  };
  const keys = [await make({ org_id }), await make({ org_id }), await make({})];
  // A grant is posted before it answers; what the limit store knows of it may come a moment later.
  const isFunded = async ({ secret }: Key): Promise<boolean> => {
    const { balance_usd } = await call<{ balance_usd: string }>('GET', '/v1/balance', secret);
    return Number(balance_usd) >= Number(CREDIT_USD);
  };
  // The organization's account, which the keys service credits once the usage service is there, and the person's own.
  for (const key of [keys[0], keys[2]])
    await eventually(() => isFunded(key), { timeoutMs: 60_000, intervalMs: 200 });
  return {
    keys,
    cappedKey: (capUsd) => make({ org_id, spend_cap_usd: capUsd }),
    teamKey: async (spend_cap_usd) => {
      const team = await call<{ id: string }>('POST', `/v1/orgs/${org_id}/teams`, token, {
        name: 'capped',
        spend_cap_usd,
      });
      return make({ org_id, team_id: team.id });
    },
    limitedKey: (rpm) => make({ org_id }, rpm),
    revoke: (key) => call('DELETE', `/v1/keys/${key.id}`, token),
  };
}

/** Raises limits before the first use, so that nobody has read the key yet. */
async function raiseLimits(databaseUrl: string, keyId: string, rpm: number): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const raise = 'UPDATE keys.api_key SET rpm_limit = $2, rpd_limit = $3 WHERE id = $1';
  const { rowCount } = await client.query(raise, [keyId, rpm, UNLIMITED]);
  await client.end();
  if (rowCount !== 1) throw new Error('The limits of a key could not be raised.');
}
