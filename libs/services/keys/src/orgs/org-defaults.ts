import type { CreateOrgBody, OrgTier } from '@gateway/contracts';
import { ConfigError } from '@gateway/platform';
import type { GatewayConfig, GatewayFile } from '@gateway/providers';
import { configFaultsOf, gatewayFile } from '@gateway/upstream';
import type { KeysConfig } from '../keys.config.js';
import { orgFaults } from './org.js';

/** Defaults of a new organization, where its creator sets nothing else. */
export type OrgDefaults = GatewayConfig['organizations'];

/** Nest token of OrgDefaults. */
export const ORG_DEFAULTS = Symbol('OrgDefaults');

/** Facts by which the limits of an organization that begins with a tier are judged. */
export function newOrg(tier: OrgTier): { tier: OrgTier; rpm_limit: null; rpd_limit: null } {
  return { tier, rpm_limit: null, rpd_limit: null };
}

/** Returns the tier of new organizations where nothing names one: an organization that pays nothing needs no low ceiling. */
export function defaultTier({ KEYS_DEFAULT_TIER, BILLING }: TierConfig): OrgTier {
  return KEYS_DEFAULT_TIER ?? (BILLING === 'off' ? 'enterprise' : 'standard');
}

type TierConfig = Pick<KeysConfig, 'KEYS_DEFAULT_TIER' | 'BILLING'>;

/** Returns the defaults of the operator's file; none without a file. Throws ConfigError with all faults. */
export function orgDefaultsOf(config: Pick<KeysConfig, 'GATEWAY_CONFIG'> & TierConfig): OrgDefaults {
  const file = gatewayFile(config);
  const faults = configFaultsOf({ faults: [...file.faults, ...orgDefaultFaults(file, defaultTier(config))] });
  if (faults.length > 0) throw new ConfigError(faults);
  return file.config.organizations;
}

/** Returns the faults of defaults that a create would be refused for; `tier` holds where the file names none. */
export function orgDefaultFaults(file: GatewayFile, tier: OrgTier = 'standard'): string[] {
  const { organizations } = file.config;
  return orgFaults(organizations, newOrg(tier)).map(({ loc, msg }) => file.fault(organizations, loc, msg));
}

/** A body with the defaults for what it does not name; null in it means none. */
export function withDefaults(body: CreateOrgBody, defaults: OrgDefaults): CreateOrgBody {
  const named = Object.entries(body).filter(([, value]) => value !== undefined);
  return { ...defaults, ...(Object.fromEntries(named) as CreateOrgBody & object) };
}
