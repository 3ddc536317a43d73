import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, RANDOM } from '@gateway/platform';
import { writeJson } from '@gateway/json-body';
import {
  ApiError,
  newAnswerId,
  type Clock,
  type ItemsQuery,
  type ReserveMemory,
  type Random,
} from '@gateway/contracts';
import type pg from 'pg';
import { holdCount } from '../postgres/hold-count.js';
import { sized } from '../postgres/sized.js';
import { WorkersDatabase } from '../postgres/workers-database.js';
import { PAGE } from '../responses/items-page.js';
import { BYTES_MAX, ITEMS_MAX } from '../responses/recalled.js';
import { addItems, isItemId } from '../responses/responses.store.js';

type Json = Record<string, unknown>;

export interface Conversation {
  id: string;
  object: 'conversation';
  created_at: number;
  metadata: Json;
}

interface Row {
  id: string;
  created_at: Date;
  metadata: Json;
}

interface ItemsRow {
  bytes: number;
  has_more: boolean;
  /** Null where they are too large. */
  items: Json[] | null;
}

/** Number of conversations of one key: they cost nothing to store, and stay until they are deleted. */
const CONVERSATIONS_MAX = 10_000;
/** A page ends with the item that fills it. */
const PAGE_BYTES = 8 * 1_048_576;

/** Item by item, so that nothing past a page is looked at; from the first for an id that is not there. */
function itemsFrom(order: 'asc' | 'desc'): string {
  const [is, end] = order === 'asc' ? ['>', '0'] : ['<', String(2n ** 63n - 1n)];
  const next = (place: string): string => `SELECT item, position FROM conversation_items
    WHERE key_id = $1 AND conversation_id = $2 AND position ${is} ${place} ORDER BY position ${order} LIMIT 1`;
  const first = `coalesce((SELECT position FROM conversation_items
    WHERE key_id = $1 AND conversation_id = $2 AND id = $3), ${end})`;
  return `WITH RECURSIVE page AS (
      SELECT item, position, octet_length(item::text)::float8 AS bytes, 1 AS depth FROM (${next(first)}) one
      UNION ALL
      SELECT i.item, i.position, p.bytes + octet_length(i.item::text), p.depth + 1
      FROM page p CROSS JOIN LATERAL (${next('p.position')}) i WHERE p.depth < $4 AND p.bytes <= ${PAGE_BYTES}),
    ending AS (SELECT bytes, position FROM page ORDER BY depth DESC LIMIT 1)
    SELECT bytes, EXISTS (${next('ending.position')}) AS has_more,
      CASE WHEN bytes <= $5 THEN (SELECT json_agg(item ORDER BY depth) FROM page) END AS items FROM ending`;
}

