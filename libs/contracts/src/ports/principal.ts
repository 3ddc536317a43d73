/** Scopes in which limits and spend are counted. `account` is the balance of who pays. */
export type ScopeKind = 'key' | 'team_member' | 'member' | 'team' | 'org';

/**
 * Scopes in which spend is counted: those above, and what budgets alone count by: tags and end users, which a request carries, and
 * providers, whose spend is the platform's.
 */
export type SpendScope = ScopeKind | 'tag' | 'end_user' | 'provider';

/** Returns the account on which the limit store and the ledger keep what the platform owes a provider. */
export function providerAccount(slug: string): string {
  return `acct_provider_${slug}`;
}

export type OrgRole = 'owner' | 'admin' | 'member';

/** Limits of one scope. null = unlimited there. */
export interface ScopeLimits {
  kind: ScopeKind;
  /** key: key id; member: user id; team_member: `<team id>/<user id>`; team and org: their ids. */
  id: string;
  rpm: number | null;
  rpd: number | null;
  tpm: number | null;
  /** Decimal string of USD. */
  spendCapUsd: string | null;
  /** True where the number is the built-in default, not one that somebody set. */
  isDefault: { rpm: boolean; rpd: boolean; tpm: boolean };
}

/** Model lists of one scope: every present allow-list must match, any block-list excludes. */
export interface ModelAccess {
  kind: ScopeKind;
  allowed: string[] | null;
  blocked: string[] | null;
}

export interface ModelLimit {
  rpm?: number;
  rpd?: number;
  tpm?: number;
  spend_cap_usd?: string;
}

/** Stored routing policy: only the fields that were set (management-api, API keys). */
export interface RoutingPolicy {
  max_retries?: number;
  retry_backoff_ms?: number;
  attempt_timeout_ms?: number;
  total_timeout_ms?: number;
  allow_fallbacks?: boolean;
  fallback_models?: string[];
  provider_order?: string[];
  only_providers?: string[];
  ignore_providers?: string[];
  sort?: 'price' | 'latency' | 'throughput' | 'balanced';
  /** `request_usd` is of a request alone: no policy of a key has it. */
  max_price?: { prompt_usd_per_1m?: string; completion_usd_per_1m?: string; request_usd?: string };
  require_zero_retention?: boolean;
  regions?: string[];
}

/** A provider key of the account (BYOK) as a plan needs it; its credential is opened by who calls the provider. */
export interface ProviderKeyGrant {
  id: string;
  /** Slug. */
  provider: string;
  /** Version of the credential. */
  version: number;
  /** null = every model of the provider. */
  allowedModels: string[] | null;
  /** True if requests that it does not serve may run on the service's own credentials. */
  allowPlatformFallback: boolean;
}

/** A discount of an account on the list price. */
export interface AccountDiscount {
  /** Decimal string, 0 to 100. */
  pct: string;
  /** Exact model ids or `<brand>/*`; null = all. */
  models: string[] | null;
  /** Slugs of providers; null = all. */
  providers: string[] | null;
}

/** A budget as admission and the ledger need it. */
export interface BudgetGrant {
  id: string;
  name: string;
  scope: 'key' | 'member' | 'team' | 'org' | 'tag' | 'end_user' | 'provider';
  /** Id of the scope; that of a tag is `name=value`, that of an end user the HMAC of their id, that of a provider its slug. */
  scopeId: string;
  /** Decimal string of USD. */
  amountUsd: string;
  /** Added to the amount before this time, in milliseconds since 1970; null = nothing. */
  raise: { byUsd: string; untilMs: number } | null;
  period: 'day' | 'week' | 'month' | 'quarter' | 'rolling';
  /** IANA name; null of a rolling one. */
  timeZone: string | null;
  /** Number of times 24 hours that a rolling one counts; null or absent of others. */
  rollingDays?: number | null;
  /** Time since which it counts without a break; its counters begin anew with the ledger's sums then. */
  countedFromMs: number;
  /** False for one that refuses nothing; absent = true. */
  isHard?: boolean;
  /** Percentages of the amount that are told; absent = none. */
  thresholdsPct?: readonly number[];
}

