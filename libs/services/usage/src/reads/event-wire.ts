import type { PricedFrom, UnitUsage, UsageEventRecord } from '@gateway/contracts';
import { Usd } from '@gateway/money';
import type { Prisma } from '../generated/prisma/client.js';
import { count } from '../posting/event-columns.js';
import { CACHED_SQL, factSql } from '../posting/event-detail.js';

export const EVENT = {
  id: true,
  request_id: true,
  model: true,
  requested_model: true,
  prompt_tokens: true,
  completion_tokens: true,
  cost: true,
  latency_ms: true,
  status: true,
  created_at: true,
  routing_fallback: true,
  request_tags: true,
  key_id: true,
  member_id: true,
  endpoint: true,
  ttft_ms: true,
} satisfies Prisma.UsageEventSelect;

type EventRow = Prisma.UsageEventGetPayload<{ select: typeof EVENT }>;

/** The same in SQL, for reads of many rows: `EventColumns`. */
export const EVENT_SQL = `id, request_id, model, requested_model, prompt_tokens, completion_tokens, cost::text AS cost, latency_ms, status,
  created_at, routing_fallback, request_tags, key_id, member_id, endpoint, ttft_ms, to_jsonb(${CACHED_SQL}) AS cached_tokens,
  ${factSql('priced_from')} ->> 'price_window' AS price_window, ${factSql('priced_from')} ->> 'priced_at' AS priced_at`;

type Alike = Exclude<keyof EventRow, 'prompt_tokens' | 'completion_tokens' | 'cost'>;

export interface EventColumns extends Pick<EventRow, Alike> {
  prompt_tokens: bigint | string;
  completion_tokens: bigint | string;
  cost: string | null;
  cached_tokens: unknown;
  price_window: string | null;
  priced_at: string | null;
}

export function toWire(
  row: EventRow & { usage: UnitUsage; priced_from: PricedFrom | null },
): UsageEventRecord {
  const { cached_tokens } = row.usage;
  const { price_window = null, priced_at = null } = row.priced_from ?? {};
  return wireOf({ ...row, cost: row.cost?.toFixed() ?? null, cached_tokens, price_window, priced_at });
}

/** The label of the key is not the ledger's: it is added where names are known. */
export function wireOf(row: EventColumns): UsageEventRecord {
  const [prompt, completion] = [Number(row.prompt_tokens), Number(row.completion_tokens)];
  return {
    id: row.id,
    request_id: row.request_id,
    model: row.model,
    requested_model: row.requested_model,
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    cost_usd: row.cost === null ? null : Usd.parse(row.cost).toString(),
    latency_ms: Math.round(row.latency_ms),
    status: row.status,
    created_at: row.created_at.toISOString(),
    routing_fallback: row.routing_fallback,
    request_tags: row.request_tags as Record<string, string>,
    key_id: row.key_id,
    key_label: null,
    user_id: row.member_id,
    endpoint: row.endpoint,
    ttft_ms: row.ttft_ms === null ? null : Math.round(row.ttft_ms),
    cached_tokens: count(row.cached_tokens),
    price_window: row.price_window,
    priced_at: row.priced_at,
  };
}
