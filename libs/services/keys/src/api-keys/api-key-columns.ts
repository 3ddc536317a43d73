import type { UpdateKeyBody } from '@gateway/contracts';
import { expiryOf } from '@gateway/platform';
import type { Prisma } from '../generated/prisma/client.js';
import { nullableJson, plainJson } from '../postgres/columns.js';
import { storedModelLimits, storedPolicy, storedTags } from './api-key.js';

type Json = Prisma.InputJsonValue;
type NullableJson = Json | Prisma.NullableJsonNullValueInput;

/** Columns that a body sets. Absent = undefined, which Prisma leaves alone. */
export interface KeyColumns {
  label?: string | null;
  default_model?: string | null;
  rpm_limit?: number | null;
  rpd_limit?: number | null;
  tpm_limit?: number | null;
  spend_cap_usd?: string | null;
  allowed_models?: NullableJson;
  blocked_models?: NullableJson;
  model_limits?: Json;
  team_id?: string | null;
  routing_policy?: NullableJson;
  routing_policy_template_id?: string | null;
  api_version?: string | null;
  fixed_provider?: string | null;
  scopes?: NullableJson;
  response_cache?: NullableJson;
  request_tags?: Json;
  expires_at?: Date | null;
}

export const RESPONSE_CACHE_DEFAULT = { enabled: false, ttl_seconds: 300 } as const;

/** A body as columns; null clears. */
export function keyColumns(body: UpdateKeyBody): KeyColumns {
  const { model_limits: limits, request_tags: tags, routing_policy: policy, expires_at: expiresAt } = body;
  return {
    label: body.label,
    default_model: body.default_model,
    rpm_limit: body.rpm,
    rpd_limit: body.rpd,
    tpm_limit: body.tpm,
    spend_cap_usd: body.spend_cap_usd,
    allowed_models: nullableJson(body.allowed_models),
    blocked_models: nullableJson(body.blocked_models),
    model_limits: limits === undefined ? undefined : plainJson(storedModelLimits(limits)),
    team_id: body.team_id,
    routing_policy: nullableJson(policy == null ? policy : storedPolicy(policy)),
    routing_policy_template_id: body.routing_policy_template_id,
    api_version: body.api_version,
    fixed_provider: body.fixed_provider,
    scopes: nullableJson(body.scopes),
    response_cache: nullableJson(
      body.response_cache == null ? body.response_cache : cacheOf(body.response_cache),
    ),
    request_tags: tags === undefined ? undefined : storedTags(tags),
    expires_at: expiresAt == null ? expiresAt : expiryOf(expiresAt),
  };
}

function cacheOf({ enabled, ttl_seconds: ttl }: { enabled: boolean; ttl_seconds?: number }): object {
  return { enabled, ttl_seconds: ttl ?? RESPONSE_CACHE_DEFAULT.ttl_seconds };
}
