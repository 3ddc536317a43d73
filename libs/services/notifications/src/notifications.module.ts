import { Module, type DynamicModule } from '@nestjs/common';
import { NotificationsConfig } from './notifications.config.js';
import { NotificationsConsumer } from './notifications.consumer.js';

/** Needs the global PlatformModule. Has no endpoints and no tables yet. */
@Module({})
export class NotificationsModule {
  static with(config: Readonly<NotificationsConfig>): DynamicModule {
    return {
      module: NotificationsModule,
      providers: [{ provide: NotificationsConfig, useValue: config }, NotificationsConsumer],
    };
  }
}
