import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  Length,
  Matches,
  Max,
  Min,
  ValidateNested,
} from 'class-validator';
import type { DialectName, ModelRecord, ModelType } from '../catalogue/catalogue-snapshot.js';
import type { PriceRecord } from '../catalogue/price-record.js';
import { CataloguePageQuery, MODEL_TYPES, ToFlag } from './catalogue.js';

const DAY = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/;
const SLUG = /^[a-z0-9][a-z0-9-]{0,63}$/;
const MODEL_ID = /^[a-z0-9][a-z0-9-]{0,63}\/[a-z0-9][a-z0-9._-]{0,159}$/;
const WORD = /^[a-z0-9_]{1,64}$/;
const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];
const TOKENS_MAX = 1_000_000_000;

/** The form in which a model takes a request for reasoning. */
export class ReasoningBody {
  @IsIn(['none', 'effort', 'adaptive', 'budget']) style!: 'none' | 'effort' | 'adaptive' | 'budget';
  @IsOptional() @IsArray() @IsIn(EFFORTS, { each: true }) efforts?: string[];
}

/** Members of a route that say the same in a whole model and in a change of one. */
class RouteFactsBody {
  /** Page that the price is taken from; absent: an administrator. */
  @IsOptional() @IsString() @Length(1, 500) source?: string;
  @IsOptional() @Matches(DAY) source_date?: string;
  /** Absent: today. */
  @IsOptional() @Matches(DAY) effective_date?: string;
  /** Regions in which it computes. Absent: what the layers below say, else the provider's. */
  @IsOptional()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(64)
  @Matches(SLUG, { each: true })
  regions?: string[];
  /** True if neither prompts nor answers are kept. Absent: what the layers below say, else the provider's promise. */
  @IsOptional() @IsBoolean() zero_retention?: boolean;
}

/** One provider that serves a model, at its price. */
export class ModelRouteBody extends RouteFactsBody {
  @Matches(SLUG) provider!: string;
  /** The provider's own name of the model. */
  @IsString() @Length(1, 200) upstream_model!: string;
  @Matches(SLUG) dialect!: DialectName;
  /** Absent: the model's. */
  @IsOptional() @IsInt() @Min(1) @Max(TOKENS_MAX) context_length?: number;
  @IsOptional() @IsInt() @Min(1) @Max(TOKENS_MAX) max_output_tokens?: number;
  /** Fields of the record's `pricing`; what is absent is not billed apart. */
  @IsObject() price!: PriceRecord;
  /** First day on which the provider does not serve it any more. */
  @IsOptional() @Matches(DAY) retires_at?: string;
}

/** Body of PUT /v1/admin/models/{id}: the whole model; what is absent has its default. */
export class PutModelBody {
  @IsString() @Length(1, 200) name!: string;
  @IsIn(MODEL_TYPES) model_type!: ModelType;
  @IsInt() @Min(1) @Max(TOKENS_MAX) context_length!: number;
  @IsOptional() @IsInt() @Min(1) @Max(TOKENS_MAX) max_output_tokens?: number;
  @IsArray() @ArrayMinSize(1) @ArrayMaxSize(8) @Matches(WORD, { each: true }) input_modalities!: string[];
  @IsArray() @ArrayMinSize(1) @ArrayMaxSize(8) @Matches(WORD, { each: true }) output_modalities!: string[];
  /** Flags of the record without their `supports_`. */
  @IsArray() @ArrayMaxSize(64) @Matches(WORD, { each: true }) supports!: string[];
  /** Flags that are true unless they stand here: `system_prompt`. */
  @IsOptional() @IsArray() @IsIn(['system_prompt'], { each: true }) lacks?: string[];
  @IsOptional() @IsObject() @ValidateNested() @Type(() => ReasoningBody) reasoning?: ReasoningBody;
  @IsOptional() @IsBoolean() fixes_sampling?: boolean;
  @IsOptional() @Matches(DAY) released?: string;
  @IsOptional() @IsString() @Length(1, 1_000) description?: string;
  /** Ids of the models that it stands for; such a model has no routes. */
  @IsOptional() @IsArray() @ArrayMaxSize(8) @Matches(MODEL_ID, { each: true }) composite_models?: string[];
  /** Id of the model that its maker names in its place. */
  @IsOptional() @Matches(MODEL_ID) successor?: string;
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(64)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => ModelRouteBody)
  routes?: ModelRouteBody[];
}

/** The fields of one route that change. A route that is new needs `dialect` and `price`. */
export class PatchRouteBody extends RouteFactsBody {
  @Matches(SLUG) provider!: string;
  /** The provider's own name of the model. */
  @IsString() @Length(1, 200) upstream_model!: string;
  @IsOptional() @Matches(SLUG) dialect?: DialectName;
  /** null: the model's. */
  @IsOptional() @IsInt() @Min(1) @Max(TOKENS_MAX) context_length?: number | null;
  @IsOptional() @IsInt() @Min(1) @Max(TOKENS_MAX) max_output_tokens?: number | null;
  /** The whole price with its windows: it is one field. */
  @IsOptional() @IsObject() price?: PriceRecord;
  /** First day on which the provider does not serve it any more; null: none is known. */
  @IsOptional() @Matches(DAY) retires_at?: string | null;
}

