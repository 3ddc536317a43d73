import type { UsageRecord } from '@gateway/contracts';
import type pg from 'pg';
import { arrayLiteral } from '../postgres/array-literal.js';
import { SLOT_MS } from './sums.js';

/** Different tags of an account in a quarter of an hour that are noted; one with more of them may hold any. */
const TAGS_MAX = 10_000;
const SLOT = `date_bin('15 minutes', created_at, '2000-01-01T00:00:00Z')`;

/** SQL of the number that stands for a `name` or a `name=value`: the same on every server, so a dump may be restored anywhere. */
export function tagNumberSql(text: string): string {
  return `('x' || left(md5(${text}), 8))::bit(32)::int`;
}

/** Statement over rows of (account_id, slot, number), each once. */
const addSql = (carried: string): string => `
INSERT INTO usage_tag AS t (account_id, slot, tags)
SELECT account_id, slot, CASE WHEN count(*) <= ${TAGS_MAX} THEN array_agg(number) END
FROM (${carried}) AS carried GROUP BY account_id, slot ORDER BY account_id, slot
ON CONFLICT (account_id, slot) DO UPDATE SET tags = CASE WHEN excluded.tags IS NOT NULL THEN (
  SELECT CASE WHEN count(*) <= ${TAGS_MAX} THEN array_agg(number) END
  FROM (SELECT unnest(t.tags) UNION SELECT unnest(excluded.tags)) AS merged(number)) END
WHERE t.tags IS NOT NULL AND (excluded.tags IS NULL OR NOT t.tags @> excluded.tags)`;

const DAY = `date_trunc('day', slot, 'UTC')`;

/** Adds the tags of events that match, and their days. Again and again adds nothing. */
export const noteTagsSql = (matching: string): string => `
WITH noted AS (${addSql(`
  SELECT DISTINCT account_id, ${SLOT} AS slot, number
  FROM usage_event
  CROSS JOIN LATERAL jsonb_each_text(CASE jsonb_typeof(request_tags) WHEN 'object' THEN request_tags ELSE '{}' END) AS tag(name, value)
  CROSS JOIN LATERAL (VALUES (${tagNumberSql('name')}), (${tagNumberSql(`name || '=' || value`)})) AS numbered(number)
  WHERE ${matching} AND value IS NOT NULL`)} RETURNING account_id, slot)
INSERT INTO usage_tag_day (account_id, day) SELECT DISTINCT account_id, ${DAY} FROM noted ORDER BY 1, 2
ON CONFLICT (account_id, day) DO NOTHING`;

const NOTE_LATE_TAGS = addSql(`
  SELECT DISTINCT account_id, slot, ${tagNumberSql('text')} AS number
  FROM unnest($1::text[], $2::timestamptz[], $3::text[]) AS late(account_id, slot, text)`);

/** Statement that marks days for another sum, because late events are missing in it. */
const CHANGE_DAYS = `
INSERT INTO usage_tag_day AS d (account_id, day, changes)
SELECT DISTINCT account_id, ${DAY}, 1 FROM unnest($1::text[], $2::timestamptz[]) AS late(account_id, slot) ORDER BY 1, 2
ON CONFLICT (account_id, day) DO UPDATE SET changes = d.changes + 1`;

/** Notes the tags of units that come after those of their time were claimed: the round over them may have passed. */
export async function noteLateTags(
  client: pg.PoolClient,
  units: readonly UsageRecord[],
  claimedTo: number,
): Promise<void> {
  const late = units.filter(({ created_at }) => Date.parse(created_at) < claimedTo);
  const rows = late.flatMap(({ account_id, created_at, request_tags }) => {
    const slot = new Date(Math.floor(Date.parse(created_at) / SLOT_MS) * SLOT_MS).toISOString();
    return Object.entries(request_tags).flatMap(([name, value]) =>
      [name, `${name}=${value}`].map((text) => ({ account_id, slot, text })),
    );
  });
  if (rows.length === 0) return;
  const places = [
    arrayLiteral(rows.map(({ account_id }) => account_id)),
    arrayLiteral(rows.map(({ slot }) => slot)),
  ];
  const texts = arrayLiteral(rows.map(({ text }) => text));
  await client.query({ name: 'note-late-tags', text: NOTE_LATE_TAGS, values: [...places, texts] });
  await client.query({ name: 'change-tag-days', text: CHANGE_DAYS, values: places });
}
