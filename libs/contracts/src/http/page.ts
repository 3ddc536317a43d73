import { Type } from 'class-transformer';
import { IsInt, IsOptional, IsString, Length, Matches, Max, Min } from 'class-validator';

/** Query of a management list. Extend it with the list's own filters. */
export class CursorPageQuery {
  /** Largest number of rows to return, 1 to 200. */
  @IsOptional() @Type(() => Number) @IsInt() @Min(1) @Max(200) limit: number = 50;
  /** Number of rows to skip; of no use beside `cursor`. */
  @IsOptional() @Type(() => Number) @IsInt() @Min(0) @Max(1_000_000) offset: number = 0;
  /** `next_cursor` of the page before: costs the same however far the page is. */
  @IsOptional() @IsString() @Length(1, 200) cursor?: string;
}

/** Refuses what is no order of a list: one of its fields, with - before it for the other direction. */
export function IsSort(fields: readonly string[]): PropertyDecorator {
  return Matches(new RegExp(`^-?(?:${fields.join('|')})$`), {
    message: `sort must be one of ${fields.join(', ')}, with - before it for the other direction`,
  });
}

/** Answer of a list that takes a cursor. */
export interface CursorPage<T> {
  data: T[];
  /** Rows that match, on all pages. */
  total: number;
  limit: number;
  offset: number;
  /** null on the last page, and in another order than the list's own: such pages are read by `offset`. */
  next_cursor: string | null;
}
