import { Controller } from '@nestjs/common';
import { EventPattern, Payload } from '@nestjs/microservices';
import { TOPIC, type ConsumedRecord } from '@gateway/contracts';
import { readEvents, type DeadRecord } from '@gateway/event-log';

/** What jobs of an account will depend on. No job runs in this release. */
@Controller()
export class WorkersConsumer {
  @EventPattern({ topic: TOPIC.account, group: 'workers' })
  events(@Payload() batch: ConsumedRecord[]): DeadRecord[] {
    return readEvents(TOPIC.account, batch).dead;
  }
}
