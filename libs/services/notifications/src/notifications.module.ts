import { Module } from '@nestjs/common';
import { NotificationsConsumer } from './notifications.consumer.js';

/** Needs the global PlatformModule. Has no endpoints and no tables yet. */
@Module({ controllers: [NotificationsConsumer] })
export class NotificationsModule {}
