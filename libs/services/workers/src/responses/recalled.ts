import { ApiError, type ReserveMemory, type RecalledItems } from '@gateway/contracts';
import { sized } from '../postgres/sized.js';
import type { WorkersDatabase } from '../postgres/workers-database.js';

type Json = Record<string, unknown>;
type Pool = Pick<WorkersDatabase['pool'], 'query'>;

/** Turns of one chain, and items of one conversation, that a request may go on from. */
const TURNS_MAX = 512;
export const ITEMS_MAX = 10_000;
/** Largest size of either, and of named items. */
export const BYTES_MAX = 32 * 1_048_576;

interface Found<T> {
  bytes: number;
  items: T[] | null;
  credential: string | null;
  model?: string | null;
}

/**
 * Each query adds up sizes as it goes, and ends past the bound: what is larger is not even looked at. Sizes are float8, which
 * the driver reads as numbers.
 */
const CHAIN = `WITH RECURSIVE chain AS (
    SELECT previous_id, credential, input, output, is_open, 1 AS depth,
      octet_length(input::text)::float8 + octet_length(output::text) AS bytes
    FROM responses WHERE key_id = $1 AND id = $2 AND expires_at > $3
    UNION ALL
    SELECT r.previous_id, r.credential, r.input, r.output, r.is_open, c.depth + 1,
      c.bytes + octet_length(r.input::text) + octet_length(r.output::text)
    FROM responses r JOIN chain c ON r.id = c.previous_id
    WHERE r.key_id = $1 AND c.depth < ${TURNS_MAX} AND c.bytes <= ${BYTES_MAX})
  SELECT max(bytes) AS bytes, bool_or(is_open) AS is_open, (array_agg(credential ORDER BY depth))[1] AS credential,
    (SELECT response->>'model' FROM responses WHERE key_id = $1 AND id = $2) AS model,
    CASE WHEN max(bytes) <= $4
      THEN (SELECT json_agg(json_build_array(input, output) ORDER BY depth DESC) FROM chain) END AS items
  FROM chain HAVING count(*) > 0`;

/** Null where the key has no such response. */
export async function recalledChain(
  pool: Pool,
  [keyId, id, now]: [string, string, Date],
  reserveMemory: ReserveMemory,
): Promise<RecalledItems | null> {
  const found = await sized(async (bytesMax) => {
    const { rows } = await pool.query<Found<Json[][]> & { is_open: boolean }>({
      name: 'recall-chain',
      text: CHAIN,
      values: [keyId, id, now, bytesMax],
    });
    if (rows.at(0)?.is_open)
      throw new ApiError('conflict', {
        message: 'The previous response has not ended: go on from it once it has.',
      });
    return bounded(rows.at(0));
  }, reserveMemory);
  if (found === undefined) return null;
  const { items, credential, model } = found;
  return { items: (items ?? []).flat(2), credential, model };
}

const CONVERSATION = `WITH RECURSIVE newest AS (
    (SELECT item, position, octet_length(item::text)::float8 AS bytes, 1 AS depth FROM conversation_items
      WHERE key_id = $1 AND conversation_id = $2 ORDER BY position DESC LIMIT 1)
    UNION ALL
    SELECT i.item, i.position, n.bytes + octet_length(i.item::text), n.depth + 1
    FROM newest n CROSS JOIN LATERAL (
      SELECT item, position FROM conversation_items
      WHERE key_id = $1 AND conversation_id = $2 AND position < n.position ORDER BY position DESC LIMIT 1) i
    WHERE n.depth < ${ITEMS_MAX} AND n.bytes <= ${BYTES_MAX})
  SELECT total.bytes,
    CASE WHEN total.bytes <= $3 THEN (SELECT json_agg(item ORDER BY position) FROM newest) END AS items,
    (SELECT credential FROM responses WHERE key_id = c.key_id AND conversation_id = c.id
      ORDER BY created_at DESC LIMIT 1) AS credential,
    (SELECT response->>'model' FROM responses WHERE key_id = c.key_id AND conversation_id = c.id
      ORDER BY created_at DESC LIMIT 1) AS model
  FROM conversations c CROSS JOIN (SELECT coalesce(max(bytes), 0) AS bytes FROM newest) total
  WHERE c.key_id = $1 AND c.id = $2`;

/** Null where the key has no such conversation. */
export async function recalledConversation(
  pool: Pool,
  [keyId, id]: [string, string],
  reserveMemory: ReserveMemory,
): Promise<RecalledItems | null> {
  const found = await sized(async (bytesMax) => {
    const values = [keyId, id, bytesMax];
    const { rows } = await pool.query<Found<Json>>({
      name: 'recall-conversation',
      text: CONVERSATION,
      values,
    });
    return bounded(rows.at(0));
  }, reserveMemory);
  if (found === undefined) return null;
  const { items, credential, model } = found;
  return { items: items ?? [], credential, model };
}

/** Query that reads the newest of the responses that hold the same item: each of a chain may hold all before it. */
const NAMED = `WITH RECURSIVE named AS (
    SELECT item.id, r.id AS response_id FROM unnest($2::text[]) AS item (id) LEFT JOIN LATERAL (
      SELECT id FROM responses WHERE key_id = $1 AND item_ids @> ARRAY[item.id] AND expires_at > $3
      ORDER BY created_at DESC LIMIT 1) r ON true),
  places AS (
    SELECT row_number() OVER () AS n, response_id, position FROM (
      SELECT DISTINCT response_id, NULL::bigint AS position FROM named WHERE response_id IS NOT NULL
      UNION ALL
      SELECT NULL, max(position) FROM conversation_items
      WHERE key_id = $1 AND id = ANY (ARRAY(SELECT id FROM named WHERE response_id IS NULL)) GROUP BY id) place),
  found AS (
    SELECT 0::bigint AS n, NULL::json AS items, 0::float8 AS bytes
    UNION ALL
    SELECT p.n, i.items, f.bytes + octet_length(i.items::text)
    FROM found f JOIN places p ON p.n = f.n + 1 CROSS JOIN LATERAL (
      SELECT json_build_array(input, output) AS items FROM responses WHERE key_id = $1 AND id = p.response_id
      UNION ALL
      SELECT json_build_array(json_build_array(item)) FROM conversation_items WHERE position = p.position) i
    WHERE f.bytes <= ${BYTES_MAX})
  SELECT max(bytes) AS bytes, NULL AS credential,
    CASE WHEN max(bytes) <= $4 THEN (SELECT json_agg(items ORDER BY n) FROM found WHERE n > 0) END AS items
  FROM found`;

/** Items by their ids, found in what holds them; an id that the key does not have is left out. */
export async function namedItems(
  pool: Pool,
  [keyId, ids, now]: [string, readonly string[], Date],
  reserveMemory: ReserveMemory,
): Promise<ReadonlyMap<string, Json>> {
  const wanted = new Set<unknown>(ids);
  const holding = await sized(async (bytesMax) => {
    const { rows } = await pool.query<Found<Json[][]>>({
      name: 'named-items',
      text: NAMED,
      values: [keyId, ids, now, bytesMax],
    });
    return bounded(rows.at(0));
  }, reserveMemory);
  const found = (holding?.items ?? []).flat(2).filter(({ id }) => wanted.has(id));
  return new Map(found.map((item) => [String(item.id), item]));
}

/** Throws context_window_exceeded past the bound. */
function bounded<T extends { bytes: number }>(found: T | undefined): T | undefined {
  if (found !== undefined && found.bytes > BYTES_MAX)
    throw new ApiError('context_window_exceeded', {
      message: 'The earlier responses are too large to go on from.',
    });
  return found;
}
