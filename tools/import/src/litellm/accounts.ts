import type { Note, Plan, PlannedBudget, PlannedKey } from '../plan.js';
import { amountOf, periodOf, PERIODS_IN_WORDS } from './budget-terms.js';
import { isTree, listOf, textOf, treeOf, type Tree } from './config-file.js';
import type { Rows } from './database.js';
import { decimalOf } from './deployment.js';
import type { Groups } from './groups.js';
import type { ReleaseData } from './release.js';
import type { Router } from './router.js';

/** Old id of the organization that takes what belongs to none. */
const REST = 'litellm';
const NAME_MAX = 200;
const LIST_MAX = 500;
const TAGS_MAX = 16;
const TAG = /^([A-Za-z0-9][A-Za-z0-9._-]{0,63})(?:[=:](.{1,256}))?$/;
const INT_MAX = 2_147_483_647;
/** Names that stand for every model, or for those of the scope above. */
const EVERY = new Set(['all-proxy-models', 'all-team-models', '*']);
/** Members of a row that have no counterpart, where they say anything. */
const UNKNOWN: Readonly<Record<string, string>> = {
  max_parallel_requests: 'a limit of parallel requests has no counterpart',
  model_max_budget: 'a budget of one model has no counterpart: model_limits of a key bound its requests',
  budget_limits: 'several budgets of one key or team are not carried over',
  aliases: 'names of models for one key have no counterpart: make aliases of the organization',
  allowed_routes: 'a list of paths has no counterpart: scopes of a key bound what it may do',
  access_group_ids: 'access groups of the database are not carried over: name models',
  policies: 'policies have no counterpart',
};

/** Names of the configuration that rows use. */
interface Names {
  groups: Groups;
  router: Router;
  release: ReleaseData;
}

/** Organizations, teams, keys and budgets of LiteLLM's tables, as records that are made here. */
export class Accounts {
  private readonly budgets: ReadonlyMap<string, Tree>;

  constructor(
    private readonly rows: Rows,
    private readonly names: Names,
    private readonly plan: Plan,
    private readonly notes: Note[],
    private readonly now: Date,
  ) {
    this.budgets = new Map(rows.budgets.map((row) => [textOf(row, 'budget_id') ?? '', row]));
  }

  /** Fills the plan. */
  read(): void {
    for (const row of this.rows.organizations) this.organization(row);
    const blocked = new Set<string>();
    for (const row of this.rows.teams) {
      this.team(row);
      if (row.blocked === true) blocked.add(textOf(row, 'team_id') ?? '');
    }
    for (const row of this.rows.keys) this.key(row, blocked);
    this.people();
  }

  private organization(row: Tree): void {
    const id = textOf(row, 'organization_id') ?? '';
    const place = `LiteLLM_OrganizationTable ${id}`;
    const name = nameOf(textOf(row, 'organization_alias') ?? id);
    const limits = this.limits(row, place);
    this.plan.organizations.push({
      old_id: id,
      name,
      ...limits,
      ...this.spend(row, { scope: 'org', id, name, organization: id }),
    });
    this.tellUnknown(row, place);
  }

  private team(row: Tree): void {
    const id = textOf(row, 'team_id') ?? '';
    const place = `LiteLLM_TeamTable ${id}`;
    const name = nameOf(textOf(row, 'team_alias') ?? id);
    const organization = this.organizationOf(textOf(row, 'organization_id'));
    const spend = this.spend(row, { scope: 'team', id, name, organization });
    this.plan.teams.push({ old_id: id, organization, name, ...this.limits(row, place), ...spend });
    this.tellUnknown(row, place);
    if (row.blocked === true) this.tell(place, 'a blocked team has no counterpart: its keys are suspended');
  }