/** Body of PATCH /v1/admin/models/{id}: the fields that change. What is absent stays, and follows the layers below. */
export class PatchModelBody {
  @IsOptional() @IsString() @Length(1, 200) name?: string;
  @IsOptional() @IsIn(MODEL_TYPES) model_type?: ModelType;
  @IsOptional() @IsInt() @Min(1) @Max(TOKENS_MAX) context_length?: number;
  /** null: no limit is known. */
  @IsOptional() @IsInt() @Min(1) @Max(TOKENS_MAX) max_output_tokens?: number | null;
  @IsOptional()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(8)
  @Matches(WORD, { each: true })
  input_modalities?: string[];
  @IsOptional()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(8)
  @Matches(WORD, { each: true })
  output_modalities?: string[];
  /** Flags of the record without their `supports_`. */
  @IsOptional() @IsArray() @ArrayMaxSize(64) @Matches(WORD, { each: true }) supports?: string[];
  /** Flags that are true unless they stand here: `system_prompt`. */
  @IsOptional() @IsArray() @IsIn(['system_prompt'], { each: true }) lacks?: string[];
  @IsOptional() @IsObject() @ValidateNested() @Type(() => ReasoningBody) reasoning?: ReasoningBody;
  @IsOptional() @IsBoolean() fixes_sampling?: boolean;
  @IsOptional() @Matches(DAY) released?: string | null;
  /** null: a sentence is made of the fields. */
  @IsOptional() @IsString() @Length(1, 1_000) description?: string | null;
  @IsOptional() @IsArray() @ArrayMaxSize(8) @Matches(MODEL_ID, { each: true }) composite_models?: string[];
  /** Id of the model that its maker names in its place; null: none is known. */
  @IsOptional() @Matches(MODEL_ID) successor?: string | null;
  /** Routes that change; others stay. */
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(64)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => PatchRouteBody)
  routes?: PatchRouteBody[];
}

/** Query of DELETE /v1/admin/models/{id}/edits: edits that have all of these. Without any: every edit of the model. */
export class FollowQuery {
  @IsOptional() @Matches(WORD) field?: string;
  /** Slug of the provider of a route; absent with `field`: the field of the model itself too. */
  @IsOptional() @Matches(SLUG) provider?: string;
  @IsOptional() @IsString() @Length(1, 200) upstream_model?: string;
}

/** A model of a load. */
export class ImportedModelBody extends PutModelBody {
  @Matches(MODEL_ID) id!: string;
}

/** Body of PUT /v1/admin/providers/{slug}: the whole provider. */
export class PutProviderBody {
  @IsString() @Length(1, 100) name!: string;
  /** Wire formats that it speaks, for people; what is called is up to its adapter. */
  @IsOptional() @IsArray() @ArrayMaxSize(32) @Matches(SLUG, { each: true }) dialects?: DialectName[];
  @IsOptional() @IsArray() @ArrayMaxSize(64) @Matches(SLUG, { each: true }) regions?: string[];
  @IsOptional() @IsBoolean() zero_retention?: boolean;
  /** false: its routes leave the catalogue. */
  @IsOptional() @IsBoolean() is_enabled?: boolean;
}

export class ImportedProviderBody extends PutProviderBody {
  @Matches(SLUG) slug!: string;
}

/** Body of POST /v1/admin/catalogue/import: models that are set, each whole. Others stay. */
export class ImportCatalogueBody {
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(10_000)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => ImportedModelBody)
  models!: ImportedModelBody[];

  /** Added or replaced; others stay. */
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(1_000)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => ImportedProviderBody)
  providers?: ImportedProviderBody[];

  /** True where these are all models that there shall be: others leave the catalogue. */
  @IsOptional() @IsBoolean() replace?: boolean;

  /** True to return what would change without changing it. */
  @IsOptional() @IsBoolean() dry_run?: boolean;
  /** Loads it though it drops many models, empties a price or has faulty models, which are not served then. */
  @IsOptional() @IsBoolean() force?: boolean;
}

const STATUSES = ['ready', 'needs_credential', 'retired', 'disabled'] as const;

const LAYERS = ['release', 'feed', 'discovered', 'file', 'operator'] as const;

/** Origin of a field: the data of the release or of the feed, a server that was asked, gateway.yaml, an operator. */
export type CatalogueLayer = (typeof LAYERS)[number];

