import { Inject, Injectable } from '@nestjs/common';
import { CLOCK } from '@gateway/platform';
import { writeJson } from '@gateway/json-body';
import {
  ApiError,
  BackgroundResponses,
  type BackgroundRun,
  type Clock,
  type EndedResponse,
  type EventsPage,
  type IdempotencyClaim,
  type ReserveMemory,
  type NewBackgroundResponse,
  type NumberedEvent,
} from '@gateway/contracts';
import type pg from 'pg';
import { answerClaim } from '../../idempotency/answer-claim.js';
import { holdCount } from '../../postgres/hold-count.js';
import { sized } from '../../postgres/sized.js';
import { WorkersDatabase } from '../../postgres/workers-database.js';
import { itemIds, KEPT_MS, outputOf, StoredResponses } from '../responses.store.js';

type Json = Record<string, unknown>;

/** A row of `background_tasks`. */
export interface BackgroundTask {
  id: string;
  key_id: string;
  account_id: string;
  request_id: string;
  unit: number;
  expires_at: Date;
}

interface Kept {
  response: Json;
  input: Json[];
  conversation_id: string | null;
}

/** Longer than any model thinks. */
const LIFE_MS = 6 * 3_600_000;
/** Number of open responses of one key. */
const OPEN_MAX = 100;
const EVENTS_AT_ONCE = 500;
/** Size of a page, unless its last event alone is larger. */
const PAGE_BYTES = 1_048_576;
/** Events with which every stream begins, before a run has any. */
const OPENING = ['response.created', 'response.queued'];

/** Responses that nobody waits for, in PostgreSQL: their tasks and their events. */
@Injectable()
export class BackgroundStore extends BackgroundResponses {
  /** Called for each that was begun here. */
  onBegun: () => void = () => undefined;

  constructor(
    private readonly database: WorkersDatabase,
    private readonly responses: StoredResponses,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    super();
  }

  override async begin(begun: NewBackgroundResponse, claim?: IdempotencyClaim): Promise<void> {
    const { id, key_id, account_id, request_id } = begun;
    const now = this.clock.now();
    await this.database.transaction(async (client) => {
      const { rowCount: added } = await client.query(
        `INSERT INTO responses (key_id, id, account_id, end_user_hash, previous_id, conversation_id, created_at, input,
           output, response, expires_at, is_open)
         VALUES ($1, $2, $3, $4, $5, $6, to_timestamp($7), $8, '[]', $9, $10, true) ON CONFLICT DO NOTHING`,
        [
          ...[key_id, id, account_id, begun.end_user_hash, begun.previous_response_id, begun.conversation_id],
          ...[begun.created_at, writeJson(begun.input), writeJson(begun.response)],
          new Date(now + KEPT_MS),
        ],
      );
      // Sent twice because its answer was lost.
      if (added === 0) return;
      await answerClaim(client, claim ?? null, begun.response);
      await holdCount(client, 'background responses', key_id);
      const { rows } = await client.query<{ open: number }>(
        'SELECT count(*)::int AS open FROM background_tasks WHERE key_id = $1',
        [key_id],
      );
      if (rows[0].open >= OPEN_MAX)
        throw new ApiError('conflict', {
          message: `A key has at most ${OPEN_MAX} background responses that have not ended.`,
        });
      await client.query(
        `INSERT INTO background_tasks (id, key_id, account_id, request_id, body, created_at, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7)`,
        [id, key_id, account_id, request_id, writeJson(begun.body), new Date(now), new Date(now + LIFE_MS)],
      );
      const events = OPENING.map((type, number) => ({
        number,
        event: { type, response: begun.response, sequence_number: number },
      }));
      await addEvents(client, { key_id, id }, events);
    });
    this.onBegun();
  }

  override async take({ key_id, response_id, run }: BackgroundRun): Promise<number | null> {
    const { rows } = await this.database.pool.query<{ first: number }>(
      `UPDATE background_tasks t SET run = $3 WHERE key_id = $1 AND id = $2
       RETURNING (SELECT coalesce(max(number) + 1, 0) FROM background_events e WHERE e.key_id = $1 AND e.id = $2) AS first`,
      [key_id, response_id, run],
    );
    return rows.at(0)?.first ?? null;
  }

