import type { Clock, EventLog, LogRecord, Timer } from '@gateway/contracts';
import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import type pg from 'pg';
import { SentRows } from './sent-rows.js';

export interface OutboxRelayOptions {
  /** Connections whose search path has the service's `outbox`. */
  pool: pg.Pool;
  eventLog: Pick<EventLog, 'append' | 'kept'>;
  clock: Clock;
  /** Each failed round, for the log. The relay goes on with back-off. */
  onFault: (error: unknown) => void;
  /** Called every 5 s with what waits, also while the event log is away. Rows are counted up to 10,000. */
  onBacklog?: (backlog: { rows: number; oldestSeconds: number }) => void;
  pollMs?: number;
  batch?: number;
  /** A batch that the event log has not taken by then is given up and tried again. */
  appendTimeoutMs?: number;
}

const POLL_MS = 200;
const BATCH = 200;
const APPEND_TIMEOUT_MS = 15_000;
const BACK_OFF_MAX_MS = 5_000;
const MEASURE_EVERY_MS = 5_000;
const BACKLOG_SQL = `
  SELECT count(*)::int AS rows, coalesce(extract(epoch FROM now() - min(created_at)), 0)::float8 AS oldest_seconds
  FROM (SELECT created_at FROM outbox WHERE sent_at IS NULL ORDER BY id LIMIT 10000) AS waiting`;
/** Most polls find nothing: one statement, where a transaction with its lock would be four. */
const WAITS_SQL = 'SELECT EXISTS (SELECT FROM outbox WHERE sent_at IS NULL) AS waits';

interface Waiting {
  id: string;
  topic: string;
  key: string;
  value: string;
}

/**
 * Takes committed rows of a service's outbox to the event log, oldest first, and deletes what the log keeps: on Kafka what it
 * has acknowledged, in memory what every consumer group has committed. At least once: a process that dies before leaves
 * the row, which is sent again. Of several replicas one at a time relays, because two would overtake each other.
 */
