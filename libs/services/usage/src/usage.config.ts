import { IsBoolean, IsInt, Matches, Max, Min } from 'class-validator';
import { OrFile, ToBoolean, ToNumber } from '@gateway/platform';

/** Settings of the usage service. */
export class UsageConfig {
  /** postgresql://…; the tables live in the schema "usage" of this database. */
  @OrFile() @Matches(/^postgres(?:ql)?:\/\//) USAGE_DATABASE_URL!: string;
  @ToNumber() @IsInt() @Min(3) @Max(200) USAGE_DATABASE_CONNECTIONS: number = 10;
  /** Applies missing migrations at start. In a fleet a job does it, and the service refuses an unknown schema. */
  @ToBoolean() @IsBoolean() USAGE_MIGRATE_AT_START: boolean = false;
}
