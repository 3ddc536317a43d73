import type { GatewayConfig } from '@gateway/providers';

/** A sentence about something of the other gateway, and where it stands there. */
export interface Note {
  place: string;
  words: string;
}

/** Limits and lists of an organization, a team or a key, in the words of ours. */
interface Limits {
  rpm_limit: number | null;
  tpm_limit: number | null;
  /** Ids of models; null = every model. */
  allowed_models: string[] | null;
  spend_cap_usd: string | null;
}

export interface PlannedOrganization extends Limits {
  old_id: string;
  name: string;
}

interface PlannedTeam extends Limits {
  old_id: string;
  /** Old id of its organization. */
  organization: string;
  name: string;
}

export interface PlannedKey extends Limits {
  old_id: string;
  organization: string;
  /** Old id of its team. */
  team: string | null;
  label: string;
  /** The only trace of the old secret. */
  masked: string;
  expires_at: string | null;
  request_tags: Record<string, string>;
  /** Old id of its routing policy. */
  routing: string | null;
  is_suspended: boolean;
}

export interface PlannedRouting {
  old_id: string;
  name: string;
  routing_policy: {
    max_retries?: number;
    total_timeout_ms?: number;
    sort?: 'latency' | 'price';
    fallback_models?: string[];
  };
}

export interface PlannedBudget {
  old_id: string;
  organization: string;
  scope: 'org' | 'team' | 'key';
  /** Old id of what it counts. */
  of: string;
  name: string;
  amount_usd: string;
  period: 'day' | 'week' | 'month' | 'rolling';
  /** Days of a rolling one. */
  rolling_days?: number;
  /** false: it refuses nothing, and tells where it is reached. */
  is_hard: boolean;
  thresholds_pct: number[];
}

/** A further credential of a provider, whose secret a variable holds. */
export interface PlannedCredential {
  provider: string;
  label: string;
  variable: string;
  allowed_models: string[];
}

/** Records that are made over the API. */
export interface Plan {
  source: 'litellm' | 'openrouter';
  organizations: PlannedOrganization[];
  teams: PlannedTeam[];
  routing: PlannedRouting[];
  keys: PlannedKey[];
  budgets: PlannedBudget[];
  credentials: PlannedCredential[];
}

/** Everything that an import would write. */
export interface Draft {
  gateway: Pick<GatewayConfig, 'providers' | 'models' | 'prices' | 'aliases' | 'budgets'>;
  plan: Plan;
  notes: Note[];
}

export function emptyPlan(source: Plan['source']): Plan {
  return { source, organizations: [], teams: [], routing: [], keys: [], budgets: [], credentials: [] };
}
