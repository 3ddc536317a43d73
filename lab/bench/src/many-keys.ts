import { createHmac } from 'node:crypto';
import { newId } from '@gateway/contracts';
import { maskedSecret, mintSecret, secretDigest, SystemClock, SystemRandom } from '@gateway/platform';
import { Client } from 'pg';
import type { Fleet } from './fleet.js';

/** Place of a key that others are copies of. */
type KeyMaker = Pick<Fleet, 'databaseUrl' | 'keyId' | 'pepper'>;

const BATCH = 5_000;
const clock = new SystemClock();
const random = new SystemRandom();

/**
 * Writes keys like the bench's own straight into the table of the keys service: its endpoint would take minutes for as
 * many. With several accounts each gets an organization of its own, the bench's member in it, and credit to spend.
 */
export async function makeKeys(fleet: KeyMaker, count: number, accounts: number): Promise<string[]> {
  const database = new Client({ connectionString: fleet.databaseUrl });
  await database.connect();
  try {
    const places = accounts === 1 ? null : await makeAccounts(database, fleet.keyId, accounts);
    const secrets = Array.from({ length: count }, () => mintSecret('rsk_', random));
    for (let from = 0; from < count; from += BATCH) {
      await insertKeys(database, fleet, secrets.slice(from, from + BATCH), places, from);
    }
    return secrets;
  } finally {
    await database.end();
  }
}

interface Places {
  accounts: string[];
  orgs: string[];
}

async function insertKeys(
  database: Client,
  { keyId, pepper }: KeyMaker,
  secrets: readonly string[],
  places: Places | null,
  from: number,
): Promise<void> {
  const ids = secrets.map(() => newId('key', clock, random));
  const placeOf = (list: string[] | undefined): (string | null)[] =>
    secrets.map((_, at) => (list === undefined ? null : list[(from + at) % list.length]));
  await database.query(
    `insert into keys.api_key
     select (jsonb_populate_record(k, jsonb_build_object('id', n.id, 'secret_hmac', n.hmac, 'masked_key', n.masked,
       'account_id', coalesce(n.account, k.account_id), 'org_id', coalesce(n.org, k.org_id)))).*
     from keys.api_key k,
       unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[]) n(id, hmac, masked, account, org)
     where k.id = $1`,
    [
      keyId,
      ids,
      secrets.map((secret) => hmacOf(pepper, secret)),
      secrets.map(maskedSecret),
      placeOf(places?.accounts),
      placeOf(places?.orgs),
    ],
  );
}

async function makeAccounts(database: Client, keyId: string, count: number): Promise<Places> {
  const accounts = Array.from({ length: count }, () => newId('acct', clock, random));
  const orgs = Array.from({ length: count }, () => newId('org', clock, random));
  const copies = [
    `insert into keys.org select (jsonb_populate_record(o, jsonb_build_object('id', n.org))).*
     from keys.api_key k join keys.org o on o.id = k.org_id, unnest($2::text[], $3::text[]) n(account, org)
     where k.id = $1`,
    `insert into keys.account
     select (jsonb_populate_record(a, jsonb_build_object('id', n.account, 'org_id', n.org,
       'credit_limit_usd', 1000000, 'opening_credit_usd', null, 'opening_credit_state', 'none'))).*
     from keys.api_key k join keys.account a on a.id = k.account_id, unnest($2::text[], $3::text[]) n(account, org)
     where k.id = $1`,
    `insert into keys.membership
     select (jsonb_populate_record(m, jsonb_build_object('org_id', n.org))).*
     from keys.api_key k join keys.membership m on m.org_id = k.org_id and m.user_id = k.created_by,
       unnest($2::text[], $3::text[]) n(account, org)
     where k.id = $1`,
  ];
  for (const copy of copies) await database.query(copy, [keyId, accounts, orgs]);
  return { accounts, orgs };
}

/** Returns the digest in which the keys service stores a credential. */
function hmacOf(pepper: Buffer, secret: string): string {
  return createHmac('sha256', pepper)
    .update(Buffer.from(secretDigest(secret), 'hex'))
    .digest('hex');
}
