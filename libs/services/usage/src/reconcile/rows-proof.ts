import type { Queryable } from './ledger-proof.js';
import type { Finding } from './finding.js';

/**
 * Every applied number of a producer has its event or rejection, but for those that are noted as having none. Counts
 * first: only an epoch that lacks rows is read number by number.
 */
const MISSING_ROWS = `
WITH due AS (
  SELECT producer, epoch, applied - rowless AS numbers FROM producer
), stamps AS (
  SELECT producer, epoch, seq FROM usage_event UNION ALL SELECT producer, epoch, seq FROM rejection
), held AS (
  SELECT producer, epoch, count(*) AS n FROM stamps JOIN due USING (producer, epoch)
  WHERE numbers @> seq GROUP BY producer, epoch
), suspects AS (
  SELECT producer, epoch, numbers FROM due LEFT JOIN held USING (producer, epoch)
  WHERE (SELECT sum(upper(r) - lower(r)) FROM unnest(numbers) AS r) > coalesce(n, 0)
)
SELECT 'row_missing' AS kind, NULL AS account,
  producer || '/' || epoch || ' ' || lower(r) || ' to ' || upper(r) - 1 AS scope,
  (upper(r) - lower(r))::text AS expected, '0' AS found
FROM suspects AS s, LATERAL unnest(s.numbers - coalesce((
  SELECT range_agg(int8range(seq, seq, '[]')) FROM stamps AS t WHERE t.producer = s.producer AND t.epoch = s.epoch
), '{}')) AS r
ORDER BY scope LIMIT 1000`;

export async function missingRows(database: Queryable): Promise<Finding[]> {
  return (await database.query<Finding>(MISSING_ROWS)).rows;
}
