import { Inject, Injectable } from '@nestjs/common';
import { CLOCK } from '@gateway/platform';
import {
  providerAccount,
  type Clock,
  type ProjectionRequest,
  type SpendScope,
  type UsageRecord,
} from '@gateway/contracts';
import { Usd } from '@gateway/money';
import { awaitsOutcome } from '../posting/read-batch.js';
import { factSql, readingsOf } from '../posting/event-detail.js';
import { CarriedScopes } from '../posting/carried-scopes.js';
import {
  isCarried,
  isPeriod,
  NOT_SUMMED,
  PERIOD_SPENT,
  periodColumns,
  periodsOf,
} from '../posting/period-scopes.js';
import { isOwedKnown } from '../posting/provider-slots.js';
import { providerScopes, type Scope } from '../posting/scopes.js';
import { HISTORY } from '../postgres/ledger-history.js';
import { UsageDatabase } from '../postgres/usage-database.js';

/** Scopes and units of one account that a projection reports. */
export interface ProjectionWish {
  accountId: string;
  gen: string | null;
  scopes: readonly Scope[];
  /** Units that are known to be in. */
  units: readonly { unit: string; crash: boolean }[];
}

export interface UnitName {
  requestId: string;
  unit: number;
}

interface AccountRow {
  id: string;
  version: string;
  posted: string;
}

interface PostedRow {
  n: number;
  posted: string | null;
}

const SCOPES_MAX = 10_000;

const WISH = `SELECT * FROM unnest($2::text[], $3::text[], $4::text[])
  WITH ORDINALITY AS w(account_id, scope, scope_id, n)`;
const WISH_OF_PERIODS = `SELECT * FROM unnest($2::text[], $3::text[], $4::text[],
    $5::timestamptz[], $6::timestamptz[], $7::timestamptz[], $8::timestamptz[])
  WITH ORDINALITY AS w(account_id, scope, scope_id, starts_at, hours_from, hours_to, ends_at, n)`;

/** Query of the report to the limit store, in one snapshot of the ledger: a single statement. */
function snapshotSql(wish: string, ofPeriods: string): string {
  return `
WITH wish AS (${wish})
SELECT 'history' AS kind, '' AS id, '0' AS version, '0' AS posted, ${HISTORY} AS n
UNION ALL
SELECT 'account', a.id, a.version::text, a.posted::text, 0 FROM account a WHERE a.id = ANY($1)
UNION ALL
SELECT 'scope', w.account_id, '0', (CASE ${ofPeriods}
  WHEN w.scope_id LIKE '%/*' THEN (
    SELECT sum(t.amount) FROM spend_total t WHERE t.account_id = w.account_id AND t.scope = w.scope
      AND starts_with(t.scope_id, left(w.scope_id, -1)))
  ELSE (
    SELECT CASE WHEN t.scope = 'key' THEN t.amount ELSE t.amount - t.lapsed END FROM spend_total t
    WHERE t.account_id = w.account_id AND t.scope = w.scope AND t.scope_id = w.scope_id)
  END)::text, w.n::int
FROM wish w`;
}

const SNAPSHOT = snapshotSql(WISH, '');
const SNAPSHOT_OF_PERIODS = snapshotSql(WISH_OF_PERIODS, `WHEN w.starts_at IS NOT NULL THEN ${PERIOD_SPENT}`);

/** Reads posted totals for projections. */
@Injectable()
export class ProjectionStore {
  constructor(
    private readonly database: UsageDatabase,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly carried: CarriedScopes,
  ) {}

  /** Accounts whose totals are not all known yet: spend of a tag, an end user (which is begun) or a provider is still to be summed. */
  async unready(wishes: readonly ProjectionWish[]): Promise<Set<string>> {
    const carried = wishes.flatMap(({ accountId, scopes }) =>
      scopes.filter(isCarried).map((scope) => ({ accountId, ...scope })),
    );
    const unready = await this.carried.begin(carried);
    const ofProviders = wishes.filter(({ scopes }) => scopes.some(({ kind }) => kind === 'provider'));
    if (ofProviders.length > 0 && !(await isOwedKnown(this.database.pool)))
      for (const { accountId } of ofProviders) unready.add(accountId);
    return unready;
  }

  /** One request per wish, all from one snapshot. An account without postings has version 0 and nothing posted. */
  async snapshot(wishes: readonly ProjectionWish[]): Promise<ProjectionRequest[]> {
    if (wishes.length === 0) return [];
    const scopes = wishes.flatMap(({ accountId, scopes }) =>
      scopes.map((scope) => ({ accountId, ...scope })),
    );
    if (scopes.length > SCOPES_MAX) return this.inParts(wishes);
    await this.carried.require(scopes);
    const { scopeIds, startsAt, hoursFrom, hoursTo, endsAt } = periodColumns(scopes, this.clock.now());
    const hasPeriods = startsAt.some((at) => at !== null);
    const { rows } = await this.database.pool.query<AccountRow & PostedRow & { kind: string }>({
      ...(hasPeriods
        ? { name: 'mirror-snapshot-of-periods', text: SNAPSHOT_OF_PERIODS }
        : { name: 'mirror-snapshot', text: SNAPSHOT }),
      values: [
        wishes.map(({ accountId }) => accountId),
        scopes.map(({ accountId }) => accountId),
        scopes.map(({ kind }) => kind),
        scopeIds,
        ...(hasPeriods ? [startsAt, hoursFrom, hoursTo, endsAt] : []),
      ],
    });
    const accounts = new Map(rows.filter(({ kind }) => kind === 'account').map((row) => [row.id, row]));
    const posted = new Map(rows.filter(({ kind }) => kind === 'scope').map((row) => [row.n, row.posted]));
    if (scopes.some(({ id }, index) => isPeriod(id) && posted.get(index + 1) === null))
      throw new Error(NOT_SUMMED);
    const history = rows.find(({ kind }) => kind === 'history')?.n ?? 0;
    let n = 0;
    return wishes.map(({ accountId, gen, scopes: wished, units }) => ({
      accountId,
      gen,
      history,
      version: Number(accounts.get(accountId)?.version ?? 0),
      balanceNano: nano(accounts.get(accountId)?.posted),
      scopes: wished.map(({ kind, id }) => ({ kind, id, postedNano: nano(posted.get((n += 1))) })),
      units: [...units],
    }));
  }