/** Query of GET /v1/admin/models. Everything that is given has to hold. */
export class AdminModelsQuery extends CataloguePageQuery {
  /** Words, each of which stands in the name or the id. */
  @IsOptional() @Length(0, 200) q?: string;
  @IsOptional() @IsIn(STATUSES) availability?: (typeof STATUSES)[number];
  /** Slug of a provider that has a route of the model. */
  @IsOptional() @Matches(SLUG) provider?: string;
  /** Layer that the model, one of its fields or one of its prices comes from. */
  @IsOptional() @IsIn(LAYERS) layer?: CatalogueLayer;
  /** true: models where the data has moved under an edit. */
  @IsOptional() @ToFlag() @IsBoolean() is_drifted?: boolean;
}

/** Says if a model can be called with the platform's credentials, and what is missing where it cannot. */
export interface ModelAvailability {
  status: (typeof STATUSES)[number];
  /** Slugs of the providers of its living routes for which the platform has no credential. */
  providers: string[];
}

interface AdminRoute {
  provider: string;
  upstream_model: string;
  dialect: DialectName;
  context_length: number;
  max_output_tokens: number | null;
  /** First day on which the provider does not serve it, YYYY-MM-DD; null where none is known. */
  retires_at: string | null;
  regions: string[];
  zero_retention: boolean | null;
  /** The whole price, with its windows. */
  price: PriceRecord;
  /** Layer that the price comes from. */
  price_layer: CatalogueLayer;
  /** Page that the price is taken from. */
  source: string;
  /** Day of the reading, YYYY-MM-DD. */
  source_date: string;
  /** The platform has a credential for the provider. */
  has_credential: boolean;
}

/** A field that gateway.yaml or an operator has set instead of what lies below. */
export interface AdminEdit {
  /** `is_enabled` false takes the model or the route away. */
  field: string;
  /** null for a field of the model itself. */
  provider: string | null;
  upstream_model: string | null;
  layer: CatalogueLayer;
  value: unknown;
  /** Content that would hold without the edit; null where no layer below has the model or the route. */
  below: { layer: CatalogueLayer; value: unknown } | null;
  /** True if the content below has moved since the edit was made. */
  is_drifted: boolean;
  /** null for gateway.yaml, and for edits that an earlier release made. */
  edited_at: string | null;
  edited_by: string | null;
}

/** A model of the catalogue as a super admin sees it, disabled and retired ones too. */
export interface AdminModelRecord extends ModelRecord {
  availability: ModelAvailability;
  /** The data below an operator's edit has moved since the edit was made. */
  is_drifted: boolean;
  routes: AdminRoute[];
  edits: AdminEdit[];
}

/** Body of POST /v1/admin/catalogue/sync. */
export class SyncCatalogueBody {
  /** True to return what would change without changing it. */
  @IsOptional() @IsBoolean() dry_run?: boolean;
  /** Takes the document though it drops many models, or empties or moves a price far. No other rejection is passed. */
  @IsOptional() @IsBoolean() force?: boolean;
}

/** Query of GET /v1/admin/catalogue/pending. */
export class PendingChangesQuery extends CataloguePageQuery {
  /** Id of a model. */
  @IsOptional() @IsString() @Length(1, 300) model?: string;
}

/** Body of POST /v1/admin/catalogue/pending/apply and …/dismiss. */
export class PendingChangesBody {
  /** Id of the change that was read: another document replaces it. */
  @IsString() @Length(1, 100) change_id!: string;
  /** Ids of models; absent: all that are pending. */
  @IsOptional() @IsArray() @ArrayMaxSize(10_000) @IsString({ each: true }) models?: string[];
}

/** State of the feed, as GET /v1/admin/catalogue/feed returns it. */
export interface CatalogueFeedState {
  /** null without a feed. */
  url: string | null;
  policy: 'apply' | 'ask' | 'apply_below';
  apply_below_pct: number;
  /** 0 = read by hand alone. */
  every_seconds: number;
  /** Version of the newest document, of the data of the release without one. */
  version: number;
  keyid: string | null;
  created_at: string | null;
  /** Time of the last reading of a document that could be taken. */
  read_at: string | null;
  applied_at: string | null;
  next_read_at: string | null;
  last_error: { code: string; message: string; at: string } | null;
  /** Number of models with changes that wait for a super admin. */
  pending: number;
}

/** Answer to a sync, and to a write of pending changes. */
export interface CatalogueSync {
  status: 'applied' | 'pending' | 'unchanged';
  dry_run: boolean;
  version: number;
  keyid: string;
  /** Ids of models that were changed. */
  applied: string[];
  /** Ids of models whose change waits for a super admin. */
  pending: string[];
  added: string[];
  removed: string[];
  changed: { id: string; fields: string[] }[];
  unchanged: number;
  emptied_prices: { model: string; provider: string; upstream_model: string; field: string }[];
}

/** A change of a model that waits for a super admin. */
export interface PendingChange {
  model: string;
  kind: 'added' | 'changed' | 'removed';
  fields: string[];
  prices: {
    provider: string;
    upstream_model: string;
    /** null = the base. */
    window: string | null;
    field: string;
    from: string | null;
    to: string | null;
    /** null from 0, from nothing or to nothing. */
    change_pct: number | null;
  }[];
}
