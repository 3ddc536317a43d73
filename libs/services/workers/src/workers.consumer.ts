import { Controller } from '@nestjs/common';
import { EventPattern, Payload } from '@nestjs/microservices';
import { TOPIC, type AccountEvent, type ConsumedRecord } from '@gateway/contracts';
import { readEvents, type DeadRecord } from '@gateway/event-log';
import { StoredResponses } from './responses/responses.store.js';

/** Consumer of the account topic that makes stored content forget end users. */
@Controller()
export class WorkersConsumer {
  constructor(private readonly responses: StoredResponses) {}

  /** Throws where the database is away: the batch comes again. */
  @EventPattern({ topic: TOPIC.account, group: 'workers' })
  async events(@Payload() batch: ConsumedRecord[]): Promise<DeadRecord[]> {
    const { events, dead } = readEvents(TOPIC.account, batch);
    for (const { data } of events) if (isErasure(data)) await this.forget(data);
    return dead;
  }

  private async forget({ account_id, data }: AccountEvent<'end_user.erased'>): Promise<void> {
    await this.responses.forget(account_id, data.end_user_hash, new Date(data.erased_at));
  }
}

function isErasure(event: AccountEvent): event is AccountEvent<'end_user.erased'> {
  return event.type === 'end_user.erased';
}
