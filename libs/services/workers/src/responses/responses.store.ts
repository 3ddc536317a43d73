import {
  ApiError,
  ResponseStore,
  type Clock,
  type NamedFile,
  type RecalledItems,
  type ResponseLink,
  type StoredResponse,
} from '@gateway/contracts';
import { FileStore } from '../files/files.store.js';
import type { WorkersDatabase } from '../postgres/workers-database.js';

type Json = Record<string, unknown>;

/** How long a response is kept. */
export const KEPT_MS = 30 * 86_400_000;
/** Turns of one chain, and items of one conversation, that a request may go on from. */
const TURNS_MAX = 512;
const ITEMS_MAX = 10_000;
const CHAIN_BYTES_MAX = 32 * 1_048_576;
const EXPIRED_AT_ONCE = 1_000;

interface KeptResponse {
  response: Json;
  input: Json[];
  /** It has not ended. */
  is_open: boolean;
}

/** Adds items to a conversation, where it is there; one that is there already stays as it is. */
export async function addItems(
  pool: WorkersDatabase['pool'],
  { keyId, conversationId }: { keyId: string; conversationId: string },
  items: readonly (Json & { id: string })[],
): Promise<void> {
  await pool.query(
    `INSERT INTO conversation_items (key_id, conversation_id, id, item)
     SELECT $1, $2, i, j FROM unnest($3::text[], $4::json[]) AS added (i, j)
     WHERE EXISTS (SELECT 1 FROM conversations WHERE key_id = $1 AND id = $2) ON CONFLICT DO NOTHING`,
    [keyId, conversationId, items.map(({ id }) => id), items.map((item) => JSON.stringify(item))],
  );
}

export function outputOf({ output }: Json): Json[] {
  return Array.isArray(output) ? (output as Json[]) : [];
}

/** Ids that a later request may refer to. */
export function itemIds(items: readonly Json[]): string[] {
  const isId = (id: unknown): id is string => typeof id === 'string' && id !== '' && !/[\n\0]/.test(id);
  return items.map(({ id }) => id).filter(isId);
}

/** Responses in PostgreSQL. A key sees its own alone: another's id is like an unknown one. */
export class StoredResponses extends ResponseStore {
  constructor(
    private readonly database: WorkersDatabase,
    private readonly clock: Clock,
  ) {
    super();
  }

  override async keep(responses: readonly StoredResponse[]): Promise<void> {
    if (responses.length === 0) return;
    const columnOf = (valueOf: (response: StoredResponse) => unknown): unknown[] => responses.map(valueOf);
    await this.database.pool.query({
      name: 'keep-responses',
      text: `INSERT INTO responses (key_id, id, account_id, end_user_hash, credential, previous_id, conversation_id,
               created_at, input, output, response, item_ids, expires_at)
             SELECT k, i, a, u, c, p, v, to_timestamp(t), n, o, r, string_to_array(m, E'\\n'), $13
             FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
               $8::float8[], $9::json[], $10::json[], $11::json[], $12::text[])
               AS kept (k, i, a, u, c, p, v, t, n, o, r, m)
             ON CONFLICT DO NOTHING`,
      values: [
        columnOf(({ key_id }) => key_id),
        columnOf(({ id }) => id),
        columnOf(({ account_id }) => account_id),
        columnOf(({ end_user_hash }) => end_user_hash),
        columnOf(({ credential }) => credential),
        columnOf(({ previous_response_id }) => previous_response_id),
        columnOf(({ conversation_id }) => conversation_id),
        columnOf(({ created_at }) => created_at),
        columnOf(({ input }) => JSON.stringify(input)),
        columnOf(({ response }) => JSON.stringify(outputOf(response))),
        columnOf(({ response }) => JSON.stringify(response)),
        columnOf(({ input, response }) => itemIds([...input, ...outputOf(response)]).join('\n')),
        new Date(this.clock.now() + KEPT_MS),
      ],
    });
    for (const response of responses) await this.continueConversation(response);
  }

  override recall(keyId: string, link: ResponseLink): Promise<RecalledItems | null> {
    return 'response_id' in link
      ? this.chain(keyId, link.response_id)
      : this.conversation(keyId, link.conversation_id);
  }

  override async items(keyId: string, ids: readonly string[]): Promise<ReadonlyMap<string, Json>> {
    const wanted = new Set(ids);
    const { rows } = await this.database.pool.query<{ items: Json[][] }>({
      name: 'referenced-items',
      text: `SELECT json_build_array(input, output) AS items FROM responses
               WHERE key_id = $1 AND item_ids && $2 AND expires_at > $3
             UNION ALL SELECT json_build_array(json_build_array(item)) FROM conversation_items
               WHERE key_id = $1 AND id = ANY ($2)`,
      values: [keyId, ids, new Date(this.clock.now())],
    });
    const found = rows.flatMap(({ items }) => items.flat()).filter(({ id }) => wanted.has(id as string));
    return new Map(found.map((item) => [String(item.id), item]));
  }

  override files(keyId: string, ids: readonly string[]): Promise<ReadonlyMap<string, NamedFile>> {
    return FileStore.named(this.database, keyId, ids, new Date(this.clock.now()));
  }