  /**
   * Raises the version beyond one that the limit store holds, which accepts nothing older. False where the account is
   * there or further.
   */
  async raiseVersion(accountId: string, held: number): Promise<boolean> {
    const { rowCount } = await this.database.pool.query(
      'UPDATE account SET version = $2::bigint + 1 WHERE id = $1 AND version < $2::bigint',
      [accountId, held],
    );
    return rowCount === 1;
  }

  /** Returns those of these units that are in, or that no record will come for, with the scopes whose posted totals hold them. */
  async unitsIn(accountId: string, units: readonly UnitName[]): Promise<ProjectionWish> {
    // A unit of any customer may be counted on a provider.
    const isProvider = accountId.startsWith(providerAccount(''));
    const { rows } = await this.database.pool.query<UnitRow>({
      name: isProvider ? 'units-in-of-provider' : 'units-in',
      text: `SELECT u.request_id, u.unit, e.error_code, e.usage_estimated, e.key_id, e.member_id, e.team_id, e.org_id, e.model,
          CASE WHEN coalesce(e.limits::text, e.detail) LIKE '%/b:%' THEN ${factSql('limits', 'e')} END AS limits, e.account_id IS NULL AS is_dead
        FROM unnest($1::text[], $2::int[]) AS u(request_id, unit)
        LEFT JOIN usage_event e ON e.request_id = u.request_id AND e.unit = u.unit${isProvider ? '' : ' AND e.account_id = $3'}
        WHERE e.account_id IS NOT NULL OR EXISTS (
          SELECT 1 FROM dead_letter d WHERE d.request_id = u.request_id AND d.unit = u.unit)
        OR EXISTS (SELECT 1 FROM lost_unit l WHERE l.request_id = u.request_id AND l.unit = u.unit)`,
      values: [
        units.map(({ requestId }) => requestId),
        units.map(({ unit }) => unit),
        ...(isProvider ? [] : [accountId]),
      ],
    });
    const scopes = new Map<string, Scope>();
    for (const row of rows)
      for (const scope of isProvider ? scopesAt(accountId, row) : scopesOf(row))
        scopes.set(`${scope.kind}\n${scope.id}`, scope);
    return {
      accountId,
      gen: null,
      scopes: [...scopes.values()],
      units: rows.map((row) => ({
        unit: `${row.request_id}/${row.unit}`,
        crash: !row.is_dead && awaitsOutcome(row),
      })),
    };
  }

  private async inParts(wishes: readonly ProjectionWish[]): Promise<ProjectionRequest[]> {
    if (wishes.length === 1) throw new Error(`A projection of more than ${SCOPES_MAX} scopes was asked for.`);
    const half = Math.ceil(wishes.length / 2);
    return [...(await this.snapshot(wishes.slice(0, half))), ...(await this.snapshot(wishes.slice(half)))];
  }
}

interface UnitRow {
  request_id: string;
  unit: number;
  error_code: string | null;
  usage_estimated: boolean;
  key_id: string | null;
  member_id: string;
  team_id: string | null;
  org_id: string | null;
  model: string;
  /** Readings of an event that a budget counts; null for all others. */
  limits: UsageRecord['limits'] | null;
  is_dead: boolean;
}

/** A capped model counter may hold the unit too: both its names are sent, which is harmless where none exists. */
function scopesOf({ key_id, member_id, team_id, org_id, model, limits }: UnitRow): Scope[] {
  if (key_id === null) return [];
  const kind: SpendScope = 'key';
  const brand = model.split('/')[0] ?? model;
  const scopes: Scope[] = [
    { kind, id: key_id },
    { kind, id: `${key_id}/m:${model}` },
    { kind, id: `${key_id}/m:${brand}/*` },
  ];
  if (team_id !== null)
    scopes.push({ kind: 'team_member', id: `${team_id}/${member_id}` }, { kind: 'team', id: team_id });
  if (org_id !== null) scopes.push({ kind: 'member', id: member_id }, { kind: 'org', id: org_id });
  const readings = readingsOf(limits, { key_id, member_id, team_id, org_id }) ?? [];
  scopes.push(...periodsOf(readings).filter(({ kind: of }) => of !== 'provider'));
  return scopes;
}

/** Periods of the budgets of a provider that count the unit. */
function scopesAt(accountId: string, { limits }: UnitRow): Scope[] {
  return providerScopes(limits ?? []).get(accountId) ?? [];
}

function nano(amount: string | null | undefined): bigint {
  return amount === null || amount === undefined ? 0n : Usd.parse(amount).toNano('half-up');
}
