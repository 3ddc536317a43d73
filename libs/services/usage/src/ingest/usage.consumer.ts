import { Controller, Inject } from '@nestjs/common';
import { EventPattern, Payload } from '@nestjs/microservices';
import { TOPIC, type ConsumedRecord } from '@gateway/contracts';
import { BATCH_MAX, Ingestion } from './ingestion.js';

/** A posting costs by the batch more than by its events, so events of a busy time wait for a quarter of a second. */
const BOUNDS = { maxBatch: BATCH_MAX, lingerMs: 250 };

/**
 * Consumer of finished and refused units of edges and workers. Dead letters leave with the posting, through the outbox.
 */
@Controller()
export class UsageConsumer {
  constructor(@Inject(Ingestion) private readonly ingestion: Ingestion) {}

  @EventPattern({ topic: TOPIC.usage, group: 'usage' }, BOUNDS)
  units(@Payload() batch: ConsumedRecord[]): Promise<void> {
    return this.ingestion.apply(batch);
  }

  /** Each topic is a group of its own: two releases in one group would subscribe to different topics. */
  @EventPattern({ topic: TOPIC.usageV2, group: 'usage' }, BOUNDS)
  compactUnits(@Payload() batch: ConsumedRecord[]): Promise<void> {
    return this.ingestion.apply(batch);
  }

  @EventPattern({ topic: TOPIC.rejections, group: 'usage' }, BOUNDS)
  rejections(@Payload() batch: ConsumedRecord[]): Promise<void> {
    return this.ingestion.apply(batch);
  }
}
