import { HOLD_UNIT, UNNAMED_UNITS, type Clock, type LimitStore, type UnheardUnit } from '@gateway/contracts';
import { LEASE_MS } from '@gateway/limits';
import { Usd } from '@gateway/money';
import type { UsageDatabase } from '../postgres/usage-database.js';
import type { ProjectionStore } from '../projection/projection.store.js';
import type { Projections } from '../projection/projections.js';
import { unitName } from '../projection/unit-name.js';
import type { Finding } from './finding.js';

interface Deps {
  database: UsageDatabase;
  limits: LimitStore;
  clock: Clock;
}

/** A request's id begins with the milliseconds at which it came. */
const REQUEST_ID = /^req_([0-9a-f]{8})-([0-9a-f]{4})-7/;
/** Time from a settlement to its posting, and more: of a long request the end is not known, only the begin. */
const SETTLED_MS = 5_000;
const AT_ONCE = 1_000;

/**
 * Returns a finding for each unit that the limit store held, that is older than its lease and has no event: an edge that is
 * lost with its disk leaves those. What lapsed is named whether the account has gone on or not.
 */
export async function lostUnitFindings(accounts: readonly string[], deps: Deps): Promise<Finding[]> {
  const looks = new Map<string, Look>();
  for (const account of accounts) looks.set(account, await lookAt(account, deps));
  const unposted = [...looks].filter(([, { units }]) => units.some(isSettled));
  // One that was settled just now is posted by the second look.
  if (unposted.length > 0) await deps.clock.sleep(SETTLED_MS);
  for (const [account, { units }] of unposted) {
    const before = new Set(units.map(({ unit }) => unit));
    const again = await lookAt(account, deps);
    looks.set(account, {
      ...again,
      units: again.units.filter((unit) => !isSettled(unit) || before.has(unit.unit)),
    });
  }
  return [...looks].flatMap(([account, { units, unnamed }]) => [
    ...units.map(({ unit, nano }) => finding('unit_lost', account, unit, Usd.fromNano(nano).toString())),
    ...(unnamed > 0 ? [finding('units_unnamed', account, null, String(unnamed))] : []),
  ]);
}

function finding(
  kind: 'unit_lost' | 'units_unnamed',
  account: string,
  scope: string | null,
  expected: string,
): Finding {
  return { kind, account, scope, expected, found: '0' };
}

function isSettled({ state }: UnheardUnit): boolean {
  return state === 'settled';
}

/** Closes what was found: the limit store forgets it. The units stay noted, and a record that comes after all is posted. */
export async function closeLostUnits(
  findings: readonly Finding[],
  deps: Deps & { projectionStore: ProjectionStore; projections: Projections },
): Promise<void> {
  for (const [account, found] of Map.groupBy(findings, (finding) => finding.account ?? '')) {
    const lost = found.filter(({ kind }) => kind === 'unit_lost');
    for (let start = 0; start < lost.length; start += AT_ONCE)
      await closeUnits(account, lost.slice(start, start + AT_ONCE), deps);
    if (lost.length === found.length) continue;
    const units = [{ unit: UNNAMED_UNITS, crash: true }];
    const [request] = await deps.projectionStore.snapshot([
      { accountId: account, gen: null, scopes: [], units },
    ]);
    await deps.limits.mirror(request);
  }
}

async function closeUnits(
  account: string,
  lost: readonly Finding[],
  { database, projections, clock }: Deps & { projections: Projections },
): Promise<void> {
  const units = lost.map(({ scope }) => scope ?? '');
  const names = units.map((unit) => unitName(unit) ?? { requestId: unit, unit: 0 });
  await database.pool.query(
    `INSERT INTO lost_unit (request_id, unit, account_id, amount, created_at)
     SELECT l.request_id, l.unit, $1, l.amount, $2 FROM unnest($3::text[], $4::int[], $5::numeric[]) AS l(request_id, unit, amount)
     ON CONFLICT DO NOTHING`,
    [
      account,
      new Date(clock.now()),
      names.map(({ requestId }) => requestId),
      names.map(({ unit }) => unit),
      lost.map(({ expected }) => expected),
    ],
  );
  await projections.reportUnits(account, units);
}

interface Look {
  units: UnheardUnit[];
  /** Number of lapsed units that the limit store has no names of. */
  unnamed: number;
}

/** Returns the account's units without an event, each once. */
async function lookAt(account: string, { database, limits, clock }: Deps): Promise<Look> {
  const units = new Map<string, UnheardUnit>();
  let unnamed = 0;
  for (let cursor: string | null = '0'; cursor !== null;) {
    const page = await limits.unheard(account, cursor);
    const old = page.units.filter((unit) => isOld(unit, clock.now()));
    for (let start = 0; start < old.length; start += AT_ONCE)
      for (const unit of await withoutEvent(old.slice(start, start + AT_ONCE), database))
        units.set(unit.unit, unit);
    unnamed += page.unnamed;
    cursor = page.next;
  }
  return { units: [...units.values()], unnamed };
}

function isOld(unheard: UnheardUnit, nowMs: number): boolean {
  const name = unitName(unheard.unit);
  if (name === null || name.unit === HOLD_UNIT) return false;
  if (!isSettled(unheard)) return true;
  const began = REQUEST_ID.exec(name.requestId);
  return began !== null && nowMs - Number.parseInt(began[1] + began[2], 16) > LEASE_MS;
}

async function withoutEvent(units: readonly UnheardUnit[], database: UsageDatabase): Promise<UnheardUnit[]> {
  const names = units.flatMap(({ unit }) => unitName(unit) ?? []);
  const { rows } = await database.pool.query<{ n: string }>(
    `SELECT u.n::text FROM unnest($1::text[], $2::int[]) WITH ORDINALITY AS u(request_id, unit, n)
     WHERE NOT EXISTS (SELECT 1 FROM usage_event e WHERE e.request_id = u.request_id AND e.unit = u.unit)
       AND NOT EXISTS (SELECT 1 FROM dead_letter d WHERE d.request_id = u.request_id AND d.unit = u.unit)
       AND NOT EXISTS (SELECT 1 FROM lost_unit l WHERE l.request_id = u.request_id AND l.unit = u.unit)`,
    [names.map(({ requestId }) => requestId), names.map(({ unit }) => unit)],
  );
  return rows.map(({ n }) => units[Number(n) - 1]);
}
