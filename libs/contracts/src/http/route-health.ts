import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsInt,
  IsObject,
  IsString,
  Length,
  Max,
  Min,
  ValidateNested,
} from 'class-validator';
import { FIGURE_CLASSES } from '../ports/route-health.js';

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