  /** Null where the key has none of this id. */
  async read(keyId: string, id: string): Promise<KeptResponse | null> {
    const { rows } = await this.database.pool.query<KeptResponse & { is_running: boolean }>({
      name: 'read-response',
      text: `SELECT r.response, r.input, r.is_open, t.run IS NOT NULL AS is_running FROM responses r
             LEFT JOIN background_tasks t ON t.key_id = r.key_id AND t.id = r.id
             WHERE r.key_id = $1 AND r.id = $2 AND r.expires_at > $3`,
      values: [keyId, id, new Date(this.clock.now())],
    });
    const found = rows.at(0);
    if (found === undefined) return null;
    const { response, input, is_open, is_running } = found;
    const shown = is_open && is_running ? { ...response, status: 'in_progress' } : response;
    return { response: shown, input, is_open };
  }

  /** False where there was none. */
  async remove(keyId: string, id: string): Promise<boolean> {
    const { rowCount } = await this.database.pool.query(
      'DELETE FROM responses WHERE key_id = $1 AND id = $2',
      [keyId, id],
    );
    return rowCount === 1;
  }

  /** Removes what was answered for an end user until then. A repeat changes nothing. */
  async forget(accountId: string, endUserHash: string, until: Date): Promise<void> {
    await this.database.pool.query(
      'DELETE FROM responses WHERE account_id = $1 AND end_user_hash = $2 AND created_at <= $3',
      [accountId, endUserHash, until],
    );
  }

  /** Removes some of what is past its time; true where there may be more. */
  async removeExpired(): Promise<boolean> {
    const { rowCount } = await this.database.pool.query(
      `DELETE FROM responses WHERE ctid = ANY (ARRAY(
         SELECT ctid FROM responses WHERE expires_at <= $1 ORDER BY expires_at LIMIT ${EXPIRED_AT_ONCE}))`,
      [new Date(this.clock.now())],
    );
    return rowCount === EXPIRED_AT_ONCE;
  }

  private async chain(keyId: string, id: string): Promise<RecalledItems | null> {
    const { rows } = await this.database.pool.query<{
      items: Json[][];
      credential: string | null;
      bytes: string;
      is_open: boolean;
    }>({
      name: 'recall-chain',
      text: `WITH RECURSIVE chain AS (
               SELECT previous_id, credential, input, output, is_open, 1 AS depth FROM responses
                 WHERE key_id = $1 AND id = $2 AND expires_at > $3
               UNION ALL
               SELECT r.previous_id, r.credential, r.input, r.output, r.is_open, c.depth + 1
                 FROM responses r JOIN chain c ON r.id = c.previous_id
                 WHERE r.key_id = $1 AND c.depth < ${TURNS_MAX})
             SELECT array_agg(json_build_array(input, output) ORDER BY depth DESC) AS items,
               (array_agg(credential ORDER BY depth))[1] AS credential, bool_or(is_open) AS is_open,
               sum(octet_length(input::text) + octet_length(output::text)) AS bytes
             FROM chain HAVING count(*) > 0`,
      values: [keyId, id, new Date(this.clock.now())],
    });
    const found = rows.at(0);
    if (!found) return null;
    if (found.is_open)
      throw new ApiError('conflict', {
        message: 'The previous response has not ended: go on from it once it has.',
      });
    if (Number(found.bytes) > CHAIN_BYTES_MAX)
      throw new ApiError('context_window_exceeded', {
        message: 'The earlier responses are too large to go on from.',
      });
    return { items: found.items.flat(2), credential: found.credential };
  }

  private async conversation(keyId: string, id: string): Promise<RecalledItems | null> {
    const { rows } = await this.database.pool.query<{ items: Json[] | null; credential: string | null }>({
      name: 'recall-conversation',
      text: `SELECT (SELECT array_agg(item ORDER BY position) FROM (
                 SELECT item, position FROM conversation_items WHERE key_id = c.key_id AND conversation_id = c.id
                 ORDER BY position DESC LIMIT ${ITEMS_MAX}) newest) AS items,
               (SELECT credential FROM responses WHERE key_id = c.key_id AND conversation_id = c.id
                 ORDER BY created_at DESC LIMIT 1) AS credential
             FROM conversations c WHERE c.key_id = $1 AND c.id = $2`,
      values: [keyId, id],
    });
    const found = rows.at(0);
    return found ? { items: found.items ?? [], credential: found.credential } : null;
  }

  /** Adds what was asked and answered, where it belongs to a conversation. */
  async continueConversation({
    key_id,
    conversation_id,
    input,
    response,
  }: Pick<StoredResponse, 'key_id' | 'conversation_id' | 'input' | 'response'>): Promise<void> {
    if (conversation_id === null) return;
    const items = [...input, ...outputOf(response)].map((item, at) => ({
      ...item,
      id: typeof item.id === 'string' ? item.id : `${String(response.id)}_${at}`,
    }));
    await addItems(this.database.pool, { keyId: key_id, conversationId: conversation_id }, items);
  }
}
