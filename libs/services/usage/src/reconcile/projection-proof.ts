import type { AccountState, Clock, LimitStore, ProjectionRequest, ScopeKind } from '@gateway/contracts';
import { Usd } from '@gateway/money';
import type { UsageDatabase } from '../postgres/usage-database.js';
import type { ProjectionStore, ProjectionWish } from '../projection/projection.store.js';
import { unitName } from '../projection/unit-name.js';
import { findingName, type Finding } from './finding.js';

interface Deps {
  database: UsageDatabase;
  projectionStore: ProjectionStore;
  limits: LimitStore;
  clock: Clock;
}

const SCOPES_PER_ACCOUNT = 1_000;
const DUE_PER_ACCOUNT = 200;
/** A projection follows its commit by milliseconds: what is still different after these looks will not pass by itself. */
const LOOKS = 3;
const BETWEEN_LOOKS_MS = 300;

/**
 * Compares the limit store with PostgreSQL: posted amounts, what is left unposted, units held past their end. A
 * difference counts where it is there in each of several looks. `tailNano`: what the journals had not posted when they
 * were read, per account; null where no journal was given, and then only an account without units in flight is judged.
 */
export async function projectionFindings(
  accounts: readonly string[],
  tailNano: ReadonlyMap<string, bigint> | null,
  deps: Deps,
): Promise<Finding[]> {
  let suspects = [...accounts];
  let findings = new Map<string, Finding>();
  for (let look = 0; look < LOOKS && suspects.length > 0; look += 1) {
    if (look > 0) await deps.clock.sleep(BETWEEN_LOOKS_MS);
    const seen = new Map<string, Finding>();
    for (const wish of await wishesOf(suspects, deps.database))
      for (const finding of await lookAt(wish, tailNano, deps))
        if (look === 0 || isStillThere(finding, findings)) seen.set(findingName(finding), finding);
    findings = seen;
    suspects = [...new Set([...seen.values()].map(({ account }) => account ?? ''))];
  }
  const held: Finding[] = [];
  for (const account of accounts) held.push(...(await heldFindings(account, deps)));
  return [...findings.values(), ...held];
}

/**
 * Returns true for a finding that stays. The unposted amount of an account in use differs at each look, and says
 * nothing against journals read before.
 */
function isStillThere(now: Finding, before: ReadonlyMap<string, Finding>): boolean {
  const then = before.get(findingName(now));
  return then !== undefined && (now.kind !== 'unposted_differs' || then.found === now.found);
}

async function wishesOf(accounts: readonly string[], database: UsageDatabase): Promise<ProjectionWish[]> {
  const { rows } = await database.pool.query<{ account_id: string; scope: ScopeKind; scope_id: string }>(
    `SELECT a.account_id, t.scope, t.scope_id FROM unnest($1::text[]) AS a(account_id) LEFT JOIN LATERAL (
       SELECT scope, scope_id FROM spend_total WHERE account_id = a.account_id LIMIT $2) AS t ON TRUE`,
    [accounts, SCOPES_PER_ACCOUNT],
  );
  const wishes = new Map<string, ProjectionWish & { scopes: { kind: ScopeKind; id: string }[] }>();
  for (const { account_id: accountId, scope, scope_id } of rows) {
    const wish = wishes.get(accountId) ?? { accountId, gen: null, scopes: [], units: [] };
    wishes.set(accountId, wish);
    if (scope !== null) wish.scopes.push({ kind: scope, id: scope_id });
  }
  return [...wishes.values()];
}

async function lookAt(
  wish: ProjectionWish,
  tailNano: ReadonlyMap<string, bigint> | null,
  deps: Deps,
): Promise<Finding[]> {
  const { accountId: account } = wish;
  const state = await deps.limits.read(account, [...wish.scopes]);
  const [ledger] = await deps.projectionStore.snapshot([wish]);
  return [
    ...versionFindings(account, state, ledger),
    ...reservedFindings(account, state),
    ...postedFindings(account, state, ledger),
    ...unpostedFindings(account, state, tailNano),
  ];
}

function versionFindings(
  account: string,
  { posted = [] }: AccountState,
  ledger: ProjectionRequest,
): Finding[] {
  const mirrored = posted.find(({ kind }) => kind === 'account')?.version ?? 0;
  if (mirrored <= ledger.version) return [];
  const [expected, found] = [String(mirrored), String(ledger.version)];
  return [{ kind: 'version_moved_back', account, scope: null, expected, found }];
}

/** Returns reservations without a unit in flight, on any scope. */
function reservedFindings(account: string, { reservedUnits, reservedNano, scopes }: AccountState): Finding[] {
  if (reservedUnits > 0) return [];
  const all: { scope: string | null; nano: bigint }[] = [
    { scope: null, nano: reservedNano },
    ...scopes.map(({ kind, id, reservedNano: nano }) => ({ scope: `${kind}:${id}`, nano })),
  ];
  return all.flatMap(({ scope, nano }): Finding[] =>
    nano === 0n ? [] : [{ kind: 'reservation_phantom', account, scope, expected: '0', found: usd(nano) }],
  );
}

function postedFindings(account: string, state: AccountState, ledger: ProjectionRequest): Finding[] {
  const expected = new Map(ledger.scopes.map(({ kind, id, postedNano }) => [`${kind}:${id}`, postedNano]));
  return (state.posted ?? []).flatMap(({ kind, id, nano }): Finding[] => {
    const isBalance = kind === 'account';
    const posted = isBalance ? ledger.balanceNano : expected.get(`${kind}:${id}`);
    if (posted === undefined || posted === nano) return [];
    const scope = isBalance ? null : `${kind}:${id}`;
    return [{ kind: 'mirror_differs', account, scope, expected: usd(posted), found: usd(nano) }];
  });
}

function unpostedFindings(
  account: string,
  state: AccountState,
  tailNano: ReadonlyMap<string, bigint> | null,
): Finding[] {
  const expected = tailNano?.get(account) ?? 0n;
  const isJudged = tailNano !== null || state.unpostedUnits === 0;
  if (!isJudged || state.unpostedNano === expected) return [];
  const found = usd(state.unpostedNano);
  return [{ kind: 'unposted_differs', account, scope: null, expected: usd(expected), found }];
}

/** A unit is due 5 s after its settlement or at the end of its lease: by then its projection is long through. */
async function heldFindings(account: string, { limits, projectionStore }: Deps): Promise<Finding[]> {
  const due = await limits.due(account, DUE_PER_ACCOUNT);
  const names = due.flatMap((unit) => unitName(unit) ?? []);
  if (names.length === 0) return [];
  const { units } = await projectionStore.unitsIn(account, names);
  return units
    .filter(({ crash }) => !crash)
    .map(({ unit }) => ({ kind: 'unit_held', account, scope: unit, expected: '0', found: '1' }));
}

function usd(nano: bigint): string {
  return Usd.fromNano(nano).toString();
}