  private key(row: Tree, blockedTeams: ReadonlySet<string>): void {
    const id = textOf(row, 'token') ?? '';
    const masked = textOf(row, 'key_name') ?? 'no name';
    const label = nameOf(textOf(row, 'key_alias') ?? masked);
    const place = `key ${label} (${masked})`;
    const expires = textOf(row, 'expires');
    // Times of LiteLLM are of UTC and have no zone.
    const at =
      expires === null ? null : new Date(/(Z|[+-]\d\d:?\d\d)$/.test(expires) ? expires : `${expires}Z`);
    if (at !== null && at <= this.now) return this.tell(place, 'it has expired and is not made again');
    const teamId = textOf(row, 'team_id');
    const team = this.plan.teams.find(({ old_id }) => old_id === teamId);
    const organization = team?.organization ?? this.organizationOf(textOf(row, 'organization_id'));
    this.plan.keys.push({
      ...{ old_id: id, organization, team: team?.old_id ?? null, label, masked },
      ...this.limits(row, place),
      ...this.spend(row, { scope: 'key', id, name: label, organization }),
      expires_at: at === null ? null : at.toISOString(),
      request_tags: this.tags(row, place),
      routing: this.names.router.routingOf(this.groupsOf(row)),
      is_suspended: row.blocked === true || (team !== undefined && blockedTeams.has(team.old_id)),
    });
    this.tellUnknown(row, place);
    return undefined;
  }

  private limits(row: Tree, place: string): Pick<PlannedKey, 'rpm_limit' | 'tpm_limit' | 'allowed_models'> {
    const shared = this.budgets.get(textOf(row, 'budget_id') ?? '') ?? {};
    const limitOf = (name: string): number | null => {
      const limit = decimalOf(textOf(row, name)) ?? decimalOf(textOf(shared, name));
      if (limit === null) return null;
      if (limit.isInteger() && limit.gte(1)) return Math.min(limit.toNumber(), INT_MAX);
      this.tell(place, `${name} ${limit.toFixed()} lets nothing through and is not carried over`);
      return null;
    };
    return {
      rpm_limit: limitOf('rpm_limit'),
      tpm_limit: limitOf('tpm_limit'),
      allowed_models: this.modelsOf(row, place),
    };
  }

  /** Returns the ids that the names stand for; an unknown one takes nothing away from the others. */
  private modelsOf(row: Tree, place: string): string[] | null {
    const names = listOf(row, 'models').map(String);
    if (names.length === 0 || names.some((name) => EVERY.has(name))) return null;
    const ids = names.flatMap((name) => {
      const known = this.names.groups.idsOf(name) ?? this.knownId(name);
      if (known.length === 0) this.tell(place, `it names ${name}, which is no model of the configuration`);
      return known;
    });
    return [...new Set(ids)].slice(0, LIST_MAX);
  }

  private knownId(name: string): string[] {
    const { release } = this.names;
    const isBrand = name.endsWith('/*') && release.hasBrand(name.slice(0, -2));
    return isBrand || release.hasModel(name) ? [name] : [];
  }

  private groupsOf(row: Tree): string[] | null {
    const names = listOf(row, 'models').map(String);
    return names.length === 0 || names.some((name) => EVERY.has(name)) ? null : names;
  }

  /** Returns the cap that a budget without a period is; one with a period goes into the plan. */
  private spend(
    row: Tree,
    {
      scope,
      id,
      name,
      organization,
    }: { scope: PlannedBudget['scope']; id: string; name: string; organization: string },
  ): Pick<PlannedKey, 'spend_cap_usd'> {
    const shared = this.budgets.get(textOf(row, 'budget_id') ?? '') ?? {};
    const holder = decimalOf(textOf(row, 'max_budget')) === null ? shared : row;
    const amount = decimalOf(textOf(holder, 'max_budget')) ?? null;
    const duration = textOf(holder, 'budget_duration');
    const place = `budget of ${scope} ${name}`;
    const period = periodOf(duration);
    const budget = { organization, scope, of: id, name: name.slice(0, 100) };
    const soft = decimalOf(textOf(row, 'soft_budget')) ?? decimalOf(textOf(shared, 'soft_budget'));
    if (soft !== null && (period === null || soft.isZero()))
      this.tell(place, 'its soft budget needs an amount and a period of whole days');
    else if (soft !== null && period !== null)
      this.plan.budgets.push({
        ...{ old_id: `${scope} ${id} soft`, ...budget, amount_usd: amountOf(soft), ...period },
        ...{ is_hard: false, thresholds_pct: [100] },
      });
    if (amount === null) return { spend_cap_usd: null };
    const amount_usd = amountOf(amount);
    if (duration === null) {
      if (scope !== 'key')
        this.tell(place, `it has no period: the cap of ${amount_usd} USD counts 30 days here`);
      return { spend_cap_usd: amount_usd };
    }
    if (period === null) this.tell(place, `${amount_usd} USD in ${duration}: ${PERIODS_IN_WORDS}`);
    else if (amount.isZero()) return { spend_cap_usd: '0' };
    else {
      const limits = { amount_usd, ...period, is_hard: true, thresholds_pct: [] };
      this.plan.budgets.push({ old_id: `${scope} ${id}`, ...budget, ...limits });
    }
    return { spend_cap_usd: null };
  }

