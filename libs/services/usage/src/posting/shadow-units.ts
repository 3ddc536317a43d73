import type { UsageRecord } from '@gateway/contracts';
import type pg from 'pg';
import { arrayLiteral } from '../postgres/array-literal.js';

/** Notes of which requests shadows are. A real outcome in place of one for a died process finds its row there. */
export async function addShadows(client: pg.PoolClient, fresh: readonly UsageRecord[]): Promise<void> {
  const units = fresh.flatMap(({ shadow_of: of, request_id, created_at }) =>
    of == null ? [] : [{ of, request_id, created_at }],
  );
  if (units.length === 0) return;
  await client.query({
    name: 'add-shadows',
    text: `INSERT INTO shadow_unit (alias_id, created_at, shadow_request_id, request_id)
      SELECT * FROM unnest($1::text[], $2::timestamptz[], $3::text[], $4::text[]) ON CONFLICT DO NOTHING`,
    values: [
      arrayLiteral(units.map(({ of }) => of.alias_id)),
      arrayLiteral(units.map(({ created_at }) => created_at)),
      arrayLiteral(units.map(({ request_id }) => request_id)),
      arrayLiteral(units.map(({ of }) => of.request_id)),
    ],
  });
}
