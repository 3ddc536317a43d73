import type { INestApplication } from '@nestjs/common';
import { Server, type CustomTransportStrategy } from '@nestjs/microservices';
import {
  deadLetterTopic,
  EventLog,
  TOPIC,
  type Clock,
  type CloudEvent,
  type ConsumedRecord,
  type Consumer,
  type DeadLetter,
  type LogRecord,
  type Topic,
} from '@gateway/contracts';
import { CLOCK, Metrics } from '@gateway/platform';
import { isObservable, lastValueFrom } from 'rxjs';
import { Consumption } from './consumption.js';
import { deadLetter, type DeadRecord } from './dead-letter.js';
import { traced } from './traced.js';

/** Pattern of a handler: `@EventPattern({ topic: TOPIC.usage, group: 'usage' })`. */
interface ConsumedTopic {
  topic: Topic;
  /** The service. Each of its topics is a consumer group of its own. */
  group: string;
}

/** Bounds of a handler's batches, the second argument of `@EventPattern`. */
interface BatchBounds {
  maxBatch: number;
  lingerMs: number;
}

const DEFAULTS: BatchBounds = { maxBatch: 500, lingerMs: 250 };

/**
 * Nest handlers over the event log. A method with `@EventPattern(<ConsumedTopic>)` gets a `ConsumedRecord[]` and may
 * return a `DeadRecord[]`, which goes to the topic's dead letters; those with `isUnknown` are counted only. After that
 * the offsets are committed. If either fails, the batch comes again, with back-off. Each topic is a consumer group
 * `<group>.<topic>`, so that a handler that fails holds up no other topic.
 */
class EventLogTransport extends Server implements CustomTransportStrategy {
  /** A failure belongs to the event log, which hands the batch over again. */
  override readonly propagatesEventHandlerErrors = true;
  private consumers: Consumer[] = [];

  constructor(
    private readonly log: EventLog,
    private readonly consumption: Consumption,
    private readonly clock: Pick<Clock, 'now'>,
  ) {
    super();
  }

  listen(callback: (error?: unknown) => void): void {
    this.consumeAll().then(() => callback(), callback);
  }

  /** Each consumer ends after its batch. */
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
    for (const [route, handler] of this.messageHandlers) {
      const consumed = patternOf(route);
      const consumer = await this.log.consume({
        topics: [consumed.topic],
        group: `${consumed.group}.${consumed.topic}`,
        ...boundsOf(handler.extras),
        handler: (batch) => traced(consumed, batch, () => this.handle(consumed, batch, handler)),
      });
      this.consumers.push(consumer);
    }
    this.log.consumersBegan();
  }

  private async handle(
    { topic, group }: ConsumedTopic,
    batch: ConsumedRecord[],
    handler: (batch: ConsumedRecord[]) => Promise<unknown>,
  ): Promise<void> {
    const answer: unknown = await handler(batch);
    // Nest turns an answer into a stream, and a rejection into one that fails.
    const dead: unknown = isObservable(answer)
      ? await lastValueFrom(answer, { defaultValue: undefined })
      : answer;
    const left = Array.isArray(dead) ? (dead as DeadRecord[]) : [];
    const letters = left.filter(({ isUnknown }) => isUnknown !== true);
    if (letters.length > 0)
      await this.log.append(
        deadLetterTopic(topic),
        letters.map((letter) => this.letter(letter, group)),
      );
    this.consumption.handled(group, batch, { dead: letters.length, unknown: left.length - letters.length });
  }

  private letter(dead: DeadRecord, group: string): LogRecord {
    const { topic, partition, offset, key } = dead.record;
    const event: CloudEvent<DeadLetter> = {
      specversion: '1.0',
      id: `${topic}-${partition}-${offset}`,
      source: `/${group}`,
      type: deadLetterTopic(topic),
      time: new Date(this.clock.now()).toISOString(),
      datacontenttype: 'application/json',
      data: deadLetter(dead, group),
    };
    return { key, value: JSON.stringify(event) };
  }
}

/** Nest keeps a pattern as its JSON. */
function patternOf(route: string): ConsumedTopic {
  const { topic, group } = JSON.parse(route) as Partial<ConsumedTopic>;
  const known = Object.values(TOPIC).find((name) => name === topic);
  if (known === undefined || typeof group !== 'string')
    throw new Error(`${route} names no topic of the fleet and group.`);
  return { topic: known, group };
}

function boundsOf(extras: Record<string, unknown> | undefined): BatchBounds {
  const { maxBatch, lingerMs } = { ...DEFAULTS, ...extras };
  if (typeof maxBatch !== 'number' || typeof lingerMs !== 'number')
    throw new Error('maxBatch and lingerMs are numbers.');
  return { maxBatch, lingerMs };
}

/** Starts the `@EventPattern` handlers of an application, once, after init. They stop with `close`, each after its batch. */
export async function connectEventLog(app: INestApplication): Promise<{ close(): Promise<void> }> {
  const strategy = new EventLogTransport(
    app.get(EventLog),
    new Consumption(app.get(Metrics)),
    app.get<Clock>(CLOCK),
  );
  app.connectMicroservice({ strategy });
  await app.startAllMicroservices();
  return strategy;
}
