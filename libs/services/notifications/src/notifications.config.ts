import { IsInt, Matches, Max, Min } from 'class-validator';
import { ToNumber } from '@gateway/platform';

/** Settings of the notifications service. */
export class NotificationsConfig {
  /** Name of the consumer groups; another one begins at the oldest record. */
  @Matches(/^[\w.-]{1,100}$/) NOTIFICATIONS_GROUP: string = 'notifications';
  /** Most records of one batch. */
  @ToNumber() @IsInt() @Min(1) @Max(10_000) NOTIFICATIONS_MAX_BATCH: number = 500;
}
