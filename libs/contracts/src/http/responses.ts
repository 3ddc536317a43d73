import { Transform, Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsDateString,
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  Length,
  Max,
  Min,
} from 'class-validator';
import type { StoredResponse } from '../ports/response-store.js';
import { FleetBody } from './fleet-body.js';

/** One value of a query is a list of one. */
const AsList = (): PropertyDecorator =>
  Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? [value] : value));

/** Characters of the id of a response, a conversation or an item; nothing is found by a longer one. */
export const STORED_ID_MAX = 256;

/** POST /internal/responses. */
export class KeepResponsesBody extends FleetBody {
  @IsArray() @ArrayMaxSize(256) responses!: StoredResponse[];
}

/** POST /internal/responses/recall. */
export class RecallBody {
  @IsString() @Length(1, 128) key_id!: string;
  @IsOptional() @IsString() @Length(1, STORED_ID_MAX) response_id?: string;
  @IsOptional() @IsString() @Length(1, STORED_ID_MAX) conversation_id?: string;
}

/** POST /internal/responses/items and /internal/responses/files. */
export class ReferencedItemsBody {
  @IsString() @Length(1, 128) key_id!: string;
  @IsArray()
  @ArrayMaxSize(256)
  @IsString({ each: true })
  @Length(1, STORED_ID_MAX, { each: true })
  ids!: string[];
}

/** POST /internal/responses/forget. */
export class ForgetResponsesBody {
  @IsString() @Length(1, 128) account_id!: string;
  @IsString() @Length(1, 128) end_user_hash!: string;
  /** ISO 8601 UTC. */
  @IsDateString() until!: string;
}

/** Largest value of the column of an event's number; no response comes near it. */
const EVENT_NUMBER_MAX = 2_147_483_647;

/** The further content of a read, as OpenAI's SDKs write lists. What was not kept is left out. */
class IncludeQuery {
  /** Further content of the answer. What was not kept is left out. */
  @IsOptional() @AsList() @ArrayMaxSize(32) @Length(1, 128, { each: true }) include?: string[];
  /** The same, as OpenAI's SDKs write it. */
  @IsOptional() @AsList() @ArrayMaxSize(32) @Length(1, 128, { each: true }) 'include[]'?: string[];
}

/** Query of GET /v1/responses/{id}. */
export class ResponseQuery extends IncludeQuery {
  /** `true` for the events of the response. */
  @IsOptional() @IsIn(['true', 'false']) stream?: 'true' | 'false';
  /** Number of the event after which the stream goes on. */
  @IsOptional() @Type(() => Number) @IsInt() @Min(0) @Max(EVENT_NUMBER_MAX) starting_after?: number;
  /** Events are never padded here: it changes nothing. */
  @IsOptional() @IsIn(['true', 'false']) include_obfuscation?: 'true' | 'false';
}

/** Query of lists of items. */
export class ItemsQuery extends IncludeQuery {
  /** Number of items to return. */
  @IsOptional() @Type(() => Number) @IsInt() @Min(1) @Max(100) limit?: number;
  /** `asc` for the oldest first, `desc` for the newest. */
  @IsOptional() @IsIn(['asc', 'desc']) order?: 'asc' | 'desc';
  /** Id of the item after which the page begins. */
  @IsOptional() @IsString() @Length(1, STORED_ID_MAX) after?: string;
}

/** POST /v1/conversations. */
export class ConversationBody {
  @IsOptional() @IsArray() @ArrayMaxSize(20) items?: Record<string, unknown>[];
  @IsOptional() @IsObject() metadata?: Record<string, string> | null;
}

/** POST /v1/conversations/{id}/items. */
export class ConversationItemsBody {
  @IsArray() @ArrayMaxSize(20) items!: Record<string, unknown>[];
}
