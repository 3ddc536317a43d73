import type { UsageRecord } from '@gateway/contracts';
import { Usd } from '@gateway/money';
import type pg from 'pg';
import { arrayLiteral } from '../postgres/array-literal.js';
import { isCharged } from './charged.js';

const HOUR_MS = 3_600_000;

interface CarriedHour {
  account_id: string;
  scope: string;
  scope_id: string;
  hour: string;
  amount: Usd;
}

/**
 * Adds units to the hours of the tags and end users that have budgets. The posting has locked their accounts, so that a sum of
 * what was posted before (`CarriedScopes`) has either these units or none of them.
 */
export async function addCarriedHours(client: pg.PoolClient, fresh: readonly UsageRecord[]): Promise<void> {
  const units = fresh.filter((unit) => isCharged(unit) && carriesAny(unit));
  if (units.length === 0) return;
  const { rows } = await client.query<{ account_id: string; scope: string; scope_id: string; since: Date }>({
    name: 'carried-scopes',
    text: 'SELECT account_id, scope, scope_id, since FROM carried_scope WHERE account_id = ANY($1)',
    values: [arrayLiteral([...new Set(units.map(({ account_id }) => account_id))])],
  });
  if (rows.length === 0) return;
  const kept = new Map(
    rows.map(({ account_id, scope, scope_id, since }) => [`${account_id}\n${scope}\n${scope_id}`, since]),
  );
  const hours = hoursOf(units, kept);
  if (hours.length === 0) return;
  await client.query({
    name: 'add-carried-hours',
    text: `INSERT INTO carried_hour (account_id, scope, scope_id, hour, amount)
      SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::numeric[])
      ON CONFLICT (account_id, scope, scope_id, hour) DO UPDATE SET amount = carried_hour.amount + excluded.amount`,
    values: [
      arrayLiteral(hours.map(({ account_id }) => account_id)),
      arrayLiteral(hours.map(({ scope }) => scope)),
      arrayLiteral(hours.map(({ scope_id }) => scope_id)),
      arrayLiteral(hours.map(({ hour }) => hour)),
      arrayLiteral(hours.map(({ amount }) => amount.toString())),
    ],
  });
}

function hoursOf(units: readonly UsageRecord[], kept: ReadonlyMap<string, Date>): CarriedHour[] {
  const hours = new Map<string, CarriedHour>();
  for (const unit of units) {
    const { account_id, created_at, cost_usd } = unit;
    const createdMs = Date.parse(created_at);
    const hourMs = Math.floor(createdMs / HOUR_MS) * HOUR_MS;
    for (const [scope, scope_id] of carriedBy(unit)) {
      const name = `${account_id}\n${scope}\n${scope_id}`;
      const since = kept.get(name);
      // What is older is summed with all that lies before.
      if (since === undefined || createdMs < since.getTime()) continue;
      const hour = new Date(hourMs).toISOString();
      const known = hours.get(`${name}\n${hour}`) ?? { account_id, scope, scope_id, hour, amount: Usd.zero };
      hours.set(`${name}\n${hour}`, known);
      known.amount = known.amount.plus(Usd.parse(cost_usd ?? '0'));
    }
  }
  return [...hours.values()];
}

function carriesAny({ request_tags, end_user_hash, limits }: UsageRecord): boolean {
  return (
    end_user_hash != null ||
    Object.keys(request_tags).length > 0 ||
    limits.some(({ scope }) => scope === 'tag')
  );
}

/** The tags and the end user of a unit, and tags of its key that its request had other values of; each once. */
function carriedBy({ request_tags, end_user_hash, limits }: UsageRecord): (readonly [string, string])[] {
  const tags = new Set(Object.entries(request_tags).map(([name, value]) => `${name}=${value}`));
  for (const { scope, scope_id } of limits)
    if (scope === 'tag') tags.add(scope_id.slice(0, scope_id.lastIndexOf('/b:')));
  const found = [...tags].map((tag) => ['tag', tag] as const);
  return end_user_hash == null ? found : [...found, ['end_user', end_user_hash] as const];
}
