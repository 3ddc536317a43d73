import { IsIn, IsObject, IsOptional, IsString, Length } from 'class-validator';
import { IsName } from './one-line.js';
import { CursorPageQuery } from './page.js';

/** Pages of the dashboard that keep views. */
const PAGES = ['/usage', '/requests'] as const;
type ViewPage = (typeof PAGES)[number];
const NAME_MAX = 60;

/** Query of GET /v1/orgs/{id}/views. */
export class ListViewsQuery extends CursorPageQuery {
  /** Views of this page only. */
  @IsOptional() @IsIn(PAGES) page?: ViewPage;
}

/** Body of POST /v1/orgs/{id}/views. */
export class CreateViewBody {
  /** Page of the dashboard: `/usage` or `/requests`. */
  @IsIn(PAGES) page!: ViewPage;
  /** Unique on a page of an organization. */
  @IsString() @Length(1, NAME_MAX) @IsName() name!: string;
  /** Parameters of the page's address: at most 30 texts, 4,000 characters together. */
  @IsObject() search!: Record<string, unknown>;
}

/** Body of PATCH /v1/orgs/{id}/views/{view_id}: what is absent stays as it is. */
export class UpdateViewBody {
  /** Unique on a page of an organization. */
  @IsOptional() @IsString() @Length(1, NAME_MAX) @IsName() name?: string;
  /** Parameters of the page's address, all of them. */
  @IsOptional() @IsObject() search?: Record<string, unknown>;
}

/** A name for what a page of the dashboard shows, for everybody in the organization. */
export interface ViewRecord {
  id: string;
  org_id: string;
  page: string;
  name: string;
  search: Record<string, string>;
  /** User id of who made it. */
  created_by: string;
  created_at: string;
  updated_at: string;
}
