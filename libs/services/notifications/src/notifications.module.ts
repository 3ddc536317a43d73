import {
  Inject,
  Injectable,
  Module,
  type DynamicModule,
  type OnModuleInit,
  type Provider,
} from '@nestjs/common';
import type { Clock, Random } from '@gateway/contracts';
import { databaseProvider } from '@gateway/database';
import { outboxRelay } from '@gateway/event-log';
import { CLOCK, LOGGER, RANDOM } from '@gateway/platform';
import { dnsResolver, GuardedHttp } from '@gateway/upstream';
import type { Logger } from 'pino';
import { AlertsController } from './alerts.controller.js';
import { ClosedChannels } from './background/closed-channels.js';
import { Housekeeping } from './background/housekeeping.js';
import { ChannelsService } from './channels/channels.service.js';
import { ResultsStore } from './channels/results.store.js';
import { Destinations } from './channels/destinations.js';
import { ConfirmationsController } from './confirmations.controller.js';
import { ConfirmationsService } from './confirmations/confirmations.service.js';
import { ClaimsStore } from './deliveries/claims.store.js';
import { DeliveriesController } from './deliveries/deliveries.controller.js';
import { DeliveriesService } from './deliveries/deliveries.service.js';
import { DeliveryLogStore } from './deliveries/delivery-log.store.js';
import { DispatchLoop } from './deliveries/dispatch-loop.js';
import { OutcomesStore } from './deliveries/outcomes.store.js';
import { SendMail } from './deliveries/send-mail.js';
import { SendWebhook } from './deliveries/send-webhook.js';
import { Enqueue } from './events/enqueue.js';
import { EventsConsumer } from './events.consumer.js';
import { NotificationsConfig } from './notifications.config.js';
import { PoliciesService } from './policies/policies.service.js';
import { AlertChanges } from './postgres/alert-changes.js';
import { NotificationsDatabase, SCHEMA, SCHEMA_DIR } from './postgres/notifications-database.js';
import { adoptKeks } from './secrets/adopt-keks.js';
import { loadKeks, type Keks } from './secrets/key-encryption.js';
import { KEKS, SigningSecrets } from './secrets/signing-secrets.js';

const STATEMENT_TIMEOUT_MS = 10_000;

/** Refuses to start with a key that is not this database's, and says what is open to the inside. */
@Injectable()
class StartChecks implements OnModuleInit {
  constructor(
    private readonly database: NotificationsDatabase,
    private readonly config: NotificationsConfig,
    @Inject(KEKS) private readonly keks: Keks,
    @Inject(RANDOM) private readonly random: Random,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  async onModuleInit(): Promise<void> {
    await adoptKeks(this.database.prisma, this.keks, this.random);
    const destinations = this.config.ALERTS_ALLOW_PRIVATE;
    if (destinations.length > 0)
      this.logger.warn(
        { destinations: destinations.join(', ') },
        'webhooks may reach these private destinations (ALERTS_ALLOW_PRIVATE)',
      );
  }
}

/** Channels, policies, events and their deliveries. Needs the global PlatformModule and a global Mailer and Directory. */
@Module({})
export class NotificationsModule {
  static with(config: Readonly<NotificationsConfig>): DynamicModule {
    return {
      module: NotificationsModule,
      controllers: [AlertsController, ConfirmationsController, DeliveriesController, EventsConsumer],
      providers: [...ports(config), ...parts],
    };
  }
}

const parts: Provider[] = [
  StartChecks,
  Enqueue,
  AlertChanges,
  SigningSecrets,
  Destinations,
  ConfirmationsService,
  ChannelsService,
  ResultsStore,
  PoliciesService,
  ClaimsStore,
  OutcomesStore,
  SendMail,
  SendWebhook,
  DispatchLoop,
  DeliveryLogStore,
  DeliveriesService,
  outboxRelay(NotificationsDatabase, 'notifications'),
  ClosedChannels,
  Housekeeping,
];

function ports(config: Readonly<NotificationsConfig>): Provider[] {
  return [
    { provide: NotificationsConfig, useValue: config },
    {
      provide: KEKS,
      inject: [RANDOM],
      useFactory: (random: Random) => loadKeks(config, random),
    },
    databaseProvider(
      NotificationsDatabase,
      { schemaDir: SCHEMA_DIR, schema: SCHEMA, migrates: config.NOTIFICATIONS_MIGRATE_AT_START },
      {
        url: config.NOTIFICATIONS_DATABASE_URL,
        maxConnections: config.NOTIFICATIONS_DATABASE_CONNECTIONS,
        statementTimeoutMs: STATEMENT_TIMEOUT_MS,
      },
    ),
    {
      provide: GuardedHttp,
      inject: [CLOCK],
      useFactory: (clock: Clock) =>
        new GuardedHttp({
          clock,
          allowPrivate: config.ALERTS_ALLOW_PRIVATE,
          ports: config.ALERTS_PORTS.map(Number),
          resolve: dnsResolver(config.ALERTS_DNS_SERVERS),
        }),
    },
  ];
}
