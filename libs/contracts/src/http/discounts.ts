import { Transform } from 'class-transformer';
import { ArrayMaxSize, ArrayUnique, IsArray, IsOptional, IsString, Length, Matches } from 'class-validator';
import { MODEL_PATTERN } from './keys.js';

const LIST_MAX = 500;

/** PUT /v1/admin/discounts/{account}: replaces what was there; `pct` "0" ends it. */
export class DiscountBody {
  /** Number or decimal string, 0 to 100. */
  @Transform(({ value }: { value: unknown }) => (typeof value === 'number' ? String(value) : value))
  @IsString({ message: 'pct must be a number from 0 to 100, or such a decimal string' })
  @Matches(/^(100(\.0{1,12})?|\d{1,2}(\.\d{1,12})?)$/, {
    message: 'pct must be a number from 0 to 100 with at most 12 decimals, or such a decimal string',
  })
  pct!: string;
  /** Exact model ids or `<brand>/*`; absent or null = all. */
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(LIST_MAX)
  @ArrayUnique()
  @Matches(MODEL_PATTERN, { each: true, message: 'each value must be a model id or <brand>/*' })
  models?: string[] | null;
  /** Slugs of providers; absent or null = all. */
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(LIST_MAX)
  @ArrayUnique()
  @IsString({ each: true })
  @Length(1, 128, { each: true })
  providers?: string[] | null;
}

export interface DiscountRecord {
  account_id: string;
  org_id: string | null;
  pct: string;
  models: string[] | null;
  providers: string[] | null;
}
