import { Type } from 'class-transformer';
import {
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  Length,
  Matches,
  Max,
  Min,
  ValidateIf,
  ValidateNested,
} from 'class-validator';
import type { RoutingPolicy } from '../ports/principal.js';
import { ID_PATTERN, RoutingPolicyBody } from './keys.js';

/** Body of POST /v1/routing-policy-templates. */
export class CreateRoutingPolicyTemplateBody {
  /** The organization whose keys may use it. Cannot change later. */
  @Matches(ID_PATTERN) org_id!: string;
  @IsString() @Length(1, 200) name!: string;
  /** Contains only the fields that are set; the others follow the gateway's defaults. */
  @IsObject() @ValidateNested() @Type(() => RoutingPolicyBody) routing_policy!: RoutingPolicyBody;
}

/** Body of PATCH /v1/routing-policy-templates/{id}: what is absent stays as it is. */
export class UpdateRoutingPolicyTemplateBody {
  @ValidateIf((body: UpdateRoutingPolicyTemplateBody) => body.name !== undefined)
  @IsString()
  @Length(1, 200)
  name?: string;
  /** Replaces the whole policy. */
  @ValidateIf((body: UpdateRoutingPolicyTemplateBody) => body.routing_policy !== undefined)
  @IsObject()
  @ValidateNested()
  @Type(() => RoutingPolicyBody)
  routing_policy?: RoutingPolicyBody;
}

/** Query of GET /v1/routing-policy-templates. */
export class ListRoutingPolicyTemplatesQuery {
  /** Largest number of rows to return, 1 to 200. */
  @IsOptional() @Type(() => Number) @IsInt() @Min(1) @Max(200) limit: number = 50;
  /** Number of rows to skip. */
  @IsOptional() @Type(() => Number) @IsInt() @Min(0) @Max(1_000_000) offset: number = 0;
  /** Templates of one organization; absent = of all that the caller is in. */
  @IsOptional() @IsString() @Length(1, 80) org_id?: string;
}

export interface RoutingPolicyTemplateRecord {
  id: string;
  org_id: string;
  name: string;
  /** Contains only the fields that were set. */
  routing_policy: RoutingPolicy;
  created_at: string;
  updated_at: string;
}
