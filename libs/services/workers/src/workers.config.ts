import { IsInt, Matches, Max, Min } from 'class-validator';
import { ToNumber } from '@gateway/platform';

/** Settings of the workers service. */
export class WorkersConfig {
  /** Name of the consumer groups; another one begins at the oldest record. */
  @Matches(/^[\w.-]{1,100}$/) WORKERS_GROUP: string = 'workers';
  /** Most records of one batch. */
  @ToNumber() @IsInt() @Min(1) @Max(10_000) WORKERS_MAX_BATCH: number = 500;
}