/** Bounds of an organization's realtime sessions; null = the deployment's. */
interface RealtimeBounds {
  enabled: boolean;
  maxSessions: number | null;
  maxSeconds: number | null;
  maxTokens: number | null;
}

/** A caller with an rsk_ key. */
export interface KeyPrincipal {
  kind: 'key';
  keyId: string;
  label: string | null;
  status: 'active' | 'suspended';
  /** Account that pays. */
  accountId: string;
  /** Version of the account at which this record was read; admission compares it. */
  accountVersion: number;
  /** Largest debt of the account's balance; null = unlimited. */
  creditLimitUsd: string | null;
  /** `off`: the deployment bills nobody, and the platform pays for what the key uses. Absent while billing is on. */
  billing?: 'off';
  orgId: string | null;
  teamId: string | null;
  /** The member the key belongs to. */
  createdBy: string;
  apiVersion: string | null;
  defaultModel: string | null;
  /** null = everything an inference key may do; else the named scopes (management-api, API keys). */
  permissions: string[] | null;
  /** Key first, then team_member, member, team, org: only those that apply. */
  limits: ScopeLimits[];
  access: ModelAccess[];
  modelLimits: Record<string, ModelLimit>;
  routingPolicy: RoutingPolicy | null;
  fixedProvider: string | null;
  /** Enabled provider keys of the account, oldest first; absent = none. */
  providerKeys?: readonly ProviderKeyGrant[];
  /** Budgets that count the key's requests; absent = none. */
  budgets?: readonly BudgetGrant[];
  /** Budgets of tags and end users of the organization: what a request carries says which of them count it. Absent = none. */
  carriedBudgets?: readonly BudgetGrant[];
  /** Discount of the account; absent or null where it has none. */
  discount?: AccountDiscount | null;
  /** Largest age of a cached answer; absent or null: nothing is cached. */
  responseCache?: { ttlMs: number } | null;
  /** Bounds of the organization; absent or null where nothing was set. */
  realtime?: RealtimeBounds | null;
  /** Settings of an organization that logs bodies; absent or null where it does not. */
  requestLogging?: { retentionDays: number; redact: boolean } | null;
  requestTags: Record<string, string>;
  /** Milliseconds since the epoch, or null. Past it the key is unknown (401). */
  expiresAtMs: number | null;
  /** Base64 key for the HMAC of end-user ids in usage data. */
  endUserKey: string;
}

export interface Membership {
  orgId: string;
  accountId: string;
  role: OrgRole;
  teams: string[];
  /** Limits of the org and of this person in it, for the rate-limit read; absent where the driver does not know them. */
  limits?: ScopeLimits[];
}

/** A caller with a session token. */
export interface SessionPrincipal {
  kind: 'session';
  userId: string;
  sessionId: string;
  email: string;
  isSuperAdmin: boolean;
  /** Discount of the person's own account; absent or null where it has none. */
  discount?: AccountDiscount | null;
  /** Slugs of the providers at which an account of the person's has an enabled provider key; absent = none. */
  keyedProviders?: readonly string[];
  /** The person's own account, for keys without an org. */
  accountId: string;
  accountVersion: number;
  memberships: Membership[];
}

/** A caller with a mak_ key: an admin of its organization within its scopes. */
export interface AdminKeyPrincipal {
  kind: 'admin_key';
  keyId: string;
  orgId: string;
  /** The person who made it: keys that are made with it belong to them. */
  createdBy: string;
  accountId: string;
  accountVersion: number;
  scopes: string[];
  /** Limits of its organization; absent from a keys service of an earlier release. */
  limits?: ScopeLimits[];
  /** Milliseconds since the epoch, or null. Past it the key is unknown (401). */
  expiresAtMs: number | null;
}

export type Principal = KeyPrincipal | SessionPrincipal | AdminKeyPrincipal;
