import type { INestApplication } from '@nestjs/common';
import { Server, type CustomTransportStrategy } from '@nestjs/microservices';
import { EventLog, type ConsumedRecord, type Consumer } from '@gateway/contracts';
import { isObservable, lastValueFrom } from 'rxjs';

/** Bounds of one handler's batches: `@EventPattern(TOPIC.usage, { maxBatch: 500, lingerMs: 50 })`. */
export interface BatchBounds {
  maxBatch: number;
  lingerMs: number;
}

const DEFAULTS: BatchBounds = { maxBatch: 200, lingerMs: 50 };

/**
 * Nest handlers over the event log: a method with `@EventPattern(<topic>)` gets a `ConsumedRecord[]`; its offsets are
 * committed when it resolves, and the batch comes again when it rejects. Each topic is a consumer group
 * `<group>.<topic>` of its own, so that a handler that fails holds up no other topic.
 */
export class EventLogTransport extends Server implements CustomTransportStrategy {
  /** A failure belongs to the event log, which hands the batch over again. */
  override readonly propagatesEventHandlerErrors = true;
  private consumers: Consumer[] = [];

  constructor(
    private readonly log: EventLog,
    private readonly group: string,
  ) {
    super();
  }

  listen(callback: (error?: unknown) => void): void {
    this.consumeAll().then(() => callback(), callback);
  }

  async close(): Promise<void> {
    await Promise.all(this.consumers.splice(0).map((consumer) => consumer.stop()));
  }

  on(): void {
    throw new Error('The event log has no events of its own.');
  }

  unwrap<T>(): T {
    throw new Error('The event log is injected as EventLog.');
  }

  private async consumeAll(): Promise<void> {
    for (const [topic, handler] of this.messageHandlers) {
      const consumer = await this.log.consume({
        topics: [topic],
        group: `${this.group}.${topic}`,
        ...boundsOf(handler.extras),
        handler: async (batch: ConsumedRecord[]) => {
          const answer: unknown = await handler(batch);
          // Nest turns a rejection into a stream that fails.
          if (isObservable(answer)) await lastValueFrom(answer, { defaultValue: undefined });
        },
      });
      this.consumers.push(consumer);
    }
  }
}

function boundsOf(extras: Record<string, unknown> | undefined): BatchBounds {
  const { maxBatch, lingerMs } = { ...DEFAULTS, ...extras };
  if (typeof maxBatch !== 'number' || typeof lingerMs !== 'number')
    throw new Error('maxBatch and lingerMs are numbers.');
  return { maxBatch, lingerMs };
}

/**
 * Starts the `@EventPattern` handlers of an application; call it once, after init. They stop with the application,
 * each after its batch.
 */
export async function connectEventLog(app: INestApplication, options: { group: string }): Promise<void> {
  app.connectMicroservice({ strategy: new EventLogTransport(app.get(EventLog), options.group) });
  await app.startAllMicroservices();
}
