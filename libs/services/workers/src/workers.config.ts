import { IsBoolean, IsInt, Max, Min } from 'class-validator';
import { IsAddress, OrFile, ToBoolean, ToNumber } from '@gateway/platform';

/** Settings of the workers service. */
export class WorkersConfig {
  /** postgresql://…; the tables live in the schema "workers" of this database. */
  @OrFile() @IsAddress('postgres', 'postgresql') WORKERS_DATABASE_URL!: string;
  @ToNumber() @IsInt() @Min(2) @Max(200) WORKERS_DATABASE_CONNECTIONS: number = 5;
  /** Time that work of a dead worker waits for another one, in milliseconds. */
  @ToNumber() @IsInt() @Min(300) @Max(600_000) WORKERS_LEASE_MS: number = 30_000;
  /** Lines of one batch that run at once. */
  @ToNumber() @IsInt() @Min(1) @Max(256) WORKERS_BATCH_LINES: number = 8;
  /** Gives batches to providers that run them themselves, at a better price and within a day; false runs every line here. */
  @ToBoolean() @IsBoolean() WORKERS_UPSTREAM_BATCHES: boolean = true;
  /** Applies missing migrations at start. In a fleet a job does it, and the service refuses an unknown schema. */
  @ToBoolean() @IsBoolean() WORKERS_MIGRATE_AT_START: boolean = false;
}