  override async append(
    { key_id, response_id: id, run }: BackgroundRun,
    events: NumberedEvent[],
    ended: EndedResponse | null,
  ): Promise<boolean> {
    const kept = await this.database.transaction(async (client) => {
      await lock(client, { key_id, id });
      const { rowCount } = await client.query(
        'SELECT 1 FROM background_tasks WHERE key_id = $1 AND id = $2 AND run = $3 FOR UPDATE',
        [key_id, id, run],
      );
      if (rowCount !== 1) return null;
      await addEvents(client, { key_id, id }, events);
      return ended === null ? undefined : close(client, { key_id, id }, ended);
    });
    // Where it ended by this run already, its answer was lost: who asks twice is not refused, but has nothing more to add.
    if (kept === null) return false;
    if (kept !== undefined) await this.responses.continueConversation({ key_id, ...kept });
    return true;
  }

  /** False where the key has no such response, or it never ran in the background. */
  async hasEvents(keyId: string, id: string): Promise<boolean> {
    const { rowCount } = await this.database.pool.query(
      `SELECT 1 FROM responses r JOIN background_events e ON e.key_id = r.key_id AND e.id = r.id
       WHERE r.key_id = $1 AND r.id = $2 AND r.expires_at > $3 LIMIT 1`,
      [keyId, id, new Date(this.clock.now())],
    );
    return rowCount === 1;
  }

  override async events(
    keyId: string,
    id: string,
    after: number,
    reserveMemory: ReserveMemory,
  ): Promise<EventsPage | null> {
    const { pool } = this.database;
    // Before its events: what comes between is then on the next page.
    const found = await pool.query<{ is_open: boolean }>(
      'SELECT is_open FROM responses WHERE key_id = $1 AND id = $2 AND expires_at > $3',
      [keyId, id, new Date(this.clock.now())],
    );
    const response = found.rows.at(0);
    if (response === undefined) return null;
    const page = await sized((bytesMax) => this.page({ keyId, id, after, bytesMax }), reserveMemory);
    if (page?.events) return { events: page.events, is_over: !response.is_open && page.is_last };
    if (response.is_open) return { events: [], is_over: false };
    const last = await sized((bytesMax) => this.page({ keyId, id, after: null, bytesMax }), reserveMemory);
    return { events: last?.events ?? [], is_over: true };
  }

  /** Events after this number, or the last one alone; undefined where there are none. */
  private async page({
    keyId,
    id,
    after,
    bytesMax,
  }: {
    keyId: string;
    id: string;
    after: number | null;
    bytesMax: number;
  }): Promise<{ bytes: number; events: NumberedEvent[] | null; is_last: boolean } | undefined> {
    const { rows } = await this.database.pool.query<{
      bytes: number;
      events: NumberedEvent[] | null;
      is_last: boolean;
    }>({
      name: after === null ? 'last-event' : 'events-page',
      text: eventsPage(after === null),
      values: [keyId, id, after ?? -1, bytesMax],
    });
    return rows.at(0);
  }

  /** Cancels an open response; false where it has ended, or the key has none of this id. */
  async cancel(keyId: string, id: string): Promise<boolean> {
    return this.closeTask({ key_id: keyId, id }, {}, 'cancelled');
  }

  /** Fails the response by its worker, where no run could end it. */
  async fail({ key_id, id }: BackgroundTask, worker: string, { code, message }: ApiError): Promise<void> {
    await this.closeTask({ key_id, id, worker }, { error: { code, message } }, 'failed');
  }

  /** The oldest that nobody works on, but of the accounts `served`. */
  async claim(worker: string, leaseMs: number, served: readonly string[]): Promise<BackgroundTask | null> {
    const { rows } = await this.database.pool.query<BackgroundTask>(
      `UPDATE background_tasks SET worker = $1, leased_until = $2 WHERE id = (
         SELECT id FROM background_tasks WHERE (leased_until IS NULL OR leased_until < $3) AND account_id <> ALL ($4)
         ORDER BY created_at LIMIT 1 FOR UPDATE SKIP LOCKED)
       RETURNING id, key_id, account_id, request_id, unit, expires_at`,
      [worker, new Date(this.clock.now() + leaseMs), new Date(this.clock.now()), served],
    );
    return rows.at(0) ?? null;
  }

  /** Returns the body to run; null where the response has ended meanwhile. */
  async bodyOf(id: string, reserveMemory: ReserveMemory): Promise<Json | null> {
    const found = await sized(async (bytesMax) => {
      const { rows } = await this.database.pool.query<{ bytes: number; body: Json | null }>(
        `SELECT octet_length(body::text) AS bytes, CASE WHEN octet_length(body::text) <= $2 THEN body END AS body
         FROM background_tasks WHERE id = $1`,
        [id, bytesMax],
      );
      return rows.at(0);
    }, reserveMemory);
    return found?.body ?? null;
  }

