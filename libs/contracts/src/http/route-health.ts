import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsIn,
  IsInt,
  IsISO8601,
  IsObject,
  IsOptional,
  IsString,
  Length,
  Matches,
  Max,
  Min,
  ValidateNested,
} from 'class-validator';
import {
  BREAKER_STATES,
  FIGURE_CLASSES,
  UNSERVED_MAX,
  HEALTH_STATES,
  type BreakerState,
  type HealthState,
} from '../ports/route-health.js';

const REPORT_MAX = 500;
/** More than an edge tries between two reports; sums of a slot stay within four bytes. */
const COUNT_MAX = 1_000_000;

class RouteFiguresBody {
  @IsString() @Length(1, 64) provider!: string;
  @IsString() @Length(1, 224) model!: string;
  @IsInt() @Min(0) @Max(COUNT_MAX) tries!: number;
  @IsInt() @Min(0) @Max(COUNT_MAX) faults!: number;
  @IsArray()
  @ArrayMinSize(FIGURE_CLASSES)
  @ArrayMaxSize(FIGURE_CLASSES)
  @IsInt({ each: true })
  @Min(0, { each: true })
  @Max(COUNT_MAX, { each: true })
  latency!: number[];
  @IsArray()
  @ArrayMinSize(FIGURE_CLASSES)
  @ArrayMaxSize(FIGURE_CLASSES)
  @IsInt({ each: true })
  @Min(0, { each: true })
  @Max(COUNT_MAX, { each: true })
  speed!: number[];
}

/** Body of POST /internal/catalogue/health. */
export class RouteHealthBody {
  @IsArray()
  @ArrayMaxSize(REPORT_MAX)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => RouteFiguresBody)
  figures!: RouteFiguresBody[];
}

const CODE = /^[a-z0-9_]{1,64}$/;

class ProviderErrorBody {
  @Matches(CODE) code!: string;
  @IsOptional() @Matches(CODE) provider_code!: string | null;
  @IsOptional() @IsInt() @Min(100) @Max(999) http_status!: number | null;
  @Length(20, 30) @IsISO8601({ strict: true }) at!: string;
}

class ProviderStateBody {
  @IsString() @Length(1, 64) provider!: string;
  @IsIn(BREAKER_STATES) breaker!: BreakerState;
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => ProviderErrorBody)
  last_error!: ProviderErrorBody | null;
  /** Edges of an older release say nothing of it. */
  @IsOptional() @IsIn(HEALTH_STATES) health: HealthState | null = null;
}

/** A process, of its own choice. */
const EDGE = /^[\w-]{1,64}$/;

/** Body of POST /internal/catalogue/credentials. */
export class PlatformCredentialsBody {
  @Matches(EDGE) edge!: string;
  /** Slugs of the providers for which the edge has a credential; null when it stops. */
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(REPORT_MAX * 4)
  @ArrayUnique()
  @IsString({ each: true })
  @Length(1, 64, { each: true })
  providers!: string[] | null;
  /** Routes of these providers that no credential serves, `<model> <provider> <upstream model>`. */
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(UNSERVED_MAX)
  @ArrayUnique()
  @IsString({ each: true })
  @Length(5, 500, { each: true })
  unserved?: string[];
}

/** Body of POST /internal/catalogue/provider-states. */
export class ProviderStatesBody {
  @Matches(EDGE) edge!: string;
  @IsArray()
  @ArrayMaxSize(REPORT_MAX)
  @ArrayUnique((one: ProviderStateBody | null) => one?.provider)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => ProviderStateBody)
  states!: ProviderStateBody[];
}
