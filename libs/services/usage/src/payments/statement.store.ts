import { Inject, Injectable } from '@nestjs/common';
import type {
  Clock,
  StatementCredit,
  StatementDay,
  StatementRecord,
  StatementUsage,
} from '@gateway/contracts';
import { Usd } from '@gateway/money';
import { CLOCK } from '@gateway/platform';
import { UsageDatabase } from '../postgres/usage-database.js';
import { usageSource } from '../reads/usage-source.js';
import { Values } from '../reads/values.js';

type Usage = Omit<StatementUsage, 'team_name'>;
type Statement = Omit<StatementRecord, 'usage'> & { usage: Usage[] };

/** Rows of usage; the smaller ones are one row together. */
const USAGE_MAX = 500;
/** Transfers of usage: the statement takes usage from its events, whose sum they are. */
const OF_USAGE = `('usage', 'usage_correction')`;

interface Row {
  part: 'posted' | 'used_after' | 'moved_after' | 'day' | 'usage' | 'credit';
  /** Day, team or kind. */
  name: string | null;
  model: string | null;
  entries: string;
  amount: string;
}

/** Statements of an account, each from one snapshot of its books. */
@Injectable()
export class StatementStore {
  constructor(
    private readonly database: UsageDatabase,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Returns the statement of a month of UTC, such as 2026-11. One that has not begun is empty. */
  async read(accountId: string, month: string): Promise<Statement> {
    const now = this.clock.now();
    const [since, until] = [new Date(`${month}-01T00:00:00Z`), endOf(month)];
    const values = new Values();
    const sql = statementSql(accountId, { since, until, now }, values);
    const { rows } = await this.database.pool.query<Row>(sql, values.list);
    const of = (part: Row['part']): Row[] => rows.filter((row) => row.part === part);
    const total = (part: Row['part']): Usd => Usd.sum(of(part).map(({ amount }) => Usd.parse(amount)));
    const closing = total('posted').minus(total('moved_after')).plus(total('used_after'));
    const [credits, usage] = [total('credit'), total('usage')];
    return {
      month,
      since: since.toISOString(),
      until: until.toISOString(),
      is_over: now >= until.getTime(),
      opening_usd: closing.minus(credits).plus(usage).toString(),
      credits_usd: credits.toString(),
      usage_usd: usage.toString(),
      closing_usd: closing.toString(),
      credits: of('credit').map(({ name, entries, amount }): StatementCredit => ({
        kind: name ?? '',
        amount_usd: Usd.parse(amount).toString(),
        entries: Number(entries),
      })),
      usage: of('usage').map(({ name, model, entries, amount }) => ({
        team_id: name,
        model,
        requests: Number(entries),
        amount_usd: Usd.parse(amount).toString(),
      })),
      days: daysOf(of('day')),
      as_of: new Date(now).toISOString(),
    };
  }
}

function endOf(month: string): Date {
  const [year, number] = month.split('-').map(Number);
  return new Date(Date.UTC(year, number, 1));
}

interface Span {
  since: Date;
  until: Date;
  now: number;
}

/**
 * SQL of the balance of now, of what moved it after the month, and of the movements of the month. The balance at the end
 * of the month is what is left once the later ones are taken back.
 */
function statementSql(accountId: string, { since, until, now }: Span, values: Values): string {
  const before = new Date(Math.max(now + 1, since.getTime() + 1));
  const conditions = [{ column: 'account_id' as const, anyOf: [accountId] }];
  const source = usageSource(
    { conditions, times: { from: since, before }, tag: null, isByDay: true },
    values,
  );
  const account = values.add(accountId);
  const [from, end] = [since, until].map((at) => `${values.add(at)}::timestamptz`);
  const dayOf = (moment: string): string =>
    `CASE WHEN ${moment} < ${end} THEN to_char(${moment} AT TIME ZONE 'UTC', 'YYYY-MM-DD') END`;
  const most = values.add(USAGE_MAX);
  return `WITH used AS MATERIALIZED (
      SELECT ${dayOf('slot')} AS day, nullif(team_id, '') AS team, model, sum(requests) AS entries, sum(cost) AS amount
      FROM (${source}) AS source GROUP BY 1, 2, 3
    ), moved AS MATERIALIZED (
      SELECT ${dayOf('created_at')} AS day, kind, amount FROM (
        SELECT created_at, kind, -amount AS amount FROM transfer WHERE debit = ${account} AND created_at >= ${from}
        UNION ALL
        SELECT created_at, kind, amount FROM transfer
        WHERE credit = ${account} AND credit <> 'revenue' AND created_at >= ${from}
      ) AS transfer WHERE kind NOT IN ${OF_USAGE}
    ), ranked AS (
      SELECT team, model, sum(entries) AS entries, sum(amount) AS amount,
        row_number() OVER (ORDER BY sum(amount) DESC, team, model) AS rank
      FROM used WHERE day IS NOT NULL GROUP BY team, model
    )
    SELECT 'posted' AS part, NULL AS name, NULL AS model, '0' AS entries, posted::text AS amount, 0 AS rank
      FROM account WHERE id = ${account}
    UNION ALL SELECT 'used_after', NULL, NULL, '0', coalesce(sum(amount), 0)::text, 0 FROM used WHERE day IS NULL
    UNION ALL SELECT 'moved_after', NULL, NULL, '0', coalesce(sum(amount), 0)::text, 0 FROM moved WHERE day IS NULL
    UNION ALL SELECT 'day', day, 'usage', sum(entries)::text, sum(amount)::text, 0 FROM used
      WHERE day IS NOT NULL GROUP BY day
    UNION ALL SELECT 'day', day, NULL, '0', sum(amount)::text, 0 FROM moved WHERE day IS NOT NULL GROUP BY day
    UNION ALL SELECT 'credit', kind, NULL, count(*)::text, sum(amount)::text, 0 FROM moved
      WHERE day IS NOT NULL GROUP BY kind
    UNION ALL SELECT 'usage', CASE WHEN rank <= ${most} THEN team END, CASE WHEN rank <= ${most} THEN model END,
      sum(entries)::text, sum(amount)::text, least(rank, ${most} + 1)
      FROM ranked GROUP BY 2, 3, least(rank, ${most} + 1)
    ORDER BY part, rank, name`;
}

/** Returns the days, whose usage and credits are two rows. */
function daysOf(rows: readonly Row[]): StatementDay[] {
  const days = new Map<string, StatementDay>();
  for (const { name, model, entries, amount } of rows) {
    const day = name ?? '';
    const found = days.get(day) ?? { day, requests: 0, usage_usd: '0', credits_usd: '0' };
    const usd = Usd.parse(amount).toString();
    days.set(
      day,
      model === 'usage'
        ? { ...found, requests: Number(entries), usage_usd: usd }
        : { ...found, credits_usd: usd },
    );
  }
  return [...days.values()].sort((a, b) => (a.day < b.day ? -1 : 1));
}
