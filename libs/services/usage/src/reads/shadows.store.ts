import { Injectable } from '@nestjs/common';
import type { AliasShadowPage, ShadowSide, ShadowTotals } from '@gateway/contracts';
import { Usd } from '@gateway/money';
import { UsageDatabase } from '../postgres/usage-database.js';

/** Pairs that totals are made of: each is two reads of an event by its key. */
const SUMMED_MAX = 10_000;

interface Asked {
  aliasId: string;
  sinceMs: number;
  untilMs: number;
  limit: number;
  offset: number;
}

type Row = Record<'request_id' | 'created_at', string> & Record<'primary' | 'shadow', SideRow | null>;
type SideRow = Omit<ShadowSide, 'cost_usd'> & { cost: string | null };
type TotalsRow = Omit<ShadowTotals, 'cost_usd'> & { cost: string };

const PAIRS = `shadow_unit WHERE alias_id = $1 AND created_at >= $2 AND created_at < $3`;
const NEWEST = `(SELECT * FROM ${PAIRS} ORDER BY created_at DESC, shadow_request_id DESC`;
const EVENTS = `LEFT JOIN usage_event AS p ON p.request_id = pair.request_id AND p.unit = 0
  LEFT JOIN usage_event AS s ON s.request_id = pair.shadow_request_id AND s.unit = 0`;

/** Reads of shadows: links that their postings have written, beside the events of both. */
@Injectable()
export class ShadowsStore {
  constructor(private readonly database: UsageDatabase) {}

  /** Newest first. */
  async page({ aliasId, sinceMs, untilMs, limit, offset }: Asked): Promise<AliasShadowPage> {
    const { pool } = this.database;
    const values = [aliasId, new Date(sinceMs), new Date(untilMs)];
    const [rows, totals, count] = await Promise.all([
      pool.query<Row>(
        `SELECT pair.request_id, pair.created_at, ${sideOf('p')} AS primary, ${sideOf('s')} AS shadow
         FROM ${NEWEST} LIMIT $4 OFFSET $5) AS pair ${EVENTS}
         ORDER BY pair.created_at DESC, pair.shadow_request_id DESC`,
        [...values, limit, offset],
      ),
      pool.query<Record<'primary' | 'shadow', TotalsRow>>(
        `SELECT ${totalsOf('p')} AS primary, ${totalsOf('s')} AS shadow
         FROM ${NEWEST} LIMIT ${SUMMED_MAX}) AS pair ${EVENTS}`,
        values,
      ),
      pool.query<{ count: string }>(`SELECT count(*)::text AS count FROM ${PAIRS}`, values),
    ]);
    const [{ primary, shadow }] = totals.rows;
    return {
      data: rows.rows.map((row) => ({
        ...{ request_id: row.request_id, created_at: new Date(row.created_at).toISOString() },
        ...{ primary: toSide(row.primary), shadow: toSide(row.shadow) },
      })),
      totals: { primary: toTotals(primary), shadow: toTotals(shadow) },
      ...{ total: Number(count.rows[0].count), limit, offset },
    };
  }
}

/** SQL of one side of a pair; money as text, because JSON would make a float of it. */
function sideOf(event: string): string {
  const columns = [
    'model',
    'outcome',
    'http_status',
    'latency_ms',
    'ttft_ms',
    'prompt_tokens',
    'completion_tokens',
  ];
  const members = columns.map((name) => `'${name}', ${event}.${name}`);
  return `CASE WHEN ${event}.id IS NOT NULL THEN json_build_object(${members.join(', ')}, 'cost', ${event}.cost::text) END`;
}

function totalsOf(event: string): string {
  const median = (column: string): string =>
    `percentile_cont(0.5) WITHIN GROUP (ORDER BY ${event}.${column})`;
  const sum = (column: string): string => `coalesce(sum(${event}.${column}), 0)`;
  return `json_build_object('requests', count(${event}.id),
    'errors', count(${event}.id) FILTER (WHERE ${event}.status = 'error'),
    'latency_ms', ${median('latency_ms')}, 'ttft_ms', ${median('ttft_ms')},
    'prompt_tokens', ${sum('prompt_tokens')}, 'completion_tokens', ${sum('completion_tokens')},
    'cost', ${sum('cost')}::text)`;
}

function toSide(row: SideRow | null): ShadowSide | null {
  if (row === null) return null;
  const { cost, ...side } = row;
  return { ...side, cost_usd: cost === null ? null : Usd.parse(cost).toString() };
}

function toTotals({ cost, ...totals }: TotalsRow): ShadowTotals {
  return { ...totals, cost_usd: Usd.parse(cost).toString() };
}
