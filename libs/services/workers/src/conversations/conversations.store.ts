import { newAnswerId, type Clock, type Random } from '@gateway/contracts';
import type { WorkersDatabase } from '../postgres/workers-database.js';
import { addItems } from '../responses/responses.store.js';

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

/** Items of a conversation that are read at once. */
const ITEMS_MAX = 10_000;

/** Conversations in PostgreSQL. A key sees its own alone. */
export class ConversationStore {
  constructor(
    private readonly database: WorkersDatabase,
    private readonly clock: Clock,
    private readonly random: Random,
  ) {}

  async create(
    owner: { keyId: string; accountId: string },
    metadata: Json,
    items: Json[],
  ): Promise<Conversation> {
    const id = newAnswerId('conv', this.clock, this.random);
    const now = new Date(this.clock.now());
    await this.database.pool.query('INSERT INTO conversations VALUES ($1, $2, $3, $4, $5)', [
      owner.keyId,
      id,
      owner.accountId,
      now,
      JSON.stringify(metadata),
    ]);
    await this.add(owner.keyId, id, items);
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
      JSON.stringify(metadata),
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

  /** The items with their ids. */
  async add(keyId: string, id: string, items: readonly Json[]): Promise<Json[]> {
    const added = items.map((item) => ({
      type: 'message',
      ...item,
      id: typeof item.id === 'string' ? item.id : newAnswerId(prefixOf(item), this.clock, this.random),
    }));
    if (added.length > 0) await addItems(this.database.pool, { keyId, conversationId: id }, added);
    return added;
  }

  async items(keyId: string, id: string): Promise<Json[]> {
    const { rows } = await this.database.pool.query<{ item: Json }>(
      `SELECT item FROM (SELECT item, position FROM conversation_items WHERE key_id = $1 AND conversation_id = $2
         ORDER BY position DESC LIMIT ${ITEMS_MAX}) newest ORDER BY position`,
      [keyId, id],
    );
    return rows.map(({ item }) => item);
  }

  async removeItem(keyId: string, id: string, itemId: string): Promise<boolean> {
    const { rowCount } = await this.database.pool.query(
      'DELETE FROM conversation_items WHERE key_id = $1 AND conversation_id = $2 AND id = $3',
      [keyId, id, itemId],
    );
    return rowCount === 1;
  }
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