/** Conversations in PostgreSQL. A key sees its own alone. */
@Injectable()
export class ConversationStore {
  constructor(
    private readonly database: WorkersDatabase,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  /** Throws ApiError `conflict` where the key has as many as it may: those of one key are counted one after the other. */
  async create(
    { keyId, accountId }: { keyId: string; accountId: string },
    metadata: Json,
    items: readonly Json[],
  ): Promise<Conversation> {
    const id = newAnswerId('conv', this.clock, this.random);
    const now = new Date(this.clock.now());
    const added = this.named(items);
    await this.database.transaction(async (client) => {
      await holdCount(client, 'conversations', keyId);
      const { rows } = await client.query<{ count: number }>(
        'SELECT count(*)::int AS count FROM conversations WHERE key_id = $1',
        [keyId],
      );
      if (rows[0].count >= CONVERSATIONS_MAX)
        throw full(`A key has at most ${CONVERSATIONS_MAX} conversations.`);
      await client.query(
        'INSERT INTO conversations (key_id, id, account_id, created_at, metadata) VALUES ($1, $2, $3, $4, $5)',
        [keyId, id, accountId, now, writeJson(metadata)],
      );
      await addBounded(client, { keyId, conversationId: id }, added);
    });
    return viewOf({ id, created_at: now, metadata });
  }

  async read(keyId: string, id: string): Promise<Conversation | null> {
    const { rows } = await this.database.pool.query<Row>(
      'SELECT id, created_at, metadata FROM conversations WHERE key_id = $1 AND id = $2',
      [keyId, id],
    );
    return rows.length === 0 ? null : viewOf(rows[0]);
  }

  async update(keyId: string, id: string, metadata: Json): Promise<Conversation | null> {
    await this.database.pool.query('UPDATE conversations SET metadata = $3 WHERE key_id = $1 AND id = $2', [
      keyId,
      id,
      writeJson(metadata),
    ]);
    return this.read(keyId, id);
  }

  async remove(keyId: string, id: string): Promise<boolean> {
    const { rowCount } = await this.database.pool.query(
      'DELETE FROM conversations WHERE key_id = $1 AND id = $2',
      [keyId, id],
    );
    return rowCount === 1;
  }

  /** The items with their ids. Throws ApiError `conflict` where the conversation would hold more than it may. */
  async add(keyId: string, id: string, items: readonly Json[]): Promise<Json[]> {
    const added = this.named(items);
    await this.database.transaction((client) => addBounded(client, { keyId, conversationId: id }, added));
    return added;
  }

  private named(items: readonly Json[]): (Json & { id: string })[] {
    return items.map((item) => ({
      type: 'message',
      ...item,
      id: isItemId(item.id) ? item.id : newAnswerId(prefixOf(item), this.clock, this.random),
    }));
  }

  /** Items in an order, from the first or after one of them. */
  async page(
    keyId: string,
    id: string,
    { limit = PAGE, order = 'desc', after }: ItemsQuery,
    reserveMemory: ReserveMemory,
  ): Promise<{ items: Json[]; has_more: boolean }> {
    const found = await sized(async (bytesMax) => {
      const { rows } = await this.database.pool.query<ItemsRow>({
        name: `conversation-page-${order}`,
        text: itemsFrom(order),
        values: [keyId, id, after ?? null, limit, bytesMax],
      });
      return rows.at(0);
    }, reserveMemory);
    return { items: found?.items ?? [], has_more: found?.has_more ?? false };
  }

  async item(keyId: string, id: string, itemId: string, reserveMemory: ReserveMemory): Promise<Json | null> {
    const found = await sized(async (bytesMax) => {
      const { rows } = await this.database.pool.query<{ bytes: number; item: Json | null }>(
        `SELECT octet_length(item::text) AS bytes, CASE WHEN octet_length(item::text) <= $4 THEN item END AS item
         FROM conversation_items WHERE key_id = $1 AND conversation_id = $2 AND id = $3`,
        [keyId, id, itemId, bytesMax],
      );
      return rows.at(0);
    }, reserveMemory);
    return found?.item ?? null;
  }

  async removeItem(keyId: string, id: string, itemId: string): Promise<boolean> {
    const { rowCount } = await this.database.pool.query(
      `WITH gone AS (DELETE FROM conversation_items WHERE key_id = $1 AND conversation_id = $2 AND id = $3
         RETURNING octet_length(item::text) AS bytes)
       UPDATE conversations c SET items = c.items - 1, bytes = c.bytes - gone.bytes FROM gone
       WHERE c.key_id = $1 AND c.id = $2`,
      [keyId, id, itemId],
    );
    return rowCount === 1;
  }
}

async function addBounded(
  client: pg.ClientBase,
  to: { keyId: string; conversationId: string },
  items: readonly (Json & { id: string })[],
): Promise<void> {
  if (items.length === 0) return;
  const held = await addItems(client, to, items);
  if (held !== undefined && (held.items > ITEMS_MAX || held.bytes > BYTES_MAX))
    throw full(`A conversation holds at most ${ITEMS_MAX} items and ${BYTES_MAX / 1_048_576} MiB.`);
}

function full(message: string): ApiError {
  return new ApiError('conflict', { message: `${message} Delete some first.` });
}

function viewOf({ id, created_at, metadata }: Row): Conversation {
  return { id, object: 'conversation', created_at: Math.floor(created_at.getTime() / 1_000), metadata };
}

const PREFIXES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    reasoning: 'rs',
    function_call: 'fc',
    custom_tool_call: 'ctc',
  }),
);

function prefixOf({ type }: Json): string {
  return (typeof type === 'string' ? PREFIXES.get(type) : undefined) ?? 'msg';
}
