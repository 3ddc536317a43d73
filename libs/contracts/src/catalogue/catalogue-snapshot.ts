import type { AliasTarget } from './alias-book.js';
import type { PriceRecord } from './price-record.js';

export type ModelType = 'text' | 'embedding' | 'image' | 'audio' | 'tts' | 'stt' | 'video';

/** Wire format that an upstream speaks on a route: the name of a dialect's folder, for example `chat`. */
export type DialectName = string;

/** Record of a model as the catalogue endpoints answer it. Flags not listed here are spelled out in `supports_*`. */
export interface ModelRecord {
  id: string;
  name: string;
  /** A sentence that describes the model. */
  description?: string;
  brand: string;
  model_type: ModelType;
  context_length: number;
  max_output_tokens: number | null;
  is_free: boolean;
  input_modalities: string[];
  output_modalities: string[];
  /** A name for several models: /v1/chat/compare asks each of them. */
  is_composite: boolean;
  composite_models: string[];
  /** True for a name of an organization or of the platform; absent for models. */
  is_alias?: true;
  /** Models that the alias stands for and that the caller may use; absent for models. */
  resolves_to?: AliasTarget[];
  /** Day from which no provider serves it any more, YYYY-MM-DD; null or absent where none is known. */
  retires_at?: string | null;
  /** Id of the model that its maker names in its place; null or absent where none is known. */
  successor?: string | null;
  pricing: PriceRecord;
  /** Every `supports_*` flag of the spec, present on every record. */
  [supports: `supports_${string}`]: boolean;
}

/** The form in which a model takes a request for reasoning. */
export interface ReasoningStyle {
  style: 'none' | 'effort' | 'adaptive' | 'budget';
  efforts?: string[];
}

/** One provider serving one model at one price, in one dialect. */
export interface Route {
  /** Slug of the provider, for example "openai". */
  provider: string;
  /** Catalogue id of the model. */
  model: string;
  /** The provider's own name of the model. */
  upstreamModel: string;
  dialect: DialectName;
  contextLength: number;
  maxOutputTokens: number | null;
  price: PriceRecord;
  /** Regions in which the provider computes; absent where they are not known. */
  regions?: readonly string[];
  /** The provider keeps nothing of a request; absent where it is not known. */
  zeroRetention?: boolean;
  /** Milliseconds since the epoch from which the provider does not serve it any more; absent where none is known. */
  retiresAtMs?: number;
}

export interface CatalogueModel {
  record: ModelRecord;
  reasoning: ReasoningStyle;
  /** The model refuses sampling parameters: they are left out and reported as ignored. */
  fixesSampling: boolean;
  /** Day of publication, YYYY-MM-DD; null or absent where it is not known. */
  released?: string | null;
  routes: Route[];
}

interface CatalogueName {
  slug: string;
  name: string;
}

/** All enabled models with their routes and prices. Immutable; a change makes a new one with a new id. */
export interface CatalogueSnapshot {
  /** `snap_…`; named by every usage record that was priced from it. */
  id: string;
  created_at: string;
  models: CatalogueModel[];
  providers: CatalogueName[];
  /** Organizations that trained the models; absent in snapshots of earlier releases. */
  brands?: CatalogueName[];
}
