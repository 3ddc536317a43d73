import { Controller } from '@nestjs/common';
import { EventPattern, Payload } from '@nestjs/microservices';
import { TOPIC, type ConsumedRecord } from '@gateway/contracts';
import { readEvents, type DeadRecord } from '@gateway/event-log';

/** What notices are made from: usage, rejections, account events. Nothing is delivered in this release. */
@Controller()
export class NotificationsConsumer {
  @EventPattern({ topic: TOPIC.usage, group: 'notifications' })
  units(@Payload() batch: ConsumedRecord[]): DeadRecord[] {
    return readEvents(TOPIC.usage, batch).dead;
  }

  @EventPattern({ topic: TOPIC.rejections, group: 'notifications' })
  rejections(@Payload() batch: ConsumedRecord[]): DeadRecord[] {
    return readEvents(TOPIC.rejections, batch).dead;
  }

  @EventPattern({ topic: TOPIC.account, group: 'notifications' })
  events(@Payload() batch: ConsumedRecord[]): DeadRecord[] {
    return readEvents(TOPIC.account, batch).dead;
  }
}
