import { Injectable } from '@nestjs/common';
import {
  ApiError,
  Funds,
  type BudgetRecord,
  type BudgetsQuery,
  type BudgetsRecord,
} from '@gateway/contracts';
import { Usd } from '@gateway/money';
import { findOrg } from '../orgs/org.store.js';
import { KeysDatabase } from '../postgres/keys-database.js';

/** Caps that are compared with each other: as many scopes as the ledger is asked for at once. */
const COMPARED_MAX = 1_000;

interface Row {
  scope: BudgetRecord['scope'];
  id: string;
  team_id: string | null;
  name: string | null;
  cap: string;
  account_id: string;
}

/** Spend caps of an organization beside what is spent of them. */
@Injectable()
export class Budgets {
  constructor(
    private readonly database: KeysDatabase,
    private readonly funds: Funds,
  ) {}

  /**
   * Asks the ledger once. Throws ApiError `not_found` for an unknown organization, and `service_unavailable` where the ledger
   * has no answer.
   */
  async read(orgId: string, { limit, offset }: BudgetsQuery): Promise<BudgetsRecord> {
    if ((await findOrg(this.database.prisma, orgId)) === null) throw new ApiError('not_found');
    const { rows, total } = await this.capped(orgId);
    const scopes = rows.map(({ scope: kind, id, team_id: team }) => ({
      kind,
      id: kind === 'team_member' ? `${team}/${id}` : id,
    }));
    // A person is of several organizations: each account's part counts against its own cap.
    const spent = rows.length === 0 ? [] : await this.funds.spent(scopes, rows[0].account_id);
    const data = rows
      .map(({ cap, account_id: _payer, ...row }, index): BudgetRecord => {
        const usd = Usd.parse(spent[index]).toString();
        return { ...row, spend_cap_usd: Usd.parse(cap).toString(), spent_usd: usd, used: share(usd, cap) };
      })
      .sort((a, b) => b.used - a.used || (a.id < b.id ? -1 : 1));
    return {
      data: data.slice(offset, offset + limit),
      total,
      limit,
      offset,
      is_partial: total > rows.length,
    };
  }

  /** Reads the capped scopes above keys, then active keys, those used last first. */
  private async capped(orgId: string): Promise<{ rows: Row[]; total: number }> {
    const { rows } = await this.database.pool.query<Row & { total: string }>(
      `SELECT scope, id, team_id, name, cap::text, (SELECT a.id FROM account a WHERE a.org_id = $1) AS account_id,
         count(*) OVER () AS total FROM (
         SELECT 'org' AS scope, id, NULL AS team_id, name, spend_cap_usd AS cap, 0 AS place, NULL::timestamptz AS used_at
           FROM org WHERE id = $1
         UNION ALL
         SELECT 'team', id, NULL, name, spend_cap_usd, 1, NULL FROM team WHERE org_id = $1
         UNION ALL
         SELECT 'member', m.user_id, NULL, u.name, m.spend_cap_usd, 2, NULL
           FROM membership m JOIN "user" u ON u.id = m.user_id WHERE m.org_id = $1
         UNION ALL
         SELECT 'team_member', tm.user_id, tm.team_id, u.name || ', ' || t.name, tm.spend_cap_usd, 3, NULL
           FROM team_member tm JOIN team t ON t.id = tm.team_id JOIN "user" u ON u.id = tm.user_id WHERE t.org_id = $1
         UNION ALL
         SELECT 'key', id, NULL, label, spend_cap_usd, 4, last_used_at
           FROM api_key WHERE org_id = $1 AND status = 'active'
       ) AS capped WHERE cap IS NOT NULL
       ORDER BY place, used_at DESC NULLS LAST, id LIMIT ${COMPARED_MAX}`,
      [orgId],
    );
    return { rows: rows.map(({ total: _all, ...row }) => row), total: Number(rows.at(0)?.total ?? 0) };
  }
}

/** Returns the part of a cap that is spent; all of a cap of nothing. */
function share(spent: string, cap: string): number {
  const part = Number.parseFloat(spent) / Number.parseFloat(cap);
  return Number.isFinite(part) ? part : 1;
}
