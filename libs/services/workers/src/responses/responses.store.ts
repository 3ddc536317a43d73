import { Inject, Injectable } from '@nestjs/common';
import { writeJson } from '@gateway/json-body';
import {
  ResponseStore,
  STORED_ID_MAX,
  type Clock,
  type ReserveMemory,
  type NamedFile,
  type RecalledItems,
  type ResponseLink,
  type StoredResponse,
} from '@gateway/contracts';
import { CLOCK, isStorable } from '@gateway/platform';
import type pg from 'pg';
import { FileStore } from '../files/files.store.js';
import { sized } from '../postgres/sized.js';
import { WorkersDatabase } from '../postgres/workers-database.js';
import { namedItems, recalledChain, recalledConversation } from './recalled.js';

type Json = Record<string, unknown>;

/** Retention of a response. */
export const KEPT_MS = 30 * 86_400_000;
const EXPIRED_AT_ONCE = 1_000;

interface StoredPart {
  bytes: number;
  /** Null where it is too large. */
  value: unknown;
  /** It has not ended, and a run has it. */
  is_running: boolean;
}

/** The content of a conversation once items were added to it. */
interface Held {
  items: number;
  bytes: number;
}

/**
 * Adds items to a conversation, where it is there; one that is there already stays as it is. Undefined where none was added. Who
 * adds at the same time waits, so what it holds counts every one.
 */
export async function addItems(
  queries: Pick<pg.ClientBase, 'query'>,
  { keyId, conversationId }: { keyId: string; conversationId: string },
  items: readonly (Json & { id: string })[],
): Promise<Held | undefined> {
  const { rows } = await queries.query<Held>(
    `WITH added AS (
       INSERT INTO conversation_items (key_id, conversation_id, id, item)
       SELECT $1, $2, i, j FROM unnest($3::text[], $4::json[]) AS added (i, j)
       WHERE EXISTS (SELECT 1 FROM conversations WHERE key_id = $1 AND id = $2) ON CONFLICT DO NOTHING
       RETURNING octet_length(item::text) AS bytes),
     sum AS (SELECT count(*) AS items, sum(bytes) AS bytes FROM added)
     UPDATE conversations c SET items = c.items + sum.items, bytes = c.bytes + sum.bytes FROM sum
     WHERE c.key_id = $1 AND c.id = $2 AND sum.items > 0 RETURNING c.items, c.bytes::float8 AS bytes`,
    [keyId, conversationId, items.map(({ id }) => id), items.map((item) => writeJson(item))],
  );
  return rows.at(0);
}

export function outputOf({ output }: Json): Json[] {
  return Array.isArray(output) ? (output as Json[]) : [];
}

/** Ids that a later request may refer to. */
export function itemIds(items: readonly Json[]): string[] {
  return items.map(({ id }) => id).filter(isItemId);
}

/** Callers and models name items as they like: by what is no such name nothing is found, and no index holds it. */
export function isItemId(id: unknown): id is string {
  return (
    typeof id === 'string' && id !== '' && id.length <= STORED_ID_MAX && !id.includes('\n') && isStorable(id)
  );
}

/** Responses in PostgreSQL. A key sees its own alone: another's id is like an unknown one. */
@Injectable()
export class StoredResponses extends ResponseStore {
  constructor(
    private readonly database: WorkersDatabase,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    super();
  }

  override async store(responses: readonly StoredResponse[]): Promise<void> {
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
        columnOf(({ input }) => writeJson(input)),
        columnOf(({ response }) => writeJson(outputOf(response))),
        columnOf(({ response }) => writeJson(response)),
        columnOf(({ input, response }) => itemIds([...input, ...outputOf(response)]).join('\n')),
        new Date(this.clock.now() + KEPT_MS),
      ],
    });
    for (const response of responses) await this.continueConversation(response);
  }

  override recall(
    keyId: string,
    link: ResponseLink,
    reserveMemory: ReserveMemory,
  ): Promise<RecalledItems | null> {
    const { pool } = this.database;
    return 'response_id' in link
      ? recalledChain(pool, [keyId, link.response_id, new Date(this.clock.now())], reserveMemory)
      : recalledConversation(pool, [keyId, link.conversation_id], reserveMemory);
  }

  override items(
    keyId: string,
    ids: readonly string[],
    reserveMemory: ReserveMemory,
  ): Promise<ReadonlyMap<string, Json>> {
    return namedItems(this.database.pool, [keyId, ids, new Date(this.clock.now())], reserveMemory);
  }

  override files(keyId: string, ids: readonly string[]): Promise<ReadonlyMap<string, NamedFile>> {
    return FileStore.named(this.database, keyId, ids, new Date(this.clock.now()));
  }

  /** The response, or what was sent for it. Null where the key has none of this id. */
  async read(
    keyId: string,
    id: string,
    part: 'response' | 'input',
    reserveMemory: ReserveMemory,
  ): Promise<unknown> {
    const found = await sized(async (bytesMax) => {
      const { rows } = await this.database.pool.query<StoredPart>({
        name: `read-${part}`,
        text: `SELECT octet_length(r.${part}::text) AS bytes, r.is_open AND t.run IS NOT NULL AS is_running,
                 CASE WHEN octet_length(r.${part}::text) <= $4 THEN r.${part} END AS value
               FROM responses r LEFT JOIN background_tasks t ON t.key_id = r.key_id AND t.id = r.id
               WHERE r.key_id = $1 AND r.id = $2 AND r.expires_at > $3`,
        values: [keyId, id, new Date(this.clock.now()), bytesMax],
      });
      return rows.at(0);
    }, reserveMemory);
    if (found === undefined) return null;
    const { value, is_running } = found;
    return part === 'response' && is_running ? { ...(value as Json), status: 'in_progress' } : value;
  }

  /** False where there was none. */
  async remove(keyId: string, id: string): Promise<boolean> {
    const { rowCount } = await this.database.pool.query(
      'DELETE FROM responses WHERE key_id = $1 AND id = $2',
      [keyId, id],
    );
    return rowCount === 1;
  }

  override async forget(accountId: string, endUserHash: string, until: Date): Promise<void> {
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
      id: isItemId(item.id) ? item.id : `${String(response.id)}_${at}`,
    }));
    await addItems(this.database.pool, { keyId: key_id, conversationId: conversation_id }, items);
  }
}