  async renew(id: string, worker: string, leaseMs: number): Promise<boolean> {
    const { rowCount } = await this.database.pool.query(
      'UPDATE background_tasks SET leased_until = $3 WHERE id = $1 AND worker = $2',
      [id, worker, new Date(this.clock.now() + leaseMs)],
    );
    return rowCount === 1;
  }

  async release(id: string, worker: string): Promise<void> {
    await this.database.pool.query(
      'UPDATE background_tasks SET worker = NULL, leased_until = NULL WHERE id = $1 AND worker = $2',
      [id, worker],
    );
  }

  /** Another unit runs it from here on. */
  async note(id: string, worker: string, unit: number): Promise<void> {
    await this.database.pool.query('UPDATE background_tasks SET unit = $3 WHERE id = $1 AND worker = $2', [
      id,
      worker,
      unit,
    ]);
  }

  private closeTask(
    { key_id, id, worker }: { key_id: string; id: string; worker?: string },
    more: Json,
    status: 'cancelled' | 'failed',
  ): Promise<boolean> {
    return this.database.transaction(async (client) => {
      await lock(client, { key_id, id });
      const { rows } = await client.query<{ response: Json; next: number }>(
        `SELECT r.response, (SELECT coalesce(max(number) + 1, 0) FROM background_events e
             WHERE e.key_id = $1 AND e.id = $2) AS next
         FROM background_tasks t JOIN responses r ON r.key_id = t.key_id AND r.id = t.id
         WHERE t.key_id = $1 AND t.id = $2 AND ($3::text IS NULL OR t.worker = $3) FOR UPDATE OF t`,
        [key_id, id, worker ?? null],
      );
      const found = rows.at(0);
      if (found === undefined) return false;
      const response = { ...found.response, ...more, status };
      const event = { type: `response.${status}`, response, sequence_number: found.next };
      await addEvents(client, { key_id, id }, [{ number: found.next, event }]);
      await close(client, { key_id, id }, { response, credential: null });
      return true;
    });
  }
}

/** A page by number, that ends with the event that fills it; of the last event alone, backwards. */
function eventsPage(isLast: boolean): string {
  return `WITH sizes AS (
      SELECT number, event, octet_length(event::text)::float8 AS bytes FROM background_events
      WHERE key_id = $1 AND id = $2 AND number > $3 ORDER BY number ${isLast ? 'DESC LIMIT 1' : `LIMIT ${EVENTS_AT_ONCE + 1}`}),
    page AS (SELECT * FROM (
      SELECT number, event, bytes, sum(bytes) OVER (ORDER BY number) - bytes AS before FROM sizes) summed
      WHERE before < ${PAGE_BYTES} ORDER BY number LIMIT ${EVENTS_AT_ONCE})
    SELECT sum(bytes) AS bytes, count(*) = (SELECT count(*) FROM sizes) AS is_last,
      CASE WHEN sum(bytes) <= $4 THEN (
        SELECT json_agg(json_build_object('number', number, 'event', event) ORDER BY number) FROM page) END AS events
    FROM page HAVING count(*) > 0`;
}

/** The response before its task, as its deletion takes them: in another order the two would wait for each other. */
async function lock(client: pg.ClientBase, { key_id, id }: { key_id: string; id: string }): Promise<void> {
  await client.query('SELECT 1 FROM responses WHERE key_id = $1 AND id = $2 FOR UPDATE', [key_id, id]);
}

async function addEvents(
  client: pg.ClientBase,
  { key_id, id }: { key_id: string; id: string },
  events: readonly NumberedEvent[],
): Promise<void> {
  if (events.length === 0) return;
  await client.query(
    `INSERT INTO background_events (key_id, id, number, event)
     SELECT $1, $2, n, e FROM unnest($3::int[], $4::json[]) AS added (n, e) ON CONFLICT DO NOTHING`,
    [key_id, id, events.map(({ number }) => number), events.map(({ event }) => writeJson(event))],
  );
}

async function close(
  client: pg.ClientBase,
  { key_id, id }: { key_id: string; id: string },
  { response, credential }: EndedResponse,
): Promise<Kept | undefined> {
  const output = writeJson(outputOf(response));
  const { rows } = await client.query<Kept>(
    `UPDATE responses SET response = $3, output = $4, credential = $5, item_ids = $6, is_open = false WHERE key_id = $1 AND id = $2
     RETURNING response, input, conversation_id`,
    [key_id, id, writeJson(response), output, credential, itemIds(outputOf(response))],
  );
  await client.query('DELETE FROM background_tasks WHERE id = $1', [id]);
  return rows.at(0);
}
