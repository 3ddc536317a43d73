import { IsBoolean, IsInt, Matches, Max, Min } from 'class-validator';
import { OrFile, ToBoolean, ToNumber } from '@gateway/platform';

/** Settings of the workers service. */
export class WorkersConfig {
  /** postgresql://…; the tables live in the schema "workers" of this database. */
  @OrFile() @Matches(/^postgres(?:ql)?:\/\//) WORKERS_DATABASE_URL!: string;
  @ToNumber() @IsInt() @Min(2) @Max(200) WORKERS_DATABASE_CONNECTIONS: number = 5;
  /** Applies missing migrations at start. In a fleet a job does it, and the service refuses an unknown schema. */
  @ToBoolean() @IsBoolean() WORKERS_MIGRATE_AT_START: boolean = false;
}
