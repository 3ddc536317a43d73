import { Controller } from '@nestjs/common';
import { EventPattern, Payload } from '@nestjs/microservices';
import { TOPIC, type AccountEvent, type ConsumedRecord } from '@gateway/contracts';
import { readEvents, type DeadRecord } from '@gateway/event-log';
import { DispatchLoop } from './deliveries/dispatch-loop.js';
import { NotificationsConfig } from './notifications.config.js';
import { movementNotices } from './notices/movement-notices.js';
import type { Notice, ThresholdsOf } from './notices/notice.js';
import { rejectionNotices } from './notices/rejection-notices.js';
import { usageNotices } from './notices/usage-notices.js';
import { accountNotices } from './events/account-notices.js';
import { Enqueue } from './events/enqueue.js';

/**
 * Consumer that makes events of usage, rejections and account events. Offsets are committed when the deliveries stand.
 */
@Controller()
export class EventsConsumer {
  constructor(
    private readonly enqueue: Enqueue,
    private readonly dispatch: DispatchLoop,
    private readonly config: NotificationsConfig,
  ) {}

  @EventPattern({ topic: TOPIC.usage, group: 'notifications' })
  async units(@Payload() batch: ConsumedRecord[]): Promise<DeadRecord[]> {
    const { events, dead } = readEvents(TOPIC.usage, batch);
    await this.take(events, usageNotices);
    return dead;
  }

  @EventPattern({ topic: TOPIC.usageV2, group: 'notifications' })
  compactUnits(@Payload() batch: ConsumedRecord[]): Promise<DeadRecord[]> {
    return this.units(batch);
  }

  @EventPattern({ topic: TOPIC.rejections, group: 'notifications' })
  async rejections(@Payload() batch: ConsumedRecord[]): Promise<DeadRecord[]> {
    const { events, dead } = readEvents(TOPIC.rejections, batch);
    await this.take(events, rejectionNotices);
    return dead;
  }

  @EventPattern({ topic: TOPIC.account, group: 'notifications' })
  async account(@Payload() batch: ConsumedRecord[]): Promise<DeadRecord[]> {
    const { events, dead } = readEvents(TOPIC.account, batch);
    const addressed = events.map(({ data }) => ({ data: this.addressed(data) }));
    await this.take(addressed, (event, thresholds) => [
      ...accountNotices(event),
      ...movementNotices(event, thresholds),
    ]);
    return dead;
  }

  /** Addresses movements of the platform's budgets to the operator's organization. */
  private addressed(event: AccountEvent): AccountEvent {
    const { ALERTS_PLATFORM_ORG_ID: org_id } = this.config;
    const isPlatforms = event.org_id == null && event.type === 'budget.movement';
    return isPlatforms && org_id !== undefined ? { ...event, org_id } : event;
  }

  private async take<Data extends { org_id: string | null }>(
    events: readonly { data: Data }[],
    noticesOf: (data: Data, thresholds: ThresholdsOf) => Notice[],
  ): Promise<void> {
    const orgIds = events.flatMap(({ data }) => data.org_id ?? []);
    const made = await this.enqueue.run(orgIds, (thresholds) =>
      events.flatMap(({ data }) => noticesOf(data, thresholds)),
    );
    if (made > 0) this.dispatch.wake();
  }
}
