import { Injectable } from '@nestjs/common';
import {
  shownScope,
  type RejectionsBody,
  type RejectionView,
  type OperatorRequestLookup,
  type RequestLookup,
} from '@gateway/contracts';
import { createdWithin, timesOf } from '@gateway/platform';
import { Prisma } from '../generated/prisma/client.js';
import { UsageDatabase } from '../postgres/usage-database.js';
import { isLookedUp, RETENTION_DAYS } from './request-wire.js';
import { allOf, filteredRows, tagOf, viewRows, type Tag } from './row-filter.js';
import type { View } from './view.js';

const COLUMNS = {
  request_id: true,
  created_at: true,
  endpoint: true,
  model: true,
  requested_model: true,
  http_status: true,
  code: true,
  message: true,
  scope: true,
  scope_id: true,
  key_id: true,
  limit_type: true,
  money: true,
  budget_id: true,
  count: true,
  request_tags: true,
} satisfies Prisma.RejectionSelect;

type RejectionRow = Prisma.RejectionGetPayload<{ select: typeof COLUMNS }>;

/** Reads of rejection: requests refused before any model was called. */
@Injectable()
export class RejectionsStore {
  constructor(private readonly database: UsageDatabase) {}

  /** Newest first, none older than `notBefore`. A row may stand for many rejections: `total` is the sum of their counts. */
  async page(
    view: View,
    filter: RejectionsBody,
    notBefore: Date,
  ): Promise<{ rejections: RejectionView[]; total: number }> {
    const { model, status, code, outcome, request_id: requestId } = filter;
    const tag = tagOf(filter);
    const where: Prisma.RejectionWhereInput = {
      AND: [
        ...allOf(filteredRows(view, filter)),
        createdWithin(timesOf(filter)),
        ...(tag === null ? [] : [{ request_tags: tagged(tag) }]),
        // Outcomes are of what reached a model: no rejection has one.
        ...(outcome ? [{ code: { in: [] } }] : []),
      ],
      created_at: { gte: notBefore },
      // A rejection before the model was resolved names only what was asked for.
      ...(model ? { OR: [{ model: { in: model } }, { requested_model: { in: model } }] } : {}),
      ...(status ? { http_status: { in: status.filter(isStatus).map(Number) } } : {}),
      ...(code ? { code: { in: code } } : {}),
      ...(typeof requestId === 'string' ? { request_id: requestId } : {}),
    };
    const [rows, { _sum }] = await Promise.all([
      this.database.prisma.rejection.findMany({
        where,
        select: COLUMNS,
        orderBy: [{ created_at: 'desc' }, { request_id: 'desc' }],
        take: filter.limit,
        skip: filter.offset,
      }),
      this.database.prisma.rejection.aggregate({ where, _sum: { count: true } }),
    ]);
    return { rejections: rows.map(toWire), total: _sum.count ?? 0 };
  }

  /** null where the caller has no such rejection since `notBefore`. */
  async lookup(view: View, requestId: string, notBefore: Date): Promise<RequestLookup | null> {
    const row = await this.database.prisma.rejection.findFirst({
      where: { AND: allOf(viewRows(view)), request_id: requestId, created_at: { gte: notBefore } },
      select: COLUMNS,
    });
    return row && isLookedUp([row]) ? lookupOf(row) : null;
  }

  /** The same of whichever account, with the account of its key. */
  async operatorLookup(
    requestId: string,
    notBefore: Date,
  ): Promise<{ accountId: string; record: OperatorRequestLookup } | null> {
    const row = await this.database.prisma.rejection.findFirst({
      where: { request_id: requestId, created_at: { gte: notBefore } },
      select: { ...COLUMNS, account_id: true },
    });
    if (row === null || !isLookedUp([row])) return null;
    return { accountId: row.account_id, record: { ...lookupOf(row), attempts: [] } };
  }
}

function isStatus(text: string): boolean {
  return /^[1-5]\d\d$/.test(text);
}

function toWire(row: RejectionRow): RejectionView {
  return {
    request_id: row.request_id,
    created_at: row.created_at.toISOString(),
    endpoint: row.endpoint,
    model: row.model ?? row.requested_model,
    status: row.http_status,
    code: row.code,
    message: row.message,
    ...shownScope(row.scope, row.scope_id),
    key_id: row.key_id,
    limit_type: row.limit_type,
    money: row.money as RejectionView['money'],
    budget_id: row.budget_id,
    count: row.count,
  };
}

function lookupOf(row: RejectionRow): RequestLookup {
  return {
    request_id: row.request_id,
    created_at: row.created_at.toISOString(),
    endpoint: row.endpoint,
    model: row.model,
    requested_model: row.requested_model,
    provider: null,
    status: 'error',
    outcome: 'rejected',
    http_status: row.http_status,
    error_code: row.code,
    latency_ms: null,
    ttft_ms: null,
    prompt_tokens: 0,
    completion_tokens: 0,
    total_tokens: 0,
    cost_usd: null,
    byok_used: false,
    routing_fallback: false,
    cache_hit: false,
    usage_estimated: false,
    attempts: [],
    request_tags: row.request_tags as Record<string, string>,
    retention_days: RETENTION_DAYS,
    key_id: row.key_id,
    key_label: null,
    price_lines: null,
    limits_seen: null,
    price_window: null,
    priced_at: null,
    unpriced_counters: null,
  };
}

/** A column of request tags that holds this one. */
function tagged({ name, value }: Tag): Prisma.JsonFilter {
  return { path: [name], ...(value === null ? { not: Prisma.AnyNull } : { equals: value }) };
}
