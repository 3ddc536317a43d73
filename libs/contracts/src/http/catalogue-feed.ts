import { ArrayMaxSize, IsArray, IsBoolean, IsOptional, IsString, Length } from 'class-validator';
import { CataloguePageQuery } from './catalogue.js';

/** Body of POST /v1/admin/catalogue/sync. */
export class SyncCatalogueBody {
  /** True to return what would change without changing it. */
  @IsOptional() @IsBoolean() dry_run?: boolean;
  /** Takes the document though it drops many models, or empties or moves a price far. No other refusal is passed. */
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
