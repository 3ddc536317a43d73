import { Transform, Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Length,
  Matches,
  Max,
  Min,
} from 'class-validator';
import type { ModelType } from '../catalogue/catalogue-snapshot.js';

export const MODEL_TYPES = [
  'text',
  'embedding',
  'image',
  'audio',
  'tts',
  'stt',
  'video',
] as const satisfies readonly ModelType[];

/** Reads `true` and `false` of a query. */
export const ToFlag = (): PropertyDecorator =>
  Transform(({ value }: { value: unknown }) => (value === 'true' ? true : value === 'false' ? false : value));

const DAY = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/;
const SLUG = /^[a-z0-9][a-z0-9-]{0,63}$/;
const WORD = /^[a-z0-9_]{1,64}$/;
const PAGE_MAX = 200;
const VALUES_MAX = 32;

/** A parameter that may stand once or several times. */
const AsList = (): PropertyDecorator =>
  Transform(({ value }: { value: unknown }) => (value === undefined ? value : [value].flat()));

/** Query of GET /openai/v1/models and /v1/public/models. */
export class ListModelsQuery {
  /** true: only free models; false: only paid ones; absent: all. */
  @IsOptional() @ToFlag() @IsBoolean() free?: boolean;

  /** true: only models that the caller can call; false: only the others; absent: all that the read has. */
  @IsOptional() @ToFlag() @IsBoolean() available?: boolean;

  /** Kind of the model. */
  @IsOptional() @IsIn(MODEL_TYPES) type?: ModelType;

  /** Slug of a provider that serves the model. */
  @IsOptional() @Matches(SLUG) provider?: string;
}

/** Query of GET /v1/models: pages as the SDKs of Anthropic ask for them. Everything where no limit is given. */
export class ListModelPageQuery extends ListModelsQuery {
  /** Largest number of models to return, 1 to 1,000. */
  @IsOptional() @Type(() => Number) @IsInt() @Min(1) @Max(1_000) limit?: number;

  /** Id of the model that the page follows. */
  @IsOptional() @Length(1, 256) after_id?: string;

  /** Id of the model that the page ends before. */
  @IsOptional() @Length(1, 256) before_id?: string;

  /** Anthropic's SDKs send it with every call below `beta`; it changes nothing. */
  @IsOptional() @IsIn(['true', 'false']) beta?: 'true' | 'false';
}

/** The part of a catalogue list to return. */
export class CataloguePageQuery {
  /** Largest number of rows to return, 1 to 200. */
  @IsOptional() @Type(() => Number) @IsInt() @Min(1) @Max(PAGE_MAX) limit: number = 50;
  /** Number of rows to skip. */
  @IsOptional() @Type(() => Number) @IsInt() @Min(0) @Max(1_000_000) offset: number = 0;
}

/** Query of the providers of a model. */
export class ModelProvidersQuery extends CataloguePageQuery {
  /** true: only providers where the caller can call the model; false: only the others; absent: all. */
  @IsOptional() @ToFlag() @IsBoolean() available?: boolean;
}

const MODEL_SORTS = ['price', 'name', '-name', 'context_length', '-context_length'] as const;

/** Query of GET /v1/models/search. Everything that is given has to hold. */
export class SearchModelsQuery extends ListModelsQuery {
  /** Words, each of which stands in the name, the id or the description. */
  @IsOptional() @Length(0, 200) q?: string;

  /** A flag without its `supports_`; may be repeated. */
  @IsOptional() @AsList() @ArrayMaxSize(VALUES_MAX) @Matches(WORD, { each: true }) capability?: string[];

  /** Slug of the brand. */
  @IsOptional() @Matches(SLUG) brand?: string;

  /** A modality that the model takes; may be repeated. */
  @IsOptional()
  @AsList()
  @ArrayMaxSize(VALUES_MAX)
  @Matches(WORD, { each: true })
  input_modality?: string[];

  /** A modality that the model answers in; may be repeated. */
  @IsOptional()
  @AsList()
  @ArrayMaxSize(VALUES_MAX)
  @Matches(WORD, { each: true })
  output_modality?: string[];

  /** Tokens of context that the model has at least. */
  @IsOptional() @Type(() => Number) @IsInt() @Min(0) @Max(1_000_000_000) min_context?: number;

  /** Day, YYYY-MM-DD: models whose last provider stops before it. */
  @IsOptional() @Matches(DAY) retires_before?: string;

  /**
   * `name` or `context_length`, with - before it for the other direction. `price` needs exactly one `output_modality` of text,
   * image and video. Without it the best match stands first.
   */
  @IsOptional() @IsIn(MODEL_SORTS) sort?: (typeof MODEL_SORTS)[number];

  /** Largest number of rows to return, 1 to 200. */
  @IsOptional() @Type(() => Number) @IsInt() @Min(1) @Max(PAGE_MAX) limit: number = 50;

  /** Number of rows to skip. */
  @IsOptional() @Type(() => Number) @IsInt() @Min(0) @Max(1_000_000) offset: number = 0;
}

const NAMES_MAX = 500;

/** Body of POST /internal/catalogue/unknown. */
export class CatalogueNamesBody {
  @IsArray()
  @ArrayMaxSize(NAMES_MAX)
  @IsString({ each: true })
  @Length(1, 224, { each: true })
  models!: string[];
  @IsArray()
  @ArrayMaxSize(NAMES_MAX)
  @IsString({ each: true })
  @Length(1, 224, { each: true })
  ids!: string[];
  @IsArray()
  @ArrayMaxSize(NAMES_MAX)
  @IsString({ each: true })
  @Length(1, 64, { each: true })
  providers!: string[];
  /** Organization whose aliases count. */
  @IsOptional() @IsString() @Length(1, 80) org_id?: string | null;
}