export class OutboxRelay implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly options: OutboxRelayOptions;
  private readonly stopping = new AbortController();
  private running: Promise<void> | null = null;
  private waker: AbortController | null = null;
  private isWoken = false;
  private measuredAt = Number.NEGATIVE_INFINITY;
  private readonly sent = new SentRows();

  constructor(options: OutboxRelayOptions) {
    this.options = options;
  }

  start(): void {
    this.running ??= this.run();
  }

  /** Call it after a commit that wrote rows: they leave at once instead of at the next poll. */
  wake(): void {
    this.isWoken = true;
    this.waker?.abort();
  }

  /** Ends after the batch under way. What the log does not keep yet is sent again by whoever starts next. */
  async stop(): Promise<void> {
    this.stopping.abort();
    this.waker?.abort();
    await this.running;
    if (this.sent.kept().length > 0) await this.relayBatch(0).catch(this.options.onFault);
  }

  onApplicationBootstrap(): void {
    this.start();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.stop();
  }

  private async run(): Promise<void> {
    const { pollMs = POLL_MS, batch = BATCH, onFault } = this.options;
    let failures = 0;
    while (!this.stopping.signal.aborted) {
      this.isWoken = false;
      try {
        const sent = (await this.isDue()) ? await this.relayBatch(batch) : 0;
        failures = 0;
        if (sent === batch) continue;
      } catch (error) {
        failures += 1;
        onFault(error);
      }
      await this.measure();
      await this.rest(Math.min(pollMs * 2 ** Math.min(failures, 10), BACK_OFF_MAX_MS), failures > 0);
    }
  }

  private async isDue(): Promise<boolean> {
    if (this.sent.kept().length > 0) return true;
    const { rows } = await this.options.pool.query<{ waits: boolean }>(WAITS_SQL);
    return rows[0].waits;
  }

  private async measure(): Promise<void> {
    const { onBacklog, onFault, pool, clock } = this.options;
    if (!onBacklog || clock.monotonic() - this.measuredAt < MEASURE_EVERY_MS) return;
    this.measuredAt = clock.monotonic();
    try {
      const { rows } = await pool.query<{ rows: number; oldest_seconds: number }>(BACKLOG_SQL);
      onBacklog({ rows: rows[0].rows, oldestSeconds: Math.max(0, rows[0].oldest_seconds) });
    } catch (error) {
      onFault(error);
    }
  }

  private async rest(delayMs: number, isBackOff: boolean): Promise<void> {
    if (this.stopping.signal.aborted || (this.isWoken && !isBackOff)) return;
    const waker = new AbortController();
    // A wake does not shorten a back-off; a stop does.
    if (isBackOff) this.stopping.signal.addEventListener('abort', () => waker.abort(), { once: true });
    else this.waker = waker;
    await this.options.clock.sleep(delayMs, waker.signal).catch(() => undefined);
    this.waker = null;
  }

  private async relayBatch(batch: number): Promise<number> {
    const client = await this.options.pool.connect();
    let fault: Error | undefined;
    const note = (error: Error): void => void (fault = error);
    client.on('error', note); // A connection lost while the event log is at work; the next query would fail as well.
    try {
      await client.query('BEGIN');
      const rows = await lockOldest(client, batch, this.sent);
      const taken = await this.appendAll(rows);
      const kept = [...taken.ids, ...this.sent.kept()];
      if (kept.length > 0) await client.query('DELETE FROM outbox WHERE id = ANY($1::uuid[])', [kept]);
      await client.query('COMMIT');
      this.sent.forget(kept);
      if (taken.fault !== undefined) throw taken.fault;
      return rows.length;
    } catch (error) {
      await client.query('ROLLBACK').catch(note);
      throw error;
    } finally {
      client.off('error', note);
      client.release(fault);
    }
  }

  /** Topic by topic; a topic that fails keeps its rows, and with them their order. Answers what may go now. */
  private async appendAll(rows: Waiting[]): Promise<{ ids: string[]; fault?: Error }> {
    const ids: string[] = [];
    let fault: Error | undefined;
    for (const [topic, waiting] of byTopic(rows)) {
      try {
        await this.append(
          topic,
          waiting.map(({ key, value }) => ({ key, value })),
        );
        const taken = waiting.map((row) => row.id);
        const kept = this.options.eventLog.kept(topic);
        if (kept === null) ids.push(...taken);
        else void this.sent.add(topic, taken, kept).then(() => this.wake());
      } catch (cause) {
        fault = new Error(`The event log did not take ${waiting.length} records of ${topic}.`, { cause });
      }
    }
    return { ids, fault };
  }

  private async append(topic: string, records: LogRecord[]): Promise<void> {
    const { clock, eventLog, appendTimeoutMs = APPEND_TIMEOUT_MS } = this.options;
    let timer: Timer | undefined;
    const late = new Promise<never>((_, reject) => {
      const fail = (): void => reject(new Error(`No answer in ${appendTimeoutMs} ms.`));
      timer = clock.setTimer(appendTimeoutMs, fail);
    });
    try {
      await Promise.race([eventLog.append(topic, records), late]);
    } finally {
      timer?.cancel();
    }
  }
}

function byTopic(rows: Waiting[]): Map<string, Waiting[]> {
  const topics = new Map<string, Waiting[]>();
  for (const row of rows) {
    const waiting = topics.get(row.topic);
    if (waiting) waiting.push(row);
    else topics.set(row.topic, [row]);
  }
  return topics;
}

/** Nothing where another replica relays. The lock and the rows are free again when the transaction ends. */
async function lockOldest(client: pg.PoolClient, batch: number, sent: SentRows): Promise<Waiting[]> {
  const lock = await client.query<{ mine: boolean }>(
    "SELECT pg_try_advisory_xact_lock(hashtext('gateway-outbox ' || current_schema())) AS mine",
  );
  if (!lock.rows[0].mine) return [];
  const { rows } = await client.query<Waiting>(
    `SELECT id, topic, key, value FROM outbox
     WHERE sent_at IS NULL AND id <> ALL ($2::uuid[]) AND topic <> ALL ($3::text[])
     ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED`,
    [batch, sent.ids(), sent.fullTopics()],
  );
  return rows;
}
