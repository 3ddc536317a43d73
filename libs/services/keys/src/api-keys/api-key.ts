import { SUPPORTED_VERSIONS } from '@gateway/api-version';
import {
  AMOUNT_PATTERN,
  MODEL_PATTERN,
  unknownField,
  type CreateKeyBody,
  type ErrorDetail,
  type ModelLimit,
  type RoutingPolicy,
  type RoutingPolicyBody,
  type UpdateKeyBody,
  type DetailType,
} from '@gateway/contracts';
import { isObject } from '@gateway/json-body';
import { ceilingFaults, type LimitTier } from '@gateway/limits';
import { expiryFaults } from '@gateway/platform';

/** The facts by which a key's fields are judged. */
export interface KeyContext {
  tier: LimitTier;
  orgId: string | null;
  nowMs: number;
  /** Stored state; null on create. */
  current: { hasPolicy: boolean; hasTemplate: boolean } | null;
}

const MODEL_LIMITS_MAX = 200;
const TAGS_MAX = 16;
const TAG_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const TAG_VALUE_MAX = 256;
const INT_MAX = 2_147_483_647;
const LIMIT_NAMES = ['rpm', 'rpd', 'tpm'] as const;

/** Faults that the shape alone does not show, for a 422 `validation_error`; empty where there is none. */
export function keyFaults(body: CreateKeyBody | UpdateKeyBody, context: KeyContext): ErrorDetail[] {
  return [
    ...ceilingFaults(context.tier, body),
    ...policyFaults(body, context),
    ...versionFaults(body.api_version),
    ...(body.team_id != null && context.orgId === null
      ? [fault(['team_id'], 'A key without org_id has no team.')]
      : []),
    ...expiryFaults(body.expires_at, context.nowMs),
    ...modelLimitFaults(body.model_limits, context.tier),
    ...tagFaults(body.request_tags),
  ];
}

/** One at most of the two, counting what is stored and not cleared by this change. */
function policyFaults(body: UpdateKeyBody, { orgId, current }: KeyContext): ErrorDetail[] {
  const { routing_policy: policy, routing_policy_template_id: template } = body;
  const faults: ErrorDetail[] = [];
  const isBothSent = policy !== undefined && template !== undefined && policy !== null && template !== null;
  const hasPolicy = policy === undefined ? (current?.hasPolicy ?? false) : policy !== null;
  const hasTemplate = template === undefined ? (current?.hasTemplate ?? false) : template !== null;
  if (isBothSent || (hasPolicy && hasTemplate)) {
    const message = 'routing_policy and routing_policy_template_id exclude each other.';
    faults.push(fault([template != null ? 'routing_policy_template_id' : 'routing_policy'], message));
  }
  if (template != null && orgId === null) {
    faults.push(
      fault(['routing_policy_template_id'], 'A key without org_id has no routing policy templates.'),
    );
  }
  return faults;
}

function versionFaults(label: string | null | undefined): ErrorDetail[] {
  if (label == null || SUPPORTED_VERSIONS.includes(label)) return [];
  return [fault(['api_version'], `api_version must be one of ${SUPPORTED_VERSIONS.join(', ')}.`)];
}

function modelLimitFaults(
  limits: Record<string, unknown> | null | undefined,
  tier: LimitTier,
): ErrorDetail[] {
  if (limits == null) return [];
  const entries = Object.entries(limits);
  if (entries.length > MODEL_LIMITS_MAX)
    return [fault(['model_limits'], `At most ${MODEL_LIMITS_MAX} models.`)];
  return entries.flatMap(([pattern, value]) => oneModelLimitFaults(pattern, value, tier));
}

function oneModelLimitFaults(pattern: string, value: unknown, tier: LimitTier): ErrorDetail[] {
  const at = ['model_limits', pattern];
  if (!MODEL_PATTERN.test(pattern)) return [fault(at, 'Each name must be a model id or <brand>/*.')];
  if (!isObject(value)) return [fault(at, 'Each value must be an object.')];
  const faults = Object.entries(value).flatMap(([name, member]) => {
    if (name === 'spend_cap_usd') {
      const isAmount = typeof member === 'string' && AMOUNT_PATTERN.test(member);
      return isAmount ? [] : [fault([...at, name], 'spend_cap_usd must be a decimal string of USD.')];
    }
    if (!LIMIT_NAMES.some((known) => known === name)) {
      return [fault([...at, name], unknownField(name, [...LIMIT_NAMES, 'spend_cap_usd']), 'unknown_field')];
    }
    return isLimit(member) ? [] : [fault([...at, name], `${name} must be a positive integer.`)];
  });
  if (faults.length > 0) return faults;
  return ceilingFaults(tier, value).map((found) => ({ ...found, loc: [...at, ...found.loc] }));
}

function tagFaults(tags: Record<string, unknown> | null | undefined): ErrorDetail[] {
  if (tags == null) return [];
  const entries = Object.entries(tags);
  if (entries.length > TAGS_MAX) return [fault(['request_tags'], `At most ${TAGS_MAX} tags.`)];
  return entries.flatMap(([name, value]) => {
    if (!TAG_NAME.test(name)) return [fault(['request_tags', name], 'This is not a tag name.')];
    const isText = typeof value === 'string' && value.length <= TAG_VALUE_MAX;
    return isText
      ? []
      : [fault(['request_tags', name], `A tag is text of at most ${TAG_VALUE_MAX} characters.`)];
  });
}

function isLimit(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= INT_MAX;
}

function fault(loc: (string | number)[], msg: string, type: DetailType = 'value_error'): ErrorDetail {
  return { type, loc, msg };
}

/** The policy as it is stored: what was set, and nothing of the gateway's defaults. */
export function storedPolicy(body: RoutingPolicyBody): RoutingPolicy {
  const { max_price: maxPrice, ...rest } = body;
  const policy = present({ ...rest });
  return maxPrice == null ? policy : { ...policy, max_price: present({ ...maxPrice }) };
}

/** Members without those that are absent or null. */
function present<T extends object>(value: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const kept = Object.entries(value).filter(([, member]) => member !== undefined && member !== null);
  return Object.fromEntries(kept) as { [K in keyof T]?: NonNullable<T[K]> };
}

/** Model limits that `keyFaults` has passed. */
export function storedModelLimits(limits: Record<string, unknown> | null): Record<string, ModelLimit> {
  const entries = Object.entries(limits ?? {}).map(([pattern, value]): [string, ModelLimit] => {
    const limit: ModelLimit = {};
    if (!isObject(value)) return [pattern, limit];
    for (const name of LIMIT_NAMES) if (isLimit(value[name])) limit[name] = value[name];
    if (typeof value.spend_cap_usd === 'string') limit.spend_cap_usd = value.spend_cap_usd;
    return [pattern, limit];
  });
  return Object.fromEntries(entries);
}

/** Tags that `keyFaults` has passed. */
export function storedTags(tags: Record<string, unknown> | null): Record<string, string> {
  const texts = Object.entries(tags ?? {}).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return Object.fromEntries(texts);
}
