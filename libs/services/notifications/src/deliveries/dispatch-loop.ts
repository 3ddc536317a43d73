import {
  Inject,
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import type { Clock } from '@gateway/contracts';
import { CLOCK, LOGGER, Metrics, repeat, type Repeated, type SeriesOf, type Tally } from '@gateway/platform';
import type { Logger } from 'pino';
import { ClaimsStore } from './claims.store.js';
import type { Claimed, Outcome } from './delivery.js';
import { OutcomesStore } from './outcomes.store.js';
import { SendMail } from './send-mail.js';
import { SendWebhook } from './send-webhook.js';

/** Retries that fall due, and what another process has enqueued. */
const POLL_MS = 1_000;
/** Attempts under way at once in one process. */
const CAPACITY = 50;

/** Claims what is due and sends it, as long as the process lives. */
@Injectable()
export class DispatchLoop implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private loop: Repeated | null = null;
  private readonly underWay = new Set<Promise<void>>();
  private readonly ended: SeriesOf<Tally>;

  constructor(
    private readonly claims: ClaimsStore,
    private readonly outcomes: OutcomesStore,
    private readonly webhook: SendWebhook,
    private readonly mail: SendMail,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
    metrics: Metrics,
  ) {
    this.ended = metrics.counter(
      'gateway_delivery_attempts_total',
      'Attempts to deliver an event to a channel, by how they ended.',
      ['channel_type', 'outcome'],
    );
    metrics.gauge('gateway_deliveries_sending', 'Attempts under way.', () => this.underWay.size);
  }

  onApplicationBootstrap(): void {
    this.loop = repeat(
      this.clock,
      POLL_MS,
      () => this.round(),
      (failure) => this.logger.warn({ err: failure }, 'deliveries could not be claimed'),
    );
  }

  /** Lets attempts under way end; what was not begun is due for the next process. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.loop?.stop();
    await Promise.all(this.underWay);
  }

  /** There is something to send. */
  wake(): void {
    this.loop?.wake();
  }

  /** Claims as much as the capacity allows, and begins to send it. */
  async round(): Promise<void> {
    const free = CAPACITY - this.underWay.size;
    if (free <= 0) return;
    const claimed = await this.claims.claim(free);
    for (const one of claimed) this.begin(one);
  }

  get isIdle(): boolean {
    return this.underWay.size === 0;
  }

  /** Waits until nothing is under way. */
  async settled(): Promise<void> {
    while (this.underWay.size > 0) await Promise.all(this.underWay);
  }

  private begin(claimed: Claimed): void {
    const work = this.attempt(claimed)
      // Its lease ends by itself, and it is sent again.
      .catch((failure: unknown) =>
        this.logger.error({ err: failure, delivery_id: claimed.id }, 'a delivery failed'),
      )
      .finally(() => {
        this.underWay.delete(work);
        this.wake();
      });
    this.underWay.add(work);
  }

  private async attempt(claimed: Claimed): Promise<void> {
    const sender = claimed.channelType === 'email' ? this.mail : this.webhook;
    const outcome: Outcome = await sender.send(claimed);
    await this.outcomes.end(claimed, outcome);
    this.ended(claimed.channelType, outcome.kind).inc();
  }
}
