import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayNotEmpty,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  Length,
  Matches,
  Min,
  ValidateNested,
} from 'class-validator';
import { MODEL_TYPES, type DialectName, type ModelType, type PriceRecord } from '@gateway/contracts';

const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];
const DAY = /^\d{4}-\d{2}-\d{2}$/;
const SLUG = /^[a-z0-9][a-z0-9-]*$/;
const MODEL_ID = /^[a-z0-9-]+\/[a-z0-9][a-z0-9._-]*$/;

export class SeedBrand {
  @Matches(SLUG) slug!: string;
  @IsString() @Length(1, 100) name!: string;
}

export class SeedProvider {
  @Matches(SLUG) slug!: string;
  @IsString() @Length(1, 100) name!: string;
  @Matches(SLUG, { each: true }) dialects!: DialectName[];
  /** Address and variables: for the operator's documentation; the edge has its own. */
  @IsOptional() @IsString() base_url!: string | null;
  @IsObject() env!: Record<string, string | null>;
  @IsOptional() @IsString() logo!: string | null;
  @IsOptional() @IsString({ each: true }) regions?: string[];
  @IsOptional() @IsBoolean() zero_retention?: boolean;
  /** Page with that promise and the day of its reading: for people, as the source of a price is. */
  @IsOptional() @IsString() retention_source?: string;
  @IsOptional() @Matches(DAY) retention_source_date?: string;
}

export class SeedReasoning {
  @IsIn(['none', 'effort', 'adaptive', 'budget']) style!: 'none' | 'effort' | 'adaptive' | 'budget';
  @IsOptional() @IsIn(EFFORTS, { each: true }) efforts?: string[];
}

export class SeedRoute {
  @Matches(SLUG) provider!: string;
  @IsString() @Length(1, 200) upstream_model!: string;
  @Matches(SLUG) dialect!: DialectName;
  /** Absent = the model's. */
  @IsOptional() @IsInt() @Min(1) context_length?: number;
  @IsOptional() @IsInt() @Min(1) max_output_tokens?: number;
  /** Checked by the rules of libs/money. */
  @IsObject() price!: PriceRecord;
  @IsString() source!: string;
  @Matches(DAY) source_date!: string;
  @Matches(DAY) effective_date!: string;
  /** First day on which the provider does not serve it any more. */
  @IsOptional() @Matches(DAY) retires_at?: string;
  /** Source and date of the reading: for people, as the source of a price is. */
  @IsOptional() @IsString() retires_source?: string;
  @IsOptional() @Matches(DAY) retires_source_date?: string;
  /** Absent = the provider's, of both. */
  @IsOptional() @IsString({ each: true }) regions?: string[];
  @IsOptional() @IsBoolean() zero_retention?: boolean;
  /** Page that says so and the day of its reading: for people. */
  @IsOptional() @IsString() retention_source?: string;
  @IsOptional() @Matches(DAY) retention_source_date?: string;
}

export class SeedModel {
  @Matches(MODEL_ID) id!: string;
  @IsString() @Length(1, 200) name!: string;
  @Matches(SLUG) brand!: string;
  @IsIn(MODEL_TYPES) model_type!: ModelType;
  @IsInt() @Min(1) context_length!: number;
  @IsOptional() @IsInt() @Min(1) max_output_tokens?: number;
  @IsOptional() @IsBoolean() is_free?: boolean;
  @ArrayNotEmpty() @IsString({ each: true }) input_modalities!: string[];
  @ArrayNotEmpty() @IsString({ each: true }) output_modalities!: string[];
  /** Flags without their `supports_` prefix. */
  @IsArray() @IsString({ each: true }) supports!: string[];
  /** Flags that are true unless they stand here: system_prompt. */
  @IsOptional() @IsIn(['system_prompt'], { each: true }) lacks?: string[];
  @ValidateNested() @Type(() => SeedReasoning) reasoning!: SeedReasoning;
  @IsOptional() @IsBoolean() fixes_sampling?: boolean;
  @IsOptional() @Matches(DAY) released?: string;
  /** Ids of the models that it stands for: such a model has no routes of its own. Absent: one is made of the fields. */
  @IsOptional() @IsString() @Length(1, 1_000) description?: string;
  /** Ids of the models that it stands for: such a model has no routes of its own. */
  @IsOptional() @ArrayMaxSize(8) @Matches(MODEL_ID, { each: true }) composite_models?: string[];
  /** Id of the model that its maker names in its place, by the page that dates its retirement. */
  @IsOptional() @Matches(MODEL_ID) successor?: string;
  @ArrayMaxSize(64) @ValidateNested({ each: true }) @Type(() => SeedRoute) routes!: SeedRoute[];
}

/** All that an installation starts with. */
export interface Seed {
  brands: SeedBrand[];
  providers: SeedProvider[];
  models: SeedModel[];
  /** SHA-256 of it: another digest is another seed. */
  digest: string;
}
