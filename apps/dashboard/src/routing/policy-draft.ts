import { figureOf } from '../api/figure-of.js';
import type { Policy, SentPolicy } from './routing.queries.js';

export type Sort = NonNullable<Policy['sort']>;

/** A routing policy while it is edited: numbers and amounts as text. */
export interface PolicyDraft {
  name: string;
  sort: Sort | null;
  provider_order: string[];
  only_providers: string[];
  ignore_providers: string[];
  fallback_models: string[];
  regions: string[];
  allow_fallbacks: boolean;
  require_zero_retention: boolean;
  max_retries: string;
  attempt_timeout_ms: string;
  total_timeout_ms: string;
  prompt_usd_per_1m: string;
  completion_usd_per_1m: string;
}

const LISTS = ['provider_order', 'only_providers', 'ignore_providers', 'fallback_models', 'regions'] as const;
export const COUNTS = ['max_retries', 'attempt_timeout_ms', 'total_timeout_ms'] as const;
export const PRICES = ['prompt_usd_per_1m', 'completion_usd_per_1m'] as const;

export function draftOf(name: string, policy: Policy): PolicyDraft {
  const text = (value: number | undefined): string => (value === undefined ? '' : String(value));
  return {
    name,
    sort: policy.sort ?? null,
    provider_order: policy.provider_order ?? [],
    only_providers: policy.only_providers ?? [],
    ignore_providers: policy.ignore_providers ?? [],
    fallback_models: policy.fallback_models ?? [],
    regions: policy.regions ?? [],
    allow_fallbacks: policy.allow_fallbacks ?? true,
    require_zero_retention: policy.require_zero_retention ?? false,
    max_retries: text(policy.max_retries),
    attempt_timeout_ms: text(policy.attempt_timeout_ms),
    total_timeout_ms: text(policy.total_timeout_ms),
    prompt_usd_per_1m: policy.max_price?.prompt_usd_per_1m ?? '',
    completion_usd_per_1m: policy.max_price?.completion_usd_per_1m ?? '',
  };
}

type Field = [name: string, value: unknown];

/** Returns only the set members; those that no form edits come from the policy that the draft began from. */
export function bodyOfDraft(draft: PolicyDraft, from: Policy): SentPolicy {
  const prices = PRICES.map((field): Field => [field, draft[field].trim()]).filter(([, text]) => text !== '');
  const all: Field[] = [
    ['sort', draft.sort],
    ...LISTS.map((field): Field => [field, draft[field].length === 0 ? null : draft[field]]),
    ...COUNTS.map((field): Field => [field, draft[field].trim() === '' ? null : figureOf(draft[field])]),
    ['max_price', prices.length === 0 ? null : Object.fromEntries(prices)],
    ['allow_fallbacks', draft.allow_fallbacks ? null : false],
    ['require_zero_retention', draft.require_zero_retention ? true : null],
    ['retry_backoff_ms', from.retry_backoff_ms ?? null],
  ];
  const set = all.filter(([, value]) => value !== null);
  return { name: draft.name.trim(), routing_policy: Object.fromEntries(set) };
}

/** Moves an entry of a list by one place; at its end it stays. */
export function moved(list: readonly string[], at: number, step: -1 | 1): string[] {
  const to = at + step;
  if (to < 0 || to >= list.length) return [...list];
  const next = [...list];
  [next[at], next[to]] = [next[to], next[at]];
  return next;
}
