import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  ArrayNotEmpty,
  IsArray,
  IsBoolean,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  Length,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateIf,
  ValidateNested,
} from 'class-validator';
import type { PromptContent } from '../ports/stored-content.js';

const NAME_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const NAME_SAYS = { message: 'name must be letters, digits, dots, - and _' };
const ID_PATTERN = /^[a-z]{2,8}_[0-9A-Za-z-]{1,64}$/;

/** Body of POST /v1/templates. */
export class CreateTemplateBody {
  /** Unique in the organization; requests name it. */
  @Matches(NAME_PATTERN, NAME_SAYS) name!: string;
  @IsOptional() @IsString() @MaxLength(2_000) description?: string | null;
  /** The organization that the template is of; absent = the caller's own account. */
  @IsOptional() @Matches(ID_PATTERN) org_id?: string | null;
}

/** Body of PATCH /v1/templates/{id}: what is absent stays as it is. */
export class UpdateTemplateBody {
  @ValidateIf((body: UpdateTemplateBody) => body.name !== undefined)
  @Matches(NAME_PATTERN, NAME_SAYS)
  name?: string;
  @IsOptional() @IsString() @MaxLength(2_000) description?: string | null;
  /** An archived template is not found by requests. */
  @ValidateIf((body: UpdateTemplateBody) => body.archived !== undefined) @IsBoolean() archived?: boolean;
}

/** Body of POST /v1/templates/{id}/versions. */
export class CreateTemplateVersionBody {
  /** [{role, content}]; `{{name}}` in a text is replaced by the variable. */
  @IsArray() @ArrayNotEmpty() @ArrayMaxSize(200) messages!: unknown[];
  /** [{name, type: string | number | boolean | json, required, default?, description?}]. */
  @IsOptional() @IsArray() variables?: unknown[] | null;
  /** Parameters of the request, which overrides them. */
  @IsOptional() @IsObject() defaults?: Record<string, unknown> | null;
  @IsOptional() @IsArray() @ArrayMaxSize(128) tools?: unknown[] | null;
  @IsOptional() @IsObject() response_format?: Record<string, unknown> | null;
  @IsOptional() @IsString() @MaxLength(4_000) notes?: string | null;
}

/** Body of POST /v1/templates/{id}/publish. */
export class PublishTemplateBody {
  @IsString() @Length(1, 80) version_id!: string;
}

/** Query of GET /v1/templates. */
export class ListTemplatesQuery {
  /** Largest number of rows to return, 1 to 200. */
  @IsOptional() @Type(() => Number) @IsInt() @Min(1) @Max(200) limit: number = 50;
  /** Number of rows to skip. */
  @IsOptional() @Type(() => Number) @IsInt() @Min(0) @Max(1_000_000) offset: number = 0;
  /** Templates of one organization only. */
  @IsOptional() @IsString() @Length(1, 80) org_id?: string;
  /** The exact name. */
  @IsOptional() @IsString() @Length(1, 128) name?: string;
}

/** Query of GET /v1/templates/{id}/versions. */
export class ListTemplateVersionsQuery {
  /** Largest number of rows to return, 1 to 200. */
  @IsOptional() @Type(() => Number) @IsInt() @Min(1) @Max(200) limit: number = 50;
  /** Number of rows to skip. */
  @IsOptional() @Type(() => Number) @IsInt() @Min(0) @Max(1_000_000) offset: number = 0;
}

export interface TemplateRecord {
  id: string;
  object: 'template';
  org_id: string | null;
  name: string;
  description: string | null;
  /** null = nothing is published yet. */
  published_version_id: string | null;
  /** Number of the newest version; 0 = none yet. */
  latest_version: number;
  created_at: string;
  updated_at: string;
  created_by: string;
  archived: boolean;
}

export interface TemplateVersionRecord extends PromptContent {
  id: string;
  object: 'template.version';
  template_id: string;
  /** Number of the version, from 1. */
  version: number;
  status: 'draft' | 'published' | 'superseded';
  notes: string | null;
  created_at: string;
  created_by: string;
  /** SHA-256 over the content, hex. */
  checksum: string;
}

class MemoryItemBody {
  @IsString() @Length(1, 8_000) text!: string;
}

/** Body of PUT /v1/memories/{end_user_id}. */
export class PutMemoriesBody {
  /** Replaces what was there; oldest first. */
  @IsArray()
  @ArrayMinSize(0)
  @ArrayMaxSize(64)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => MemoryItemBody)
  items!: MemoryItemBody[];
}

/** Query of the memory endpoints. */
export class MemoriesQuery {
  /** Organization whose memories are meant, with a session; absent = the caller's own account. */
  @IsOptional() @IsString() @Length(1, 80) org_id?: string;
}

export interface MemoriesRecord {
  end_user_id: string;
  items: { id: string; text: string; created_at: string }[];
}

/** Body of POST /internal/content/template. */
export class FindTemplateBody {
  @IsString() @Length(1, 80) account_id!: string;
  @IsString() @Length(1, 200) name!: string;
  /** Number or id of the version; null = the published one. */
  @IsOptional() version!: string | number | null;
}

/** Body of POST /internal/content/memories. */
export class FindMemoriesBody {
  @IsString() @Length(1, 80) account_id!: string;
  @IsString() @Length(1, 100) end_user_hash!: string;
  @IsInt() @Min(1) @Max(64) max!: number;
}