  private tags(row: Tree, place: string): Record<string, string> {
    const tags = listOf(treeOf(row, 'metadata'), 'tags').map(String);
    const found = tags.flatMap((tag): [string, string][] => {
      const [, name, value = 'true'] = TAG.exec(tag) ?? [];
      if (name === undefined) this.tell(place, `the tag ${tag} is no name of a tag here`);
      return name === undefined ? [] : [[name, value]];
    });
    if (found.length > TAGS_MAX)
      this.tell(place, `it has ${found.length} tags: ${TAGS_MAX} are carried over`);
    return Object.fromEntries(found.slice(0, TAGS_MAX));
  }

  /** Returns the old id of an organization; one is made for what belongs to none. */
  private organizationOf(id: string | null): string {
    const { organizations } = this.plan;
    if (id !== null && organizations.some(({ old_id }) => old_id === id)) return id;
    if (!organizations.some(({ old_id }) => old_id === REST)) {
      const limits = { rpm_limit: null, tpm_limit: null, allowed_models: null, spend_cap_usd: null };
      organizations.push({ old_id: REST, name: 'LiteLLM', ...limits });
    }
    return REST;
  }

  private people(): void {
    for (const row of this.rows.users)
      if (decimalOf(textOf(row, 'max_budget')) !== null)
        this.tell(
          `user ${textOf(row, 'user_email') ?? textOf(row, 'user_id') ?? ''}`,
          'invite them and give the member a budget',
        );
    const { users, others } = this.rows;
    if (users.length > 0)
      this.tell('LiteLLM_UserTable', `${users.length} people: invite them to their organizations`);
    for (const [table, count] of Object.entries(others))
      if (count > 0) this.tell(table, `${count} rows: ${OTHER_WORDS[table] ?? 'they have no counterpart'}`);
    if (this.plan.keys.length > 0)
      this.tell(
        'keys',
        'each has a new secret, and its spend begins at 0: what was spent before is not carried over',
      );
  }

  private tellUnknown(row: Tree, place: string): void {
    for (const [name, words] of Object.entries(UNKNOWN)) {
      const { [name]: value } = row;
      const isSaid = isTree(value)
        ? Object.keys(value).length > 0
        : Array.isArray(value)
          ? value.length > 0
          : true;
      if (value !== undefined && value !== null && isSaid) this.tell(place, `${name}: ${words}`);
    }
    if (listOf(treeOf(row, 'metadata'), 'guardrails').length > 0)
      this.tell(place, 'guardrails have no counterpart');
  }

  private tell(place: string, words: string): void {
    this.notes.push({ place, words });
  }
}

const OTHER_WORDS: Readonly<Record<string, string>> = {
  LiteLLM_ProxyModelTable: 'models of the database are sealed: write them into model_list and import again',
  LiteLLM_ProjectTable: 'projects have no counterpart: their keys are those of the team',
  LiteLLM_TeamMembership: 'budgets of team members are set once the people have joined',
  LiteLLM_EndUserTable: 'budgets of end users have no counterpart yet',
  LiteLLM_TagTable: 'budgets of tags have no counterpart yet',
};

/** Returns one line that may be a name. */
function nameOf(text: string): string {
  return (
    text
      .replace(/\p{Cc}+/gu, ' ')
      .trim()
      .slice(0, NAME_MAX) || 'no name'
  );
}
