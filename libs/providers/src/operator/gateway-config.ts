import type { CreateOrgBody } from '@gateway/contracts';
import { PROVIDERS } from '../registry.generated.js';

/** A value, or the variable that holds it. */
type PartValue = string | { env: string };

/** An upstream of the operator's own, or the operator's address for one that this release knows. */
export interface OwnProvider {
  slug: string;
  name?: string;
  /** Wire format that it speaks; absent for a provider that this release knows. */
  dialect?: string;
  base_url?: string;
  /** Variable that holds its key: the file never holds a secret. */
  api_key_env?: string;
  quirks?: Record<string, unknown>;
  /** Headers of each call on the operator's credential. */
  headers?: Readonly<Record<string, PartValue>>;
  /** Query members of each call on the operator's credential. */
  query?: Readonly<Record<string, PartValue>>;
  /** PEM of the authorities that alone are trusted. */
  ca_file?: string;
  client_cert_file?: string;
  client_key_file?: string;
  timeouts?: { connect_ms?: number; first_byte_ms?: number; idle_ms?: number; total_ms?: number };
  /** Path at the host of `base_url` that is asked whether the upstream is well. */
  health_path?: string;
  /** Names of Azure's deployments, by the upstream model of a route. */
  deployments?: Readonly<Record<string, string>>;
  /** Ask resources of Azure for their own lists of deployments. Absent: yes. */
  discover_deployments?: boolean;
  /** Ask it for its models and list them free. Absent: where it needs no key and no model here names it. */
  discover?: boolean;
}

export interface OwnRoute {
  provider: string;
  upstream_model: string;
  dialect?: string;
  context_length?: number;
  max_output_tokens?: number;
  /** A price record: `prompt_usd_per_1m` and so on, decimal strings. */
  prices?: Record<string, unknown>;
  free?: boolean;
}

export interface OwnModel {
  id: string;
  name?: string;
  type?: string;
  description?: string;
  context_length: number;
  max_output_tokens?: number;
  input_modalities?: string[];
  output_modalities?: string[];
  /** Flags without their `supports_`. */
  supports?: string[];
  reasoning?: { style: 'none' | 'effort' | 'adaptive' | 'budget'; efforts?: string[] };
  fixes_sampling?: boolean;
  routes: OwnRoute[];
}

/** Another price for a route that the seed has. */
interface PriceOverride {
  model: string;
  provider: string;
  prices: Record<string, unknown>;
}

/** A name of the platform that stands for models by weight. */
export interface OwnAlias {
  name: string;
  targets: { model: string; weight: number }[];
  /** A second model that a sample of the requests goes to, too; absent for none. */
  shadow?: { model: string; sample_pct: number };
}

/** A budget of a provider. */
export interface OwnBudget {
  scope: 'provider';
  /** Slug of the provider. */
  scope_id: string;
  name?: string;
  amount_usd: string;
  period: 'day' | 'week' | 'month' | 'quarter' | 'rolling';
  time_zone?: string;
  rolling_days?: number;
  is_hard?: boolean;
  thresholds_pct?: number[];
}

interface CatalogueSettings {
  /** SIMULATED_MODELS. */
  simulated_models?: 'auto' | 'on' | 'off';
  /** CATALOGUE_FEED_URL, and the variables of the same names in capitals. */
  feed_url?: string;
  feed_keys?: string;
  feed_ca_file?: string;
  feed_seconds?: number;
  feed_policy?: 'apply' | 'ask' | 'apply_below';
  feed_apply_below_pct?: number;
}

/** The content of GATEWAY_CONFIG. */
export interface GatewayConfig {
  providers: OwnProvider[];
  models: OwnModel[];
  prices: PriceOverride[];
  aliases: OwnAlias[];
  budgets: OwnBudget[];
  /** BILLING, which wins. */
  billing?: 'prepaid' | 'off';
  /** Settings of the catalogue; a variable that is set wins. */
  catalogue: CatalogueSettings;
  /** Defaults of new organizations. */
  organizations: Omit<CreateOrgBody, 'name' | 'credit_limit_usd'>;
}

export const NO_GATEWAY_CONFIG: GatewayConfig = {
  providers: [],
  models: [],
  prices: [],
  aliases: [],
  budgets: [],
  catalogue: {},
  organizations: {},
};

/** Every fault of the file, a sentence each. */
export class GatewayConfigError extends Error {
  constructor(readonly faults: readonly string[]) {
    super(`The gateway's configuration is wrong:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
    this.name = 'GatewayConfigError';
  }
}

export function isBuiltIn(slug: string): boolean {
  return PROVIDERS.some((provider) => provider.slug === slug);
}
