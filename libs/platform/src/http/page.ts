import { IsInt, IsOptional, Max, Min } from 'class-validator';
import { Type } from 'class-transformer';

const PAGE_LIMIT_DEFAULT = 50;
const PAGE_LIMIT_MAX = 200;

/** Query of a management list. Extend it with the list's own filters. */
export class PageQuery {
  /** Largest number of rows to return, 1 to 200. */
  @IsOptional()
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(PAGE_LIMIT_MAX)
  limit: number = PAGE_LIMIT_DEFAULT;

  /** Number of rows to skip. */
  @IsOptional()
  @Type(() => Number)
  @IsInt()
  @Min(0)
  @Max(1_000_000)
  offset: number = 0;
}

/** Answer of a management list (management-api). */
export interface Page<T> {
  data: T[];
  /** Rows that match, on all pages. */
  total: number;
  limit: number;
  offset: number;
}

export function pageOf<T>(data: T[], total: number, { limit, offset }: PageQuery): Page<T> {
  return { data, total, limit, offset };
}
